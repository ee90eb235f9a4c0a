import { DEVICE_WORDS, ENGINE_PARTS, PLATFORM_PARTS } from '@sallyport/data/automation'
import {
  findPlaces,
  isClaim,
  isKnownProduct,
  isSmall,
  productNames,
  readName,
  withoutComments,
} from './user-agent-parts.ts'

const ENGINES = ENGINE_PARTS.map((part) => part.toLowerCase())
const PARTS = [...PLATFORM_PARTS.map((part) => part.toLowerCase()), ...ENGINES]

/** Matches `SH03B`, `K222s`, `TPS-320`, which name models, and not `X11`, `WOW64`, `IE11`, `OS X 10_15`: few programs are so named. */
const MODEL =
  /(?:^|[\s(;/_-])(?!X11|X 1\d_|WOW64|SV\d|IE\d|WAP|XP|NT|V\d)[A-Z]{1,5}[-_ ]?\d{2,5}[A-Za-z]{0,4}(?=[\s;()/_-]|$)/

/** Matches a name before a desktop system: `Word/16.1 (Mac OS/10.11; Desktop)`. */
const DESKTOP_APP = /^[^(]+\((?:Macintosh|Mac OS|macOS|Windows NT|Windows 1)/

/**
 * Reports whether a user agent that no browser writes may still be a person's: it names a model as makers do, a player or a phone, or
 * belongs to a desktop application.
 */
export function mayBeOwned(text: string): boolean {
  if (text.includes('AppleWebKit')) return false
  const lower = text.toLowerCase()
  const isNamed = !lower.includes('compatible') && DEVICE_WORDS.some((word) => lower.includes(word))
  return isNamed || MODEL.test(text) || (!text.includes('Mozilla') && DESKTOP_APP.test(text))
}

/** Reports whether a text is `Mozilla/5.0 Name/1.0`, without the machine or engine that every browser names. */
export function isBareMozilla(text: string): boolean {
  return text.toLowerCase().startsWith('mozilla') && !hasPart(PARTS, text)
}

/** Matches `Mozilla/5.0 (Windows NT 10.0; Win64; x64)`: a desktop, without an engine or a versioned application. */
export function isDeskAlone(text: string): boolean {
  if (!/^Mozilla\/5\.0 \((?:Windows|Macintosh|X11)/i.test(text) || hasPart(ENGINES, text)) return false
  const [, ...behind] = withoutComments(text).split(' ')
  return !behind.some((word) => word.includes('/') || isKnownProduct(word))
}

/** Reports whether a part is a word, or a word within a compound name (`AppleWebKit`, `FreeBSD`): not in `Winner`. */
function hasPart(parts: readonly string[], text: string): boolean {
  const lower = text.toLowerCase()
  // A letter continues the word before it, unless it is a capital after a small letter.
  const goesOn = (at: number) =>
    isSmall(lower[at - 1]) && isSmall(lower[at]) && !(isSmall(text[at - 1]) && !isSmall(text[at]))
  return parts.some((part) => findPlaces(lower, part).some((at) => !goesOn(at) && !goesOn(at + part.length)))
}

/** Reports whether a name follows `compatible` that is not an old browser's, or follows `like Gecko`. */
export function isBareCompatible(text: string): boolean {
  return (text.startsWith('Mozilla/5.0 (') && isClaim(text.slice(13, 53))) || /like Gecko[;,] (?!Safari)/.test(text)
}

/** Reports whether a product that belongs to no browser or application stands beside a whole browser's. */
export function hasUnknownProduct(text: string): boolean {
  return productNames(text).some((name) => !isKnownProduct(name))
}

/** Products of the engine and of Chrome itself. Another known product is another browser's, or an application's with a built-in browser. */
const CHROME_PRODUCTS: ReadonlySet<string> = new Set(['mozilla', 'applewebkit', 'chrome', 'safari'])

/**
 * Reports whether a name that belongs to no browser or application stands beside a plain Chrome, or its engine, of desktop Linux. Servers
 * run such a Chrome, and hardly any person's has another name.
 */
export function isRenamedOnServer(text: string): boolean {
  if (!text.startsWith('Mozilla/5.0 (X11; Linux') || !text.includes('AppleWebKit/')) return false
  const further = productNames(text).filter((name) => !CHROME_PRODUCTS.has(name))
  return further.length > 0 && !further.some(isKnownProduct)
}

const DESK = /^Mozilla\/[^(]*\((?:Windows|Macintosh|compatible; MSIE)/

/**
 * Reports whether a name that is no browser's follows a mark behind a whole browser's, as programs add it: `Safari/537.36; Name`. A
 * device's WebView has there any text of its application; a phone's Chrome itself has nothing.
 */
export function goesOnAfterMark(text: string, besideDevice: boolean): boolean {
  if (besideDevice && !isChromeOfPhone(text)) return false
  const words = withoutComments(text).split(' ')
  const at = words.findIndex((word) => word.includes(';') && /^(?:Safari|Firefox)\//.test(word))
  if (at === -1) return false
  const [, ...behind] = words.slice(at).join(' ').split(';')
  const name = readName(behind.join(' ').trim())
  return name !== '' && !isKnownProduct(name)
}

/**
 * Comments have these forms in user agents of crawlers, and of no maker of a browser: a link among the facts about the machine, or
 * `(compatible; …)` behind a whole browser's.
 */
const LINK_ALONE = /\([^()]{0,300}; ?(?:https?:\/\/|www\.)[^();\s]{1,300} ?[;)]/
const CRAWLERS_COMMENT = /(?:Safari|Firefox)\/[^(]{0,60}\(compatible;[^()]{0,300}\)\s{0,9}$/

export function hasCrawlersComment(text: string): boolean {
  return LINK_ALONE.test(text) || CRAWLERS_COMMENT.test(text)
}

/** Distinguishes Chrome from a WebView: `wv`, or a browser version before Chrome's, marks a WebView, and on iOS it names no Chrome. */
function isChromeOfPhone(text: string): boolean {
  return text.includes('Chrome/') && /Android|iPhone|iPad/.test(text) && !isEmbedded(text)
}

/** Reports whether a browser runs inside another program of Android. */
export function isEmbedded(text: string): boolean {
  return text.includes('; wv)') || (text.includes('Version/4.0') && text.includes('Chrome/'))
}

/** Reports whether a whole browser of Windows or of a Mac is named; servers run Linux. */
export function isBrowserOfDesk(text: string): boolean {
  const has = (part: string) => text.includes(part)
  const isWebKit = has('AppleWebKit/') && (has('Chrome/') || has('Safari/'))
  return DESK.test(text) && (isWebKit || (has('Gecko/') && has('Firefox/')) || has('MSIE ') || has('Trident/'))
}

/** Matches a game that calls by its number, through Steam's client on a player's machine; the service itself says its purpose. */
export const GAME_OF_STEAM = /^Valve\/Steam HTTP Client [\d.]+ \(\d+\)$/

/** Matches a mail program that names its engine as browsers do. It sends none of a browser's headers, and shows no page. */
export const MAIL_PROGRAM = /^Mozilla\/5\.0 \([^()]*\) Gecko\/20100101 Thunderbird\/[\d.]+(?: Lightning\/[\d.]+)?$/

const SAFARI_PRODUCTS: ReadonlySet<string> = new Set(['mozilla', 'applewebkit', 'version', 'mobile', 'safari'])

/** Reports whether a text names only Safari: no further product, and no comment at the end. */
export function isPlainSafari(text: string): boolean {
  const names = productNames(text)
  return names.includes('version') && names.every((name) => SAFARI_PRODUCTS.has(name)) && !/[)\]]$/.test(text)
}
