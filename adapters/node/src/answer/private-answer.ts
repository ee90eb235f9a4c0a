import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'

/**
 * Fields by which an origin lets only shared caches keep an answer, whatever Cache-Control says: RFC 9213, and fields of Cloudflare,
 * Fastly, Varnish, Akamai and nginx. Names are in lower case.
 */
const FOR_CACHES = [
  'cdn-cache-control',
  'cloudflare-cdn-cache-control',
  'vercel-cdn-cache-control',
  'surrogate-control',
  'edge-control',
  'x-accel-expires',
] as const

/** Reports whether shared caches read a field; its name may have any case. */
export function isForCaches(name: string): boolean {
  return (FOR_CACHES as readonly string[]).includes(name.toLowerCase())
}

/** Directives that permit a shared cache to keep an answer (RFC 9111 section 5.2.2), and `private`, which replaces them. */
const SHARING = /^(?:public|s-maxage|proxy-revalidate|private)\b/i

/** Returns the value of Cache-Control by which only the client's own cache keeps an answer. */
export function privateControl(value = ''): string {
  const kept = value.split(',').flatMap((one) => (one.trim() === '' || SHARING.test(one.trim()) ? [] : [one.trim()]))
  return [...kept, 'private'].join(', ')
}

/** A response of Node, which writes its fields with its status. */
export interface WritableHead {
  writeHead?(status: number, ...more: unknown[]): unknown
  getHeader?(name: string): unknown
  setHeader(name: string, value: string): unknown
  removeHeader(name: string): void
}

/**
 * Lets only the client's cache keep an answer of the application: a shared cache would serve it to visitors without a pass. The fields are
 * known only when the application writes the head.
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

/** Lists names and values of an object, or of a flat list of both: Node takes no pairs after `setHeader`. */
function listPairs(given: object): readonly Field[] {
  if (!Array.isArray(given)) return Object.entries(given as OutgoingHttpHeaders)
  return given.flatMap((name: string, at): readonly Field[] => (at % 2 === 0 ? [[name, given[at + 1]]] : []))
}
