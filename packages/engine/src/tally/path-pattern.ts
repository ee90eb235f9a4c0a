/** Segments that are kept; deeper ones become one. */
const MAX_SEGMENTS = 5
const MAX_SEGMENT = 40

const NUMBER = /^\d+$/
/** Matches ids of databases, digests and tokens: hexadecimal with a digit, and long words with a digit. */
const HEX = /^(?=.*\d)[\da-f-]{8,}$/i
const TOKEN = /^(?=.*\d)[\w.~=+-]{20,}$/
/** An extension stays where the name before it does not. */
const EXTENSION = /^(.+)(\.[a-z]{2,5}\d?)$/i

/** Returns the pattern of a path, `/orders/*` for `/orders/1734`: numbers, digests and tokens name records or persons. */
export function pathPattern(path: string): string {
  const segments = path.split('/', MAX_SEGMENTS + 2)
  const folded = segments.slice(0, MAX_SEGMENTS + 1).map(generalize)
  return segments.length > MAX_SEGMENTS + 1 ? `${folded.join('/')}/**` : folded.join('/')
}

function generalize(segment: string): string {
  if (segment === '') return ''
  const [, stem, extension] = EXTENSION.exec(segment) ?? []
  if (stem !== undefined && isId(stem)) return `*${extension}`
  return isId(segment) ? '*' : segment
}

function isId(text: string): boolean {
  return text.length > MAX_SEGMENT || NUMBER.test(text) || HEX.test(text) || TOKEN.test(text)
}

/** Matches parts of a page, which a browser requests after it. */
const ASSET =
  /\.(?:avif|bmp|css|eot|gif|ico|jpe?g|js|json|map|mjs|mp[34]|otf|png|svg|ttf|wasm|webm|webmanifest|webp|woff2?)$/i

/** Reports whether a path belongs to a page, and not to a part of a page. */
export function isPagePath(path: string): boolean {
  return !ASSET.test(path)
}
