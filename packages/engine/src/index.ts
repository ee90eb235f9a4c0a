/* Exports the index of every room to the packages above. Customers import `sallyport`. */

export * from '#accounts'
export * from '#api'
export * from '#datasets'
export * from '#features'
export * from '#log'
export * from '#metrics'
export * from '#net'
export * from '#open'
export * from '#stores'
export * from '#tally'
export * from '#whois'
