import { AUTOMATION_WORDS, SURE_WORDS } from '@sallyport/data/automation'
import {
  apartFromProducts,
  isKnownProduct,
  isPhoneApplication,
  isSmall,
  type Part,
  partsOf,
  placesOf,
  productNames,
} from './user-agent-parts.ts'

/** The word by which a program calls itself one, wherever it is. */
export function wordIn(text: string): string | undefined {
  const lower = text.toLowerCase()
  return AUTOMATION_WORDS.find(
    (word) => lower.includes(word) && (word.length > SHORT_WORD || endsName(text, word, false)),
  )
}

/** A link as makers of browsers add one; crawlers write `+` before theirs. */
const PLAIN_LINK = /(?<![+\w])(?:https?:\/\/|www\.)[^\s;,()[\]]+/g

/**
 * The same beside a whole browser of a desk: an application adds its name, version and page to that as a program does, so in such a
 * name or link only words count that are of programs alone.
 */
export function wordBesideBrowser(text: string): string | undefined {
  const { products, rest } = apartFromProducts(text)
  return wordBesideLinks(rest, text) ?? firstOf(products, sureWordIn)
}

/** A link beside a product that is no browser's is of who sends that. */
function wordBesideLinks(part: string, whole: string): string | undefined {
  if (!productNames(whole).every(isKnownProduct)) return wordIn(part)
  return wordIn(part.replace(PLAIN_LINK, '')) ?? sureWordIn(part)
}

/**
 * The same in a user agent that names a device: words are in the names of devices and of applications there too, so in the
 * name of a product only those count that are of programs alone, and in what describes the device none does.
 */
export function wordBesideDevice(text: string): string | undefined {
  const ofLink = isPhoneApplication(text) ? sureWordIn : (name: string) => wordBesideLinks(name, text)
  return firstOf(withoutNameParts(partsOf(text)), (part) => wordInPart(part, ofLink))
}

/** Without words that go on to a product that is no browser's: `Robot Vacuum/2.0` is a vacuum, its last word says what it is. */
function withoutNameParts(parts: readonly Part[]): readonly Part[] {
  let inName = false
  return parts
    .toReversed()
    .filter(({ role, name, goesOn }) => {
      inName = role === 'product' ? !isKnownProduct(name) : inName && role === 'word' && goesOn
      return role !== 'word' || !inName
    })
    .toReversed()
}

function firstOf<T>(values: readonly T[], wordOf: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const word = wordOf(value)
    if (word !== undefined) return word
  }
  return undefined
}

function wordInPart({ role, name }: Part, ofLink: (name: string) => string | undefined): string | undefined {
  switch (role) {
    case 'claim':
      return wordIn(name)
    case 'link':
      return ofLink(name)
    case 'product':
      return sureWordIn(name)
    case 'word':
      return sureWordIn(name) ?? brandIn(name) ?? lastWordOf(name)
    case 'description':
      return undefined
  }
}

/** Words of so few letters are in many others: they count where they end a name. */
const SHORT_WORD = 3

/** Names of applications begin with these too: they count where they end a name. */
const NAMES_TOO: readonly string[] = ['spider', 'lighthouse']

/** Other words begin with these: `Slurpee` is no program. */
const ENDS_NAME: readonly string[] = [...NAMES_TOO, 'slurp']

/** A word of its own, which holds one of a program's. */
const SKYSCRAPER = /skyscraper/gi

function sureWordIn(name: string): string | undefined {
  const own = name.replace(SKYSCRAPER, '')
  const lower = own.toLowerCase()
  return SURE_WORDS.find((word) => lower.includes(word) && isSureIn(own, word))
}

function isSureIn(name: string, word: string): boolean {
  if (word.startsWith('-')) return name.toLowerCase().endsWith(word)
  return (word.length > SHORT_WORD && !ENDS_NAME.includes(word)) || endsName(name, word, true)
}

const BRAND = 'google-'

/** `Google-Ads-Overview`: without a version it is the company's own; others name what they made for it (`google-chat-linux/5`). */
function brandIn(name: string): string | undefined {
  return name.toLowerCase().includes(BRAND) ? BRAND : undefined
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
