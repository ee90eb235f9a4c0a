import { absoluteTarget, isSite, namesSite } from '@sallyport/node/internal'
import type { ClientRequest } from '../edge/client-messages.ts'

/** The site that a target in absolute form asks for. */
export interface NamedSite {
  readonly scheme: 'http' | 'https'
  /** Whether it differs from Host. */
  readonly isOther: boolean
}

/**
 * Rewrites a request whose target is in absolute form: the target becomes the rest, as an origin expects it, and Host the named site,
 * whatever Host was (RFC 9112 3.2.1, 3.2.2). Returns `undefined` for any other target, and for a request whose required Host is missing or
 * invalid: it stays unchanged, and is refused.
 */
export function toOriginForm(request: ClientRequest): NamedSite | undefined {
  const { httpVersion, method, url = '', headers } = request
  const { host } = headers
  const named = httpVersion === '2.0' ? undefined : absoluteTarget(url)
  if (named === undefined || (host === undefined ? httpVersion !== '1.0' : host !== '' && !isSite(host)))
    return undefined
  const { scheme, site, rest } = named
  // OPTIONS asks about a whole site with `*` (RFC 9112 3.2.4).
  request.url = rest === '' && method === 'OPTIONS' ? '*' : rest.startsWith('/') ? rest : `/${rest}`
  if (host && namesSite(host, named)) return { scheme, isOther: false }
  setHost(request, site)
  return { scheme, isOther: host !== undefined && host !== '' }
}

/** Sets the first Host; a second one is refused later. */
function setHost({ rawHeaders, headers }: ClientRequest, site: string): void {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (at < 0) rawHeaders.unshift('Host', site)
  else rawHeaders[at + 1] = site
  headers.host = site
}
