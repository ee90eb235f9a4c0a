import { parseUrl } from '../parse-url.ts'

/** Reads the RDAP services of IANA's bootstrap file (RFC 9224 section 3), the first with https; `undefined` for any other text. */
export function parseBootstrap(text: string): ReadonlyMap<string, string> | undefined {
  const services = readServices(text)
  if (services === undefined) return undefined
  const bases = new Map<string, string>()
  for (const [tlds, urls] of services) {
    const usable = urls.filter((url) => parseUrl(url) !== undefined)
    const base = usable.find((url) => url.startsWith('https:')) ?? usable[0]
    if (base === undefined) continue
    for (const tld of tlds) bases.set(tld.toLowerCase(), base.endsWith('/') ? base : `${base}/`)
  }
  return bases
}

type Service = readonly [tlds: readonly string[], urls: readonly string[]]

function readServices(text: string): readonly Service[] | undefined {
  try {
    const { services }: { readonly services?: unknown } = JSON.parse(text)
    return Array.isArray(services) && services.every(isService) ? services : undefined
  } catch {
    return undefined
  }
}

function isService(row: unknown): row is Service {
  return (
    Array.isArray(row) &&
    row.length >= 2 &&
    row.every((part) => Array.isArray(part) && part.every((text) => typeof text === 'string'))
  )
}
