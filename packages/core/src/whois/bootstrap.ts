import { isRecord } from '../is-record.ts'
/**
 * Reads the RDAP services of IANA's bootstrap file (RFC 9224 section 3): of several addresses the first with https.
 * Returns `undefined` for a text of another form.
 */
export function parseBootstrap(text: string): ReadonlyMap<string, string> | undefined {
  const services = readServices(text)
  if (services === undefined) return undefined
  const bases = new Map<string, string>()
  for (const [tlds, urls] of services) {
    const usable = urls.filter((url) => URL.canParse(url))
    const base = usable.find((url) => url.startsWith('https:')) ?? usable[0]
    if (base === undefined) continue
    for (const tld of tlds) bases.set(tld.toLowerCase(), base.endsWith('/') ? base : `${base}/`)
  }
  return bases
}

function readServices(
  text: string,
): readonly (readonly [tlds: readonly string[], urls: readonly string[]])[] | undefined {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    return undefined
  }
  const services = isRecord(file) ? file['services'] : undefined
  return Array.isArray(services) && services.every(isService) ? services : undefined
}

function isService(row: unknown): row is [string[], string[]] {
  return (
    Array.isArray(row) &&
    row.length >= 2 &&
    row.every((part) => Array.isArray(part) && part.every((text) => typeof text === 'string'))
  )
}
