import { DEVICE_NAMES } from '@sallyport/data/automation'

const DEVICES = DEVICE_NAMES.map((name) => name.toLowerCase())
/** A shorter name is a part of other words too, so no letter follows it; digits may (`WAP2.0`). */
const LONG_NAME = 5
/** A screen, a build of Android, the id of an application in a comment: programs on servers have none of them. */
const DEVICE_SHAPE = /\d{3,4}[x*]\d{3,4}|\d{3}dpi| Build\/|[(;] ?(?:com|org|net|io)\.[a-z]/i

/** Whether it names a device of a person, or an application or a player on one. */
export function namesDevice(text: string): boolean {
  const lower = text.toLowerCase()
  return DEVICES.some((name) => placesOf(lower, name).some((at) => isNameAt(text, at, name))) || DEVICE_SHAPE.test(text)
}

/** `Tizen` and `AppAndroid`, and not `citizen`. */
function isNameAt(text: string, at: number, name: string): boolean {
  const [before = '', first = '', after = ''] = [text[at - 1], text[at], text[at + name.length]]
  const begins = !isSmall(before.toLowerCase()) || (isSmall(before) && !isSmall(first))
  return begins && (name.length >= LONG_NAME || !isSmall(after.toLowerCase()))
}

/** Whether it is a small letter. */
export function isSmall(character = ''): boolean {
  return character >= 'a' && character <= 'z'
}

export function placesOf(lower: string, word: string): readonly number[] {
  const places: number[] = []
  for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1)) places.push(at)
  return places
}

/**
 * A user agent without what says nothing of who asks: versions (`1.2-preview`), and the translator or other page through which
 * a person reads (`via translate.example`).
 */
export function withoutTrimmings(text: string): string {
  const start = text.indexOf('(via ')
  const end = text.indexOf(')', start)
  const isReader = start !== -1 && end !== -1 && !text.slice(start + 5, end).includes(' ')
  const own = isReader ? text.slice(0, start) + text.slice(end + 1) : text
  return own.replace(/(?<![/:])\/v?\d[^\s;,()[\]/]*/g, '/')
}

/** The names of products; a word beside them is one where a browser's begin, and a part of an application's name elsewhere. */
export function productsOf(text: string): string {
  const roles: readonly Part['role'][] = text.startsWith('Mozilla') ? ['product', 'word'] : ['product']
  return partsOf(text)
    .filter(({ role }) => roles.includes(role))
    .map(({ name }) => name)
    .join(' ')
}

/**
 * The text without what its comments say of a device: a model may be called what a program is (`Android 12; Rigor X2`). A product
 * in such a comment stays, and a comment that says who asks.
 */
export function withoutModels(text: string): string {
  return commentsOf(text).reduceRight((rest, [start, end]) => {
    const comment = text.slice(start, end)
    if (isClaim(comment) || !namesDevice(`(${comment}`)) return rest
    const products = comment.split(';').filter((entry) => partOf(entry, true, false).role !== 'description')
    return rest.slice(0, start) + products.join(';') + rest.slice(end)
  }, text)
}

/** The first and the last place of each outermost comment. */
function commentsOf(text: string): readonly (readonly [start: number, end: number])[] {
  const found: [number, number][] = []
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if ((character === '(' || character === '[') && depth++ === 0) start = at + 1
    if ((character === ')' || character === ']') && depth > 0 && --depth === 0) found.push([start, at])
  }
  return depth > 0 ? [...found, [start, text.length]] : found
}

/** `Name/1.0` or a word without a version, or one entry of a comment: a `claim` says who asks, a `description` what with. */
export interface Part {
  readonly role: 'product' | 'word' | 'claim' | 'description'
  readonly name: string
}

export function partsOf(text: string): readonly Part[] {
  const parts: Part[] = []
  let depth = 0
  let start = 0
  let claims = false
  for (let at = 0; at <= text.length; at++) {
    const character = text[at] ?? ';'
    const isEnd = '()[];,'.includes(character) || (character === ' ' && depth === 0)
    if (!isEnd) continue
    const part = text.slice(start, at).trim()
    if (part !== '') parts.push(partOf(part, depth > 0, claims))
    start = at + 1
    if (character === '(' || character === '[') {
      if (depth++ === 0) claims = isClaim(text.slice(start, start + 40))
    } else if ((character === ')' || character === ']') && depth > 0) depth--
  }
  return parts
}

function partOf(text: string, inComment: boolean, claims: boolean): Part {
  if (claims || LINK.test(text)) return { role: 'claim', name: text }
  const slash = text.indexOf('/')
  if (inComment && (slash === -1 || text.includes('Build/'))) return { role: 'description', name: text }
  if (slash === -1) return { role: 'word', name: text }
  const names = text.split('/').slice(0, -1)
  return { role: 'product', name: names.map((name) => name.slice(name.lastIndexOf(' ') + 1)).join(' ') }
}

/** `https://…`, `www.…`, and a name of the web with a path: after the name of an application comes a number. */
const LINK = /:\/\/|www\.|\.[a-z]{2,4}\/[a-z]/i

/** `compatible; Name/1.0`, as programs write their names since the first of them; some old browsers did. */
export function isClaim(comment: string): boolean {
  return /^compatible[;,](?! ?(?:MSIE|Konqueror|iCab|U;|Windows|Intel|Linux|X11))/.test(comment)
}

/** The names of products outside of comments, lower case. */
export function productNames(text: string): readonly string[] {
  return withoutComments(text)
    .split(' ')
    .filter(isName)
    .map((word) => nameOf(word).toLowerCase())
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
export function withoutComments(text: string): string {
  let depth = 0
  let outside = ''
  for (const character of text) {
    if (character === '(' || character === '[') depth++
    if (depth === 0) outside += character
    if ((character === ')' || character === ']') && depth > 0) depth--
  }
  return outside
}
