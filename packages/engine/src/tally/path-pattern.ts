/** Segments that are kept; what is below them is one. */
const MAX_SEGMENTS = 5
const MAX_SEGMENT = 40

const NUMBER = /^\d+$/
/** Ids of databases, digests, tokens: hexadecimal with a digit, and long words with one. */
const HEX = /^(?=.*\d)[\da-f-]{8,}$/i
const TOKEN = /^(?=.*\d)[\w.~=+-]{20,}$/
/** An extension stays where the name before it does not. */
const EXTENSION = /^(.+)(\.[a-z]{2,5}\d?)$/i

/**
 * A path as the pattern of those beside it: `/orders/1734` as `/orders/*`. What numbers, digests or tokens stand for is a record
 * or a person, and would make a row for each.
 */
export function patternOf(path: string): string {
  const segments = path.split('/', MAX_SEGMENTS + 2)
  const folded = segments.slice(0, MAX_SEGMENTS + 1).map(segmentOf)
  return segments.length > MAX_SEGMENTS + 1 ? `${folded.join('/')}/**` : folded.join('/')
}

function segmentOf(segment: string): string {
  if (segment === '') return ''
  const [, stem, extension] = EXTENSION.exec(segment) ?? []
  if (stem !== undefined && isId(stem)) return `*${extension}`
  return isId(segment) ? '*' : segment
}

function isId(text: string): boolean {
  return text.length > MAX_SEGMENT || NUMBER.test(text) || HEX.test(text) || TOKEN.test(text)
}

/** Parts of a page: what a browser asks for after it. */
const ASSET =
  /\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|otf|png|svg|ttf|wasm|webm|webmanifest|webp|woff2?)$/i

/** Whether a path is a page's, and not that of a part of one. */
export function isPagePath(path: string): boolean {
  return !ASSET.test(path)
}
