/** A request target in absolute form (RFC 9112 3.2.2): `http://site.example/a?b`. */
export interface AbsoluteTarget {
  readonly scheme: 'http' | 'https'
  /** The site that it names, as Host writes one. */
  readonly site: string
  /** The rest as other targets write it; empty where it names the whole site. */
  readonly rest: string
}

const ABSOLUTE = /^http(s?):\/\/([^/?#]*)((?:[/?#].*)?)$/i
/** An empty port is the scheme's own (RFC 3986 3.2.3). */
export const SITE = /^(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::\d{0,5})?$/

/** Whether a text is a name or an address, with or without a port. */
export function isSite(text: string): boolean {
  return SITE.test(text)
}

/** Reads a target in absolute form; `undefined` for every other one, and where it names no site. */
export function absoluteTarget(target: string): AbsoluteTarget | undefined {
  const [, secure, site = '', rest = ''] = ABSOLUTE.exec(target) ?? []
  return isSite(site) ? { scheme: secure === '' ? 'http' : 'https', site, rest } : undefined
}

/** Whether a Host names a site of a scheme: neither case counts, nor the port that the scheme has anyway, nor the dot of a whole name. */
export function namesSite(host: string, { scheme, site }: Pick<AbsoluteTarget, 'scheme' | 'site'>): boolean {
  const port = scheme === 'https' ? /:(?:443)?$/ : /:(?:80)?$/
  const named = (text: string): string =>
    text
      .toLowerCase()
      .replace(port, '')
      .replace(/\.(?=$|:)/, '')
  return named(host) === named(site)
}
