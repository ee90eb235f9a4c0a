/** Says why a connection is cut before its first request, or with all its requests. */
export type CutCause = 'connections' | 'proxy_header' | 'client_hello' | 'handshake' | 'http2_resets'
