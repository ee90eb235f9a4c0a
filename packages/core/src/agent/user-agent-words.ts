import { AUTOMATION_WORDS, SURE_WORDS } from '@sallyport/data/automation'
import { isSmall, type Part, partsOf, placesOf } from './user-agent-parts.ts'

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
