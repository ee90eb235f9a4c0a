import { absoluteTarget, isSite, namesSite } from '@sallyport/node/internal'
import type { ClientRequest } from '../edge/client-messages.ts'

/** The site that a target in absolute form names. */
export interface NamedSite {
  readonly scheme: 'http' | 'https'
  /** It is not that of Host. */
  readonly isOther: boolean
}

/**
 * Rewrites a request whose target is in absolute form to what it means: the target is the rest, as origins are asked for
 * it, and Host the site that it names, whatever Host said (RFC 9112 3.2.1, 3.2.2). Returns `undefined` for any other target,
 * and for a request without the Host that it must have or with one that is none: it stays as it is, and is refused.
 */
export function toOriginForm(request: ClientRequest): NamedSite | undefined {
  const { httpVersion, method, url = '', headers } = request
  const { host } = headers
  const named = httpVersion === '2.0' ? undefined : absoluteTarget(url)
  if (named === undefined || (host === undefined ? httpVersion !== '1.0' : host !== '' && !isSite(host)))
    return undefined
  const { scheme, site, rest } = named
  // A site as a whole is what OPTIONS asks about with `*` (RFC 9112 3.2.4).
  request.url = rest === '' && method === 'OPTIONS' ? '*' : rest.startsWith('/') ? rest : `/${rest}`
  if (host && namesSite(host, named)) return { scheme, isOther: false }
  setHost(request, site)
  return { scheme, isOther: host !== undefined && host !== '' }
}

/** Sets the first Host: a second one is refused as ever. */
function setHost({ rawHeaders, headers }: ClientRequest, site: string): void {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'host')
  if (at < 0) rawHeaders.unshift('Host', site)
  else rawHeaders[at + 1] = site
  headers.host = site
}
