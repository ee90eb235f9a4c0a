/** Why a connection is cut before anything was asked on it, or with all that is asked on it. */
export const CUT_CAUSES = ['connections', 'proxy_header', 'client_hello', 'handshake', 'http2_resets'] as const

export type CutCause = (typeof CUT_CAUSES)[number]
