/**
 * Lists the modes that each destination permits. The Fetch standard (2.2.5) names the destinations, and the standard of each element
 * sets the modes: pages and frames navigate; `embed` and `object` navigate where they hold a page and load where they hold an image; all
 * others load. `empty` has no row, because any mode goes with it: Fetch gives it to `fetch()`, WebSockets and downloads, and a navigation
 * that a service worker passes on has lost its destination (the constructor of `Request` leaves it out, w3c/ServiceWorker#1803; downloads
 * navigate, whatwg/html#5548).
 */
const NAVIGATES = ['navigate', 'nested-navigate']
const LOADS = ['no-cors', 'cors', 'same-origin']
const MODES: ReadonlyMap<string, readonly string[]> = new Map([
  ...['document', 'fencedframe', 'frame', 'iframe'].map((destination) => [destination, NAVIGATES] as const),
  ...['embed', 'object'].map((destination) => [destination, [...NAVIGATES, ...LOADS]] as const),
  ...['audio', 'font', 'image', 'style', 'track', 'video', 'xslt'].map((destination) => [destination, LOADS] as const),
  ...['script', 'serviceworker', 'sharedworker', 'worker'].map((destination) => [destination, LOADS] as const),
  ...['audioworklet', 'json', 'manifest', 'paintworklet', 'report', 'webidentity'].map(
    (destination) => [destination, LOADS] as const,
  ),
])
/** A server must ignore other values (Fetch Metadata 2.1 and 2.2): browsers may have added them since. */
const KNOWN_MODES: ReadonlySet<string> = new Set([...NAVIGATES, ...LOADS, 'websocket', 'webtransport'])

/**
 * Reports whether a browser can send these values together. Only navigations have `Sec-Fetch-User`, and it is `?1` (Fetch Metadata 2.4).
 * `Sec-Fetch-Site` contradicts nothing: `none` marks requests that no page made, and an extension that may read a site makes them in every
 * mode (w3c/webappsec-fetch-metadata#12, #47).
 */
export function isPossibleFetch(mode: string, destination: string, user: string | undefined): boolean {
  if (user !== undefined && user !== '?1') return false
  if (!KNOWN_MODES.has(mode)) return true
  if (user !== undefined && !NAVIGATES.includes(mode)) return false
  return MODES.get(destination)?.includes(mode) !== false
}
