import { DEVICE_WORDS, ENGINE_PARTS, PLATFORM_PARTS } from '@sallyport/data/automation'
import {
  isClaim,
  isKnownProduct,
  isSmall,
  nameOf,
  placesOf,
  productNames,
  withoutComments,
} from './user-agent-parts.ts'

const ENGINES = ENGINE_PARTS.map((part) => part.toLowerCase())
const PARTS = [...PLATFORM_PARTS.map((part) => part.toLowerCase()), ...ENGINES]

/** `SH03B`, `K222s`, `TPS-320`, as makers name models, and not `X11`, `WOW64`, `IE11`, `OS X 10_15`: programs are seldom named so. */
const MODEL =
  /(?:^|[\s(;/_-])(?!X11|X 1\d_|WOW64|SV\d|IE\d|WAP|XP|NT|V\d)[A-Z]{1,5}[-_ ]?\d{2,5}[A-Za-z]{0,4}(?=[\s;()/_-]|$)/

/** A name before a system that people have on their desks: `Word/16.1 (Mac OS/10.11; Desktop)`. */
const DESKTOP_APP = /^[^(]+\((?:Macintosh|Mac OS|macOS|Windows NT|Windows 1)/

/**
 * Whether one that is written as no browser writes it may be a person's all the same: it names a model as makers do, a player or
 * a phone, or is an application's of a desktop.
 */
export function mayBeOwned(text: string): boolean {
  if (text.includes('AppleWebKit')) return false
  const lower = text.toLowerCase()
  const isNamed = !lower.includes('compatible') && DEVICE_WORDS.some((word) => lower.includes(word))
  return isNamed || MODEL.test(text) || (!text.includes('Mozilla') && DESKTOP_APP.test(text))
}

/** `Mozilla/5.0 Name/1.0`: neither a machine nor an engine, of which every browser names one. */
export function isBareMozilla(text: string): boolean {
  return text.toLowerCase().startsWith('mozilla') && !hasPart(PARTS, text)
}

/** `Mozilla/5.0 (Windows NT 10.0; Win64; x64)`: a desk, and behind it neither an engine nor an application with its version. */
export function isDeskAlone(text: string): boolean {
  if (!/^Mozilla\/5\.0 \((?:Windows|Macintosh|X11)/i.test(text) || hasPart(ENGINES, text)) return false
  const [, ...behind] = withoutComments(text).split(' ')
  return !behind.some((word) => word.includes('/') || isKnownProduct(word))
}

/** Whether one of the parts is a word, or one within a name that is written together (`AppleWebKit`, `FreeBSD`): not in `Winner`. */
function hasPart(parts: readonly string[], text: string): boolean {
  const lower = text.toLowerCase()
  // A letter goes on the word before it, but for a capital behind a small one.
  const goesOn = (at: number) =>
    isSmall(lower[at - 1]) && isSmall(lower[at]) && !(isSmall(text[at - 1]) && !isSmall(text[at]))
  return parts.some((part) => placesOf(lower, part).some((at) => !goesOn(at) && !goesOn(at + part.length)))
}

/** A name after `compatible` that is no old browser's, or one after `like Gecko`. */
export function isBareCompatible(text: string): boolean {
  return (text.startsWith('Mozilla/5.0 (') && isClaim(text.slice(13, 53))) || /like Gecko[;,] (?!Safari)/.test(text)
}

/** Whether a product that is no browser's and no application's is written beside a whole browser's. */
export function hasUnknownProduct(text: string): boolean {
  return productNames(text).some((name) => !isKnownProduct(name))
}

/** Products of the engine and of Chrome itself: another one that is known is another browser's, or an application's that a browser is built into. */
const CHROME_PRODUCTS: ReadonlySet<string> = new Set(['mozilla', 'applewebkit', 'chrome', 'safari'])

/**
 * Whether a name that is no browser's and no application's stands beside a plain Chrome, or its engine, of desktop Linux: servers run one, and of
 * people's hardly any has another name.
 */
export function isRenamedOnServer(text: string): boolean {
  if (!text.startsWith('Mozilla/5.0 (X11; Linux') || !text.includes('AppleWebKit/')) return false
  const further = productNames(text).filter((name) => !CHROME_PRODUCTS.has(name))
  return further.length > 0 && !further.some(isKnownProduct)
}

const DESK = /^Mozilla\/[^(]*\((?:Windows|Macintosh|compatible; MSIE)/

/**
 * Whether a name that is no browser's is added after a mark behind a whole browser's, as programs do: `Safari/537.36; Name`. A
 * device's WebView has there whatever its application wrote; a phone's Chrome itself has nothing.
 */
export function goesOnAfterMark(text: string, besideDevice: boolean): boolean {
  if (besideDevice && !isChromeOfPhone(text)) return false
  const words = withoutComments(text).split(' ')
  const at = words.findIndex((word) => word.includes(';') && /^(?:Safari|Firefox)\//.test(word))
  if (at === -1) return false
  const [, ...behind] = words.slice(at).join(' ').split(';')
  const name = nameOf(behind.join(' ').trim())
  return name !== '' && !isKnownProduct(name)
}

/** A WebView is marked: by `wv`, by the version of the browser before Chrome, and on iOS it is none of Chrome. */
function isChromeOfPhone(text: string): boolean {
  return text.includes('Chrome/') && /Android|iPhone|iPad/.test(text) && !isEmbedded(text)
}

/** A browser inside another program, of Android. */
export function isEmbedded(text: string): boolean {
  return text.includes('; wv)') || (text.includes('Version/4.0') && text.includes('Chrome/'))
}

/** Whether it is a whole browser's of Windows or of a Mac; servers run Linux. */
export function isBrowserOfDesk(text: string): boolean {
  const has = (part: string) => text.includes(part)
  const isWebKit = has('AppleWebKit/') && (has('Chrome/') || has('Safari/'))
  return DESK.test(text) && (isWebKit || (has('Gecko/') && has('Firefox/')) || has('MSIE ') || has('Trident/'))
}

/** Whether a game asks by its number, through Steam's client on a player's machine; the service itself says what for. */
export function isGameOfSteam(text: string): boolean {
  return /^Valve\/Steam HTTP Client [\d.]+ \(\d+\)$/.test(text)
}

const MAIL_PROGRAM = /^Mozilla\/5\.0 \([^()]*\) Gecko\/20100101 Thunderbird\/[\d.]+(?: Lightning\/[\d.]+)?$/

/** Whether it is a mail program that names its engine as browsers do. It sends none of a browser's headers, and shows no page. */
export function isMailProgram(text: string): boolean {
  return MAIL_PROGRAM.test(text)
}

const SAFARI_PRODUCTS: ReadonlySet<string> = new Set(['mozilla', 'applewebkit', 'version', 'mobile', 'safari'])

/** Whether it names Safari, and nothing beside it: no further product, and no comment at the end. */
export function isPlainSafari(text: string): boolean {
  const names = productNames(text)
  return names.includes('version') && names.every((name) => SAFARI_PRODUCTS.has(name)) && !/[)\]]$/.test(text)
}
