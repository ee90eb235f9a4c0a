/** A parsed request target in absolute form (RFC 9112 3.2.2): `http://site.example/a?b`. */
export interface AbsoluteTarget {
  readonly scheme: 'http' | 'https'
  /** The site that the target names, written as in Host. */
  readonly site: string
  /** The rest, written as in other targets; empty where the target names the whole site. */
  readonly rest: string
}

const ABSOLUTE = /^http(s?):\/\/([^/?#]*)((?:[/?#].*)?)$/i
/** Matches a site. An empty port means the port of the scheme (RFC 3986 3.2.3). */
const SITE = /^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{0,5})?$/

/** Reports whether a text is a name or an address, with or without a port. */
export function isSite(text: string): boolean {
  return SITE.test(text)
}

/** Reads a target in absolute form; `undefined` for any other form, and for a target that names no site. */
export function absoluteTarget(target: string): AbsoluteTarget | undefined {
  const [, secure, site = '', rest = ''] = ABSOLUTE.exec(target) ?? []
  return isSite(site) ? { scheme: secure === '' ? 'http' : 'https', site, rest } : undefined
}

/** Reports whether Host names a site. It ignores case, the default port of the scheme, and the trailing dot of a full name. */
export function namesSite(host: string, { scheme, site }: Pick<AbsoluteTarget, 'scheme' | 'site'>): boolean {
  const port = scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/
  const normalise = (text: string): string =>
    text
      .toLowerCase()
      .replace(port, '')
      .replace(/\.(?=$|:)/, '')
  return normalise(host) === normalise(site)
}
