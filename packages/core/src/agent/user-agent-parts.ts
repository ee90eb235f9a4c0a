import { DEVICE_NAMES, PHONE_NAMES, PRODUCTS } from '@sallyport/data/automation'

const DEVICES = DEVICE_NAMES.map((name) => name.toLowerCase())
const PHONES = PHONE_NAMES.map((name) => name.toLowerCase())
const KNOWN_PRODUCTS: ReadonlySet<string> = new Set(PRODUCTS.map((product) => product.toLowerCase()))
/** A shorter name is a part of other words too, so no letter follows it; digits may (`WAP2.0`). */
const LONG_NAME = 5
/** A screen, a build of Android, the id of an application in a comment: programs on servers have none of them. */
const DEVICE_SHAPE = /\d{3,4}[x*]\d{3,4}|\d{3}dpi| Build\/|[(;] ?(?:com|org|net|io)\.[a-z]/i

/** Whether it names a device of a person, or an application or a player on one. */
export function namesDevice(text: string): boolean {
  return isNamedOf(DEVICES, text) || DEVICE_SHAPE.test(text)
}

/**
 * Whether it is the user agent of an application on a phone or a tablet, and no browser's: a link in it is of the application's
 * page. A link that has the system's name in it names none.
 */
export function isPhoneApplication(text: string): boolean {
  if (text.includes('Mozilla')) return false
  const words = text.split(/[\s;,()[\]]/).filter((word) => !LINK.test(word))
  return isNamedOf(PHONES, words.join(' '))
}

/** The product of a browser, of an application that is known, or of a system. */
export function isKnownProduct(name: string): boolean {
  return KNOWN_PRODUCTS.has(name.toLowerCase())
}

function isNamedOf(names: readonly string[], text: string): boolean {
  const lower = text.toLowerCase()
  return names.some((name) => placesOf(lower, name).some((at) => isNameAt(text, at, name)))
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

/** The organisation for which Firefox was set up by its customisation kit: `(CK-PublicLibrary)`. */
const ORGANISATION = /\(CK-[^\s()]*/g
/** The maker's page of a browser that is built on another: `Embedded Web Browser from: http://…`, `Avant Browser [avantbrowser.com]`. */
const BROWSER_MAKER = /Browser (?:from: |\[)[^\s;[\]()]*\]?/g

/**
 * A user agent without what says nothing of who asks: versions (`1.2-preview`), the translator or other page through which a
 * person reads (`via translate.example`), and whose a browser is.
 */
export function withoutTrimmings(text: string): string {
  const start = text.indexOf('(via ')
  const end = text.indexOf(')', start)
  const isReader = start !== -1 && end !== -1 && !text.slice(start + 5, end).includes(' ')
  const own = isReader ? text.slice(0, start) + text.slice(end + 1) : text
  const anybodys = own.replace(ORGANISATION, '(').replace(BROWSER_MAKER, 'Browser')
  return anybodys.replace(/(?<![/:])\/v?\d[^\s;,()[\]/]*/g, '/')
}

/** Names of products outside of comments, and all the rest, of a text that is without versions. */
export function apartFromProducts(text: string): { readonly products: readonly string[]; readonly rest: string } {
  const words = withoutComments(text).split(' ')
  const isProduct = (word: string) => word.indexOf('/') === word.length - 1 && word !== ''
  const comments = commentsOf(text).map(([start, end]) => text.slice(start, end))
  return {
    products: words.filter(isProduct).map((word) => word.slice(0, -1)),
    rest: [...comments, ...words.filter((word) => !isProduct(word))].join(' '),
  }
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
  readonly role: 'product' | 'word' | 'claim' | 'link' | 'description'
  readonly name: string
  /** A blank follows, and no comment or mark. */
  readonly goesOn: boolean
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
    if (part !== '') parts.push({ ...partOf(part, depth > 0, claims), goesOn: character === ' ' })
    start = at + 1
    if (character === '(' || character === '[') {
      if (depth++ === 0) claims = isClaim(text.slice(start, start + 40))
    } else if ((character === ')' || character === ']') && depth > 0) depth--
  }
  return parts
}

function partOf(text: string, inComment: boolean, claims: boolean): Omit<Part, 'goesOn'> {
  if (claims) return { role: 'claim', name: text }
  if (LINK.test(text)) return { role: 'link', name: text }
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
  return /^compatible[;,](?! ?(?:MSIE|Konqueror|iCab|U;|(?:Windows|Intel|Linux|X11)(?![A-Za-z])))/.test(comment)
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

export function nameOf(word: string): string {
  const end = word.search(/[/=,;: ]/)
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
