import { finish, STEP, type Steps } from '../../steps.ts'
import { listName, type Surroundings } from './surroundings.ts'
import { compilePatterns, isLiteral, type PatternTest } from './text-pattern.ts'

/**
 * Compiles patterns of user agents. A text without stars is a name: `GPTBot` is found as a word, regardless of case, as lists
 * of crawlers mean it. `=GPTBot` is the whole user agent; with `isWhole` every text is, so that no name within a longer one
 * earns a permission.
 */
export function compileAgents(given: readonly string[], surroundings: Surroundings, isWhole: boolean): PatternTest {
  const names = isWhole ? [] : given.filter(isName)
  const whole = compilePatterns(given.filter((pattern) => !names.includes(pattern)).map(bareAgent), surroundings)
  const lists = isWhole ? [] : given.flatMap((pattern) => surroundings.lists?.get(listName(pattern) ?? '') ?? [])
  const mentions = compileNames(names)
  return (text, folded = text.toLowerCase()) =>
    mentions(folded) || whole(text, folded) || lists.some((list) => list.mentions(folded))
}

/** A pattern without the mark of a whole user agent. */
export function bareAgent(pattern: string): string {
  return pattern.startsWith('=') ? pattern.slice(1) : pattern
}

/** Whether a pattern is the name of a program. A word of browsers would be found in the user agents of people. */
export function isName(pattern: string): boolean {
  const mentions = compileNames([pattern])
  return /^[a-z\d]/i.test(pattern) && isLiteral(pattern) && !BROWSERS.some((agent) => mentions(agent.toLowerCase()))
}

/** User agents of people's browsers, whose words are no names of programs. */
const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 Edg/1 OPR/1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:1) Gecko/20100101 Firefox/1',
  'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:1) Gecko/20100101 Firefox/1',
  'Mozilla/5.0 (Linux; Android 16; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/1 Chrome/1 Mobile Safari/537.36',
]

/** Finds a name in the lower case of a text, with neither a letter nor a digit beside it. */
type NameTest = (folded: string) => boolean

/** Names that are searched one after the other; more of them are looked up by their first words. */
const FEW_NAMES = 8

function compileNames(names: readonly string[]): NameTest {
  return finish(nameSteps(names))
}

/** Compiles a test for some names in steps, for very many of them. */
export function* nameSteps(names: readonly string[]): Steps<NameTest> {
  const byFirstWord = new Map<string, string[]>()
  for (let at = 0; at < names.length; at++) {
    if (at % STEP === STEP - 1) yield
    const name = (names[at] as string).toLowerCase()
    const word = WORD.exec(name)?.[0] ?? name
    const others = byFirstWord.get(word)
    if (others === undefined) byFirstWord.set(word, [name])
    else others.push(name)
  }
  const few = names.length <= FEW_NAMES ? [...byFirstWord.values()].flat() : undefined
  if (few !== undefined) return (folded) => few.some((name) => hasWord(folded, name))
  return (folded) => {
    for (const { 0: word, index } of folded.matchAll(WORDS)) {
      const found = byFirstWord.get(word) ?? []
      if (found.some((name) => folded.startsWith(name, index) && isEnd(folded, index + name.length))) return true
    }
    return false
  }
}

const WORD = /[a-z\d]+/
const WORDS = /[a-z\d]+/g

function hasWord(folded: string, name: string): boolean {
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + 1))
    if (isEnd(folded, at - 1) && isEnd(folded, at + name.length)) return true
  return false
}

/** Whether there is neither a letter nor a digit at a place. */
function isEnd(folded: string, at: number): boolean {
  return !/[a-z\d]/.test(folded.charAt(at))
}
