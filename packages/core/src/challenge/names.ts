/** Cookie of a pass: over HTTPS alone one that no other site of the domain can set (RFC 6265bis section 4.1.3.2). */
export const PASS_COOKIES = ['__Host-sallyport', 'sallyport'] as const

/** Cookie of a challenge that is waited for. */
export const CHALLENGE_COOKIES = ['__Host-sallyport-challenge', 'sallyport-challenge'] as const

/** Field of a request that brings a solution. */
export const SOLUTION_FIELD = 'sallyport-solution'
