/* Every room's door, for the packages above; a customer imports `sallyport` (D364). */

export * from '#accounts'
export * from '#api'
export * from '#datasets'
export * from '#log'
export * from '#metrics'
export * from '#net'
export * from '#open'
export * from '#stores'
export * from '#tally'
export * from '#whois'
