import {
  AUTOMATION_WORDS,
  DEVICE_NAMES,
  DEVICE_WORDS,
  ENGINE_PARTS,
  PLATFORM_PARTS,
  PRODUCTS,
  SURE_WORDS,
} from '@sallyport/data/automation'

const PARTS = [...PLATFORM_PARTS, ...ENGINE_PARTS].map((part) => part.toLowerCase())
const KNOWN_PRODUCTS: ReadonlySet<string> = new Set(PRODUCTS.map((product) => product.toLowerCase()))

const DEVICES = DEVICE_NAMES.map((name) => name.toLowerCase())
/** A shorter name is a part of other words too, so no letter follows it; digits may (`WAP2.0`). */
const LONG_NAME = 5
/** A screen, a build of Android, the id of an application in a comment: programs on servers have none of them. */
const DEVICE_SHAPE = /\d{3,4}[x*]\d{3,4}|\d{3}dpi| Build\/|[(;] ?(?:com|org|net|io)\.[a-z]/i

/** `SH03B`, `K222s`, `TPS-320`, as makers name models, and not `X11`, `WOW64`, `IE11`: programs are seldom named so. */
const MODEL = /(?:^|[\s(;/_-])(?!X11|WOW64|SV\d|IE\d|WAP|XP|NT|V\d)[A-Z]{1,5}[-_ ]?\d{2,5}[A-Za-z]{0,4}(?=[\s;()/_-]|$)/

/** A name before a system that people have on their desks: `Word/16.1 (Mac OS/10.11; Desktop)`. */
const DESKTOP_APP = /^[^(]+\((?:Macintosh|Mac OS|macOS|Windows NT|Windows 1)/

/**
 * Whether one that is written as no browser writes it may be a person's all the same: it names a model as makers do, a player or
 * a phone, or is an application's of a desktop (D610).
 */
export function mayBeOwned(text: string): boolean {
  if (text.includes('AppleWebKit')) return false
  const lower = text.toLowerCase()
  const isNamed = !lower.includes('compatible') && DEVICE_WORDS.some((word) => lower.includes(word))
  return isNamed || MODEL.test(text) || (!text.includes('Mozilla') && DESKTOP_APP.test(text))
}

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
function isSmall(character = ''): boolean {
  return character >= 'a' && character <= 'z'
}

function placesOf(lower: string, word: string): readonly number[] {
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

/** The word by which a program calls itself one, wherever it is. */
export function wordIn(text: string): string | undefined {
  const lower = text.toLowerCase()
  return AUTOMATION_WORDS.find(
    (word) => lower.includes(word) && (word.length > SHORT_WORD || endsName(text, word, false)),
  )
}

/**
 * The same in a user agent that names a device: words are in the names of devices and of applications there too, so in the
 * name of a product only those count that are of programs alone, and in what describes the device none does (D381).
 */
export function wordBesideDevice(text: string): string | undefined {
  const isBrowsers = text.startsWith('Mozilla')
  for (const { role, name } of partsOf(text)) {
    // `Spider Solitaire/2.1`: a word before a product is a part of an application's name.
    if (role === 'word' && !isBrowsers && NAMES_TOO.includes(name.toLowerCase())) continue
    const word = wordInPart(role, name)
    if (word !== undefined) return word
  }
  return undefined
}

function wordInPart(role: Part['role'], name: string): string | undefined {
  switch (role) {
    case 'claim':
      return wordIn(name)
    case 'product':
      return sureWordIn(name)
    case 'word':
      return sureWordIn(name) ?? lastWordOf(name)
    case 'description':
      return undefined
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
interface Part {
  readonly role: 'product' | 'word' | 'claim' | 'description'
  readonly name: string
}

function partsOf(text: string): readonly Part[] {
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
function isClaim(comment: string): boolean {
  return /^compatible[;,](?! ?(?:MSIE|Konqueror|iCab|U;|Windows|Intel|Linux|X11))/.test(comment)
}

/** Words of so few letters are in many others: they count where they end a name. */
const SHORT_WORD = 3

/** Names of applications begin with these too: they count where they end a name. */
const NAMES_TOO: readonly string[] = ['spider', 'lighthouse']

function sureWordIn(name: string): string | undefined {
  const lower = name.toLowerCase()
  const isAnywhere = (word: string) => word.length > SHORT_WORD && !NAMES_TOO.includes(word)
  return SURE_WORDS.find((word) => lower.includes(word) && (isAnywhere(word) || endsName(name, word, true)))
}

/** `Site-Agent`, `mixed-content-scan`: a whole word at the end, written as programs are and not as applications. */
function lastWordOf(name: string): string | undefined {
  const [last = '', ...before] = name.toLowerCase().split('-').reverse()
  return before.length > 0 && AUTOMATION_WORDS.includes(last) ? last : undefined
}

/**
 * `Foobot`, `foo-bots/1`, `FooBotMobile`; not `Botany`, nor `BOTECH`. Beside a device not `CUBOT` either: makers write their
 * names in capitals; nor `iRobotHome` and `SpiderSolitaire`, as applications are named.
 */
function endsName(text: string, word: string, besideDevice: boolean): boolean {
  const lower = text.toLowerCase()
  const isCapital = (at: number) => isSmall(lower[at]) && text[at] !== lower[at]
  return placesOf(lower, word).some((at) => {
    const last = at + word.length - 1
    const end = lower[last + 1] === 's' ? last + 2 : last + 1
    const isPartOfName = besideDevice && (NAMES_TOO.includes(word) || lower.slice(0, at).endsWith('ro'))
    const goesOn = isSmall(lower[end]) && (!isCapital(end) || isCapital(last) || isPartOfName)
    return !goesOn && !(besideDevice && isCapital(at - 1) && isCapital(at) && isCapital(last))
  })
}

/** The first address of mail: an `@` before a version or a name is none. */
export function mailAddressIn(text: string): string | undefined {
  return text.split(/[\s()[\]<>;,]/).find((word) => /^[^@]*@[a-z0-9-]+\.[a-z][a-z]/i.test(word))
}

/** `Mozilla/5.0 Name/1.0`: neither a machine nor an engine, of which every browser names one. */
export function isBareMozilla(text: string): boolean {
  const lower = text.toLowerCase()
  return lower.startsWith('mozilla') && !PARTS.some((part) => lower.includes(part))
}

/** A name after `compatible` that is no old browser's, or one after `like Gecko`. */
export function isBareCompatible(text: string): boolean {
  return (text.startsWith('Mozilla/5.0 (') && isClaim(text.slice(13, 53))) || /like Gecko[;,] (?!Safari)/.test(text)
}

/** Whether a product that is no browser's and no application's is written beside a whole browser's. */
export function hasUnknownProduct(text: string): boolean {
  return productNames(text).some((name) => !KNOWN_PRODUCTS.has(name))
}

/** Products of the engine and of Chrome itself: another one that is known is another browser's, or an application's that a browser is built into. */
const CHROME_PRODUCTS: ReadonlySet<string> = new Set(['mozilla', 'applewebkit', 'chrome', 'safari'])

/**
 * Whether a name that is no browser's and no application's stands beside a plain Chrome, or its engine, of desktop Linux: servers run one, and of
 * people's hardly any has another name (D606).
 */
export function isRenamedOnServer(text: string): boolean {
  if (!text.startsWith('Mozilla/5.0 (X11; Linux') || !text.includes('AppleWebKit/')) return false
  const further = productNames(text).filter((name) => !CHROME_PRODUCTS.has(name))
  return further.length > 0 && !further.some((name) => KNOWN_PRODUCTS.has(name))
}

/** Whether something is added after a mark behind a whole browser's, as programs do: `Safari/537.36; Name`. */
export function goesOnAfterMark(text: string): boolean {
  return withoutComments(text)
    .split(' ')
    .some((word) => word.includes(';') && /^(?:Safari|Firefox)\//.test(word))
}

const SAFARI_PRODUCTS: ReadonlySet<string> = new Set(['mozilla', 'applewebkit', 'version', 'mobile', 'safari'])

/** Whether it names Safari, and nothing beside it: no further product, and no comment at the end. */
export function isPlainSafari(text: string): boolean {
  const names = productNames(text)
  return names.includes('version') && names.every((name) => SAFARI_PRODUCTS.has(name)) && !/[)\]]$/.test(text)
}

/** The names of products outside of comments, lower case. */
function productNames(text: string): readonly string[] {
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
