import { DEVICE_NAMES, PHONE_NAMES, PRODUCTS } from '@sallyport/data/automation'

const DEVICES = DEVICE_NAMES.map((name) => name.toLowerCase())
const PHONES = PHONE_NAMES.map((name) => name.toLowerCase())
const KNOWN_PRODUCTS: ReadonlySet<string> = new Set(PRODUCTS.map((product) => product.toLowerCase()))
/** A shorter name is a part of other words too, so no letter may follow it; digits may (`WAP2.0`). */
const LONG_NAME = 5
/** A comment names a screen, a build of Android or the id of an application: programs on servers have none of them. */
const DEVICE_SHAPE = /\d{3,4}[x*]\d{3,4}|\d{3}dpi| Build\/|[(;] ?(?:com|org|net|io)\.[a-z]/i

/** Reports whether a text names a person's device, or an application or a player on a device. */
export function namesDevice(text: string): boolean {
  return containsName(DEVICES, text) || DEVICE_SHAPE.test(text)
}

/**
 * Reports whether a user agent belongs to an application on a phone or a tablet, and not to a browser: a link in it leads to the
 * application's page. A link that contains the system's name names no system.
 */
export function isPhoneApplication(text: string): boolean {
  if (text.includes('Mozilla')) return false
  const words = text.split(/[\s;,()[\]]/).filter((word) => !LINK.test(word))
  return containsName(PHONES, words.join(' '))
}

/** Reports whether a product belongs to a browser, a known application or a system. */
export function isKnownProduct(name: string): boolean {
  return KNOWN_PRODUCTS.has(name.toLowerCase())
}

function containsName(names: readonly string[], text: string): boolean {
  const lower = text.toLowerCase()
  return names.some((name) => findPlaces(lower, name).some((at) => isNameAt(text, at, name)))
}

/** Finds a name in `Tizen` and `AppAndroid`, and not in `citizen`. */
function isNameAt(text: string, at: number, name: string): boolean {
  const [before = '', first = '', after = ''] = [text[at - 1], text[at], text[at + name.length]]
  const begins = !isSmall(before.toLowerCase()) || (isSmall(before) && !isSmall(first))
  return begins && (name.length >= LONG_NAME || !isSmall(after.toLowerCase()))
}

export function isSmall(character = ''): boolean {
  return character >= 'a' && character <= 'z'
}

export function findPlaces(lower: string, word: string): readonly number[] {
  const places: number[] = []
  for (let at = lower.indexOf(word); at !== -1; at = lower.indexOf(word, at + 1)) places.push(at)
  return places
}

/** The customisation kit of Firefox adds the organisation that it was set up for: `(CK-PublicLibrary)`. */
const ORGANISATION = /\(CK-[^\s()]*/g
/** A browser that is built on another names its maker's page: `Embedded Web Browser from: http://…`, `Avant Browser [avantbrowser.com]`. */
const BROWSER_MAKER = /Browser (?:from: |\[)[^\s;[\]()]*\]?/g

/** A toolbar repeats the browser's whole header in its comment. */
const OWN_HEADER = /; ?User-agent:/gi

/**
 * Removes parts of a user agent that do not identify the client: versions (`1.2-preview`), the translator or other page through which a
 * person reads (`via translate.example`), and the organisation that set up the browser.
 */
export function withoutTrimmings(text: string): string {
  const start = text.indexOf('(via ')
  const end = text.indexOf(')', start)
  const isReader = start !== -1 && end !== -1 && !text.slice(start + 5, end).includes(' ')
  const own = isReader ? text.slice(0, start) + text.slice(end + 1) : text
  const anybodys = own.replace(ORGANISATION, '(').replace(BROWSER_MAKER, 'Browser').replace(OWN_HEADER, ';')
  return anybodys.replace(/(?<![/:])\/v?\d[^\s;,()[\]/]*/g, '/')
}

/** Splits a text without versions into names of products outside of comments, and the rest. */
export function apartFromProducts(text: string): { readonly products: readonly string[]; readonly rest: string } {
  const words = withoutComments(text).split(' ')
  const isProduct = (word: string) => word.indexOf('/') === word.length - 1 && word !== ''
  const comments = findComments(text).map(([start, end]) => text.slice(start, end))
  return {
    products: words.filter(isProduct).map((word) => word.slice(0, -1)),
    rest: [...comments, ...words.filter((word) => !isProduct(word))].join(' '),
  }
}

/** Lists product names. Beside them a word is a product where a browser's text begins, else part of an application's name. */
export function listProducts(text: string): string {
  const roles: readonly Part['role'][] = text.startsWith('Mozilla') ? ['product', 'word'] : ['product']
  return splitParts(text)
    .filter(({ role }) => roles.includes(role))
    .map(({ name }) => name)
    .join(' ')
}

/**
 * Removes the descriptions of devices in comments: a model may share a program's name (`Android 12; Rigor X2`). Products in such a comment
 * stay, and so do comments that claim an identity.
 */
export function withoutModels(text: string): string {
  return findComments(text).reduceRight((rest, [start, end]) => {
    const comment = text.slice(start, end)
    if (isClaim(comment) || !namesDevice(`(${comment}`)) return rest
    const products = comment.split(';').filter((entry) => readPart(entry, true, false).role !== 'description')
    return rest.slice(0, start) + products.join(';') + rest.slice(end)
  }, text)
}

/** Returns the first and the last place of each outermost comment. */
function findComments(text: string): readonly (readonly [start: number, end: number])[] {
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

/** A part is `Name/1.0`, a word without a version, or an entry of a comment: a `claim` names the client, a `description` its machine. */
export interface Part {
  readonly role: 'product' | 'word' | 'claim' | 'link' | 'description'
  readonly name: string
  /** A blank follows, and no comment or mark. */
  readonly goesOn: boolean
}

export function splitParts(text: string): readonly Part[] {
  const parts: Part[] = []
  let depth = 0
  let start = 0
  let claims = false
  for (let at = 0; at <= text.length; at++) {
    const character = text[at] ?? ';'
    const isEnd = '()[];,'.includes(character) || (character === ' ' && depth === 0)
    if (!isEnd) continue
    const part = text.slice(start, at).trim()
    if (part !== '') parts.push({ ...readPart(part, depth > 0, claims), goesOn: character === ' ' })
    start = at + 1
    if (character === '(' || character === '[') {
      if (depth++ === 0) claims = isClaim(text.slice(start, start + 40))
    } else if ((character === ')' || character === ']') && depth > 0) depth--
  }
  return parts
}

function readPart(text: string, inComment: boolean, claims: boolean): Omit<Part, 'goesOn'> {
  if (claims) return { role: 'claim', name: text }
  if (LINK.test(text)) return { role: 'link', name: text }
  const slash = text.indexOf('/')
  if (inComment && (slash === -1 || text.includes('Build/'))) return { role: 'description', name: text }
  if (slash === -1) return { role: 'word', name: text }
  const names = text.split('/').slice(0, -1)
  return { role: 'product', name: names.map((name) => name.slice(name.lastIndexOf(' ') + 1)).join(' ') }
}

/** Matches `https://…`, `www.…`, and a domain name with a path: a number follows the name of an application. */
const LINK = /:\/\/|www\.|\.[a-z]{2,4}\/[a-z]/i

/** Matches `compatible; Name/1.0`, the form of programs since the first of them; some old browsers used it too. */
export function isClaim(comment: string): boolean {
  return /^compatible[;,](?! ?(?:MSIE|Konqueror|iCab|U;|(?:Windows|Intel|Linux|X11)(?![A-Za-z])))/.test(comment)
}

/** Lists the names of products outside of comments, in lower case. */
export function productNames(text: string): readonly string[] {
  const words = withoutComments(text).split(' ')
  return words.filter((word) => /^[a-z]/i.test(word)).map((word) => readName(word).toLowerCase())
}

export function readName(word: string): string {
  const end = word.search(/[/=,;: ]/)
  return end === -1 ? word : word.slice(0, end)
}

/** Returns the text outside of parentheses and brackets. */
export function withoutComments(text: string): string {
  return findComments(text).reduceRight((rest, [start, end]) => rest.slice(0, start - 1) + rest.slice(end + 1), text)
}
