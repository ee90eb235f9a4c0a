import { ENGINE_PARTS, PLATFORM_PARTS, PRODUCTS } from '@sallyport/data/automation'

const PARTS = [...PLATFORM_PARTS, ...ENGINE_PARTS].map((part) => part.toLowerCase())
const KNOWN_PRODUCTS: ReadonlySet<string> = new Set(PRODUCTS.map((product) => product.toLowerCase()))

/**
 * A user agent in lower case without the device that Android names after its version, with its build: a model may be
 * called after a robot.
 */
export function withoutDevice(text: string): string {
  const android = text.indexOf('Android')
  const first = android === -1 ? -1 : text.indexOf(';', android) + 1
  if (first <= 0) return text.toLowerCase()
  const firstEnd = endOfPart(text, first)
  const isLocale = text[firstEnd] === ';' && /^ ?[a-z]{2}[-_][a-z]{2}$/i.test(text.slice(first, firstEnd))
  const start = isLocale ? firstEnd + 1 : first
  const end = isLocale ? endOfPart(text, start) : firstEnd
  const part = text.slice(start, end)
  // Only the slash of a build is a device's: another is that of a product, and links are of programs.
  const isDevice = part.includes('Build/') || !/[/+:]/.test(part)
  return (isDevice ? text.slice(0, start) + text.slice(end) : text).toLowerCase()
}

function endOfPart(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === ';' || text[at] === ')') return at
  return text.length
}

/** Whether there is an address of mail: an `@` before a version or a name is none. */
export function hasMailAddress(lower: string): boolean {
  const [, ...after] = lower.split('@')
  return after.some((host) => /^[a-z0-9-]+\.[a-z][a-z]/.test(host))
}

/** `Mozilla/5.0 Name/1.0`: neither a machine nor an engine, of which every browser names one. */
export function isBareMozilla(lower: string): boolean {
  return lower.startsWith('mozilla') && !PARTS.some((part) => lower.includes(part))
}

/** Whether a product that is no browser's and no application's is written beside a whole browser's. */
export function hasUnknownProduct(text: string): boolean {
  return withoutComments(text)
    .split(' ')
    .some((word) => isName(word) && !KNOWN_PRODUCTS.has(nameOf(word).toLowerCase()))
}

/** Words with a letter: versions that stand alone are none. */
function isName(word: string): boolean {
  return /^[a-z]/i.test(word)
}

function nameOf(word: string): string {
  const end = word.search(/[/=,;:]/)
  return end === -1 ? word : word.slice(0, end)
}

/** The text outside of parentheses and brackets. */
function withoutComments(text: string): string {
  let depth = 0
  let outside = ''
  for (const character of text) {
    if (character === '(' || character === '[') depth++
    if (depth === 0) outside += character
    if ((character === ')' || character === ']') && depth > 0) depth--
  }
  return outside
}
