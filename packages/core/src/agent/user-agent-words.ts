import { AUTOMATION_WORDS, SURE_WORDS } from '@sallyport/data/automation'
import {
  apartFromProducts,
  findPlaces,
  isKnownProduct,
  isPhoneApplication,
  isSmall,
  type Part,
  productNames,
  splitParts,
} from './user-agent-parts.ts'

/** Finds a word by which a program calls itself one, anywhere in the text. */
export function wordIn(text: string): string | undefined {
  const lower = text.toLowerCase()
  return AUTOMATION_WORDS.find(
    (word) => lower.includes(word) && (word.length > SHORT_WORD || endsName(text, word, false)),
  )
}

/** Matches a link as makers of browsers add it; crawlers write `+` before theirs. */
const PLAIN_LINK = /(?<![+\w])(?:https?:\/\/|www\.)[^\s;,()[\]]+/g

/**
 * Finds such a word beside a whole desktop browser. Applications add their name, version and page there as programs do, so in such a name
 * or link only words that programs alone use count.
 */
export function wordBesideBrowser(text: string): string | undefined {
  const { products, rest } = apartFromProducts(text)
  return wordBesideLinks(rest, text) ?? findFirst(products, sureWordIn)
}

/** A link beside a product that is no browser's belongs to the sender of that product. */
function wordBesideLinks(part: string, whole: string): string | undefined {
  if (!productNames(whole).every(isKnownProduct)) return wordIn(part)
  return wordIn(part.replace(PLAIN_LINK, '')) ?? sureWordIn(part)
}

/**
 * Finds such a word in a user agent that names a device. Names of devices and applications contain such words too: in the name of a product
 * only words that programs alone use count, and in the description of the device no word counts.
 */
export function wordBesideDevice(text: string): string | undefined {
  const ofLink = isPhoneApplication(text) ? sureWordIn : (name: string) => wordBesideLinks(name, text)
  return findFirst(withoutNameParts(splitParts(text)), (part) => wordInPart(part, ofLink))
}

/** Drops words that lead to a product that is no browser's: in `Robot Vacuum/2.0` the last word says what the product is. */
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

function findFirst<T>(values: readonly T[], readWord: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const word = readWord(value)
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
      return sureWordIn(name) ?? brandIn(name) ?? lastWord(name)
    case 'description':
      return undefined
  }
}

/** Many other words contain words of so few letters: these count where they end a name. */
const SHORT_WORD = 3

/** Names of applications begin with these too: they count where they end a name. */
const NAMES_TOO: readonly string[] = ['spider', 'lighthouse']

/** Other words begin with these: `Slurpee` is no program. */
const ENDS_NAME: readonly string[] = [...NAMES_TOO, 'slurp']

/** This ordinary word contains a program's word. */
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

/** `Google-Ads-Overview`: without a version it is the company's own; other makers add one (`google-chat-linux/5`). */
function brandIn(name: string): string | undefined {
  return name.toLowerCase().includes(BRAND) ? BRAND : undefined
}

/** Finds a whole word at the end, as programs write their names and applications do not: `Site-Agent`, `mixed-content-scan`. */
function lastWord(name: string): string | undefined {
  const [last = '', ...before] = name.toLowerCase().split('-').reverse()
  return before.length > 0 && AUTOMATION_WORDS.includes(last) ? last : undefined
}

/**
 * Accepts `Foobot`, `foo-bots/1`, `FooBotMobile`; not `Botany`, nor `BOTECH`. Beside a device it rejects `CUBOT` too, because makers write
 * their names in capitals, and `iRobotHome` and `SpiderSolitaire`, which are names of applications.
 */
function endsName(text: string, word: string, besideDevice: boolean): boolean {
  const lower = text.toLowerCase()
  const isCapital = (at: number) => isSmall(lower[at]) && text[at] !== lower[at]
  return findPlaces(lower, word).some((at) => {
    const last = at + word.length - 1
    const end = lower[last + 1] === 's' ? last + 2 : last + 1
    const isPartOfName = besideDevice && (NAMES_TOO.includes(word) || lower.slice(0, at).endsWith('ro'))
    const goesOn = isSmall(lower[end]) && (!isCapital(end) || isCapital(last) || isPartOfName)
    return !goesOn && !(besideDevice && isCapital(at - 1) && isCapital(at) && isCapital(last))
  })
}

/** Matches `AI`, `LLM` or `GPT` as a word of a name: `Foo-AI/1`, `KlaviyoAIBot`; not `MAIL`, nor `Air`. */
const AI_WORD =
  /(?<![A-Za-z])AI(?![a-z])|(?<=[a-z])AI(?![a-z])|AI(?=Bot|Crawler|Spider|Agent|Scraper|Search)|(?<![A-Z])(?:LLM|GPT)(?![a-z])/

/** Returns the AI that a program calls itself, by its name or by a site of `.ai` that it names; it need not be known. */
export function describedAi(text: string): { readonly name: string; readonly vendor: string } | undefined {
  const hosts = [...text.matchAll(/(?:\/\/|www\.|@)([\w.-]+)/g)].map((match) => match[1]?.toLowerCase() ?? '')
  const host = hosts.find((name) => name.endsWith('.ai'))
  const name = text.split(/[\s/();,+]/).find((word) => AI_WORD.test(word)) ?? host
  return name === undefined ? undefined : { name, vendor: host?.replace(/^www\./, '') ?? 'unknown' }
}

/** Returns the first mail address; an `@` before a version or a name does not count. */
export function mailAddressIn(text: string): string | undefined {
  return text.split(/[\s()[\]<>;,]/).find((word) => /^[^@]*@[a-z0-9-]+\.[a-z][a-z]/i.test(word))
}
