import type { ApiResponse } from '@sallyport/api'

const HTTPS_PORT = 443

/** The answer that sends a request of the plain listener to the same place over TLS; `host` and `target` are checked. */
export function toHttps(host: string, target: string, port: number): ApiResponse {
  const name = host.replace(/:\d{1,5}$/, '')
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '')
  const site = port === HTTPS_PORT ? name : `${name}:${port}`
  const location = `https://${site}${path.startsWith('/') ? path : `/${path}`}`
  return { status: 308, headers: { location, 'content-type': 'text/plain' }, body: `${location}\n` }
}
