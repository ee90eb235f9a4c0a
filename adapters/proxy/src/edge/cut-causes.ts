/** Says why a connection is cut before its first request, or with all its requests. */
export const CUT_CAUSES = ['connections', 'proxy_header', 'client_hello', 'handshake', 'http2_resets'] as const

export type CutCause = (typeof CUT_CAUSES)[number]
