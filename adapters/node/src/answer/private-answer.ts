import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'

/**
 * Fields by which an origin tells a shared cache alone to keep an answer, whatever Cache-Control says: RFC 9213 and those of
 * Cloudflare, Fastly, Varnish, Akamai and nginx. Names in lower case.
 */
const FOR_CACHES = [
  'cdn-cache-control',
  'cloudflare-cdn-cache-control',
  'vercel-cdn-cache-control',
  'surrogate-control',
  'edge-control',
  'x-accel-expires',
] as const

/** Whether a field speaks to shared caches; a name in any case. */
export function isForCaches(name: string): boolean {
  return (FOR_CACHES as readonly string[]).includes(name.toLowerCase())
}

/** Directives that permit a shared cache to keep an answer (RFC 9111 section 5.2.2), and the one that `private` replaces. */
const SHARING = /^(?:public|s-maxage|proxy-revalidate|private)\b/i

/** The value of Cache-Control by which the client's own cache alone keeps an answer. */
export function privateControl(value = ''): string {
  const kept = value.split(',').flatMap((one) => (one.trim() === '' || SHARING.test(one.trim()) ? [] : [one.trim()]))
  return [...kept, 'private'].join(', ')
}

/** A response of Node of which the fields are written with its status. */
export interface WritableHead {
  writeHead?(status: number, ...more: unknown[]): unknown
  getHeader?(name: string): unknown
  setHeader(name: string, value: string): unknown
  removeHeader(name: string): void
}

/**
 * Has an answer of the application kept by its client's cache alone: a shared one would give it to those who hold no pass. Its fields
 * are known when its head is written.
 */
export function keepPrivate(response: WritableHead): void {
  const { writeHead } = response
  if (writeHead === undefined) return
  response.writeHead = (status, ...more) => {
    const given = more.at(-1)
    const fields = typeof given === 'object' && given !== null ? listPairs(given) : []
    const own = fields.find(([name]) => name.toLowerCase() === 'cache-control')?.[1]
    const control = own ?? response.getHeader?.('cache-control')
    for (const name of FOR_CACHES) response.removeHeader(name)
    response.setHeader('cache-control', privateControl(control === undefined ? '' : String(control)))
    const kept = fields.filter(([name]) => name.toLowerCase() !== 'cache-control' && !isForCaches(name))
    if (kept.length === fields.length) return writeHead.call(response, status, ...more)
    const left = Array.isArray(given) ? kept.flat() : Object.fromEntries(kept)
    return writeHead.call(response, status, ...more.slice(0, -1), left)
  }
}

type Field = readonly [name: string, value: OutgoingHttpHeader | undefined]

/** Names and values of an object, or of a list of both by turns: Node takes no pairs behind `setHeader`. */
function listPairs(given: object): readonly Field[] {
  if (!Array.isArray(given)) return Object.entries(given as OutgoingHttpHeaders)
  return given.flatMap((name: string, at): readonly Field[] => (at % 2 === 0 ? [[name, given[at + 1]]] : []))
}
