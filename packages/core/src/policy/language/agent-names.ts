import { finish, STEP, type Steps } from '../../steps.ts'
import { findLists, type Surroundings } from './surroundings.ts'
import { compilePatterns, isLiteral, type PatternTest } from './text-pattern.ts'

/**
 * Compiles patterns of user agents. A text without stars is a name: `GPTBot` is found as a word, regardless of case, as lists of crawlers
 * mean it. `=GPTBot` is the whole user agent; with `isWhole` every text is, so that no name within a longer one earns a permission.
 */
export function compileAgents(given: readonly string[], surroundings: Surroundings, isWhole: boolean): PatternTest {
  const names = isWhole ? [] : given.filter(isName)
  const whole = compilePatterns(given.filter((pattern) => !names.includes(pattern)).map(bareAgent), surroundings)
  const lists = isWhole ? [] : findLists(given, surroundings)
  const mentions = compileNames(names)
  return (text, folded = text.toLowerCase()) =>
    mentions(folded) || whole(text, folded) || lists.some((list) => list.mentions(folded))
}

/** Returns a pattern without the mark of a whole user agent. */
export function bareAgent(pattern: string): string {
  return pattern.startsWith('=') ? pattern.slice(1) : pattern
}

/** Reports whether a pattern names a program. A browser's word would be found in the user agents of people. */
export function isName(pattern: string): boolean {
  const mentions = compileNames([pattern])
  return (
    /^[^=]*[a-z\d]/i.test(pattern) && isLiteral(pattern) && !BROWSERS.some((agent) => mentions(agent.toLowerCase()))
  )
}

/** Words in these user agents of people's browsers, in lower case, are no names of programs. */
const BROWSERS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 Edg/1 OPR/1',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/1 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:1) Gecko/20100101 Firefox/1',
  'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:1) Gecko/20100101 Firefox/1',
  'Mozilla/5.0 (Linux; Android 16; K; wv) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/1 Chrome/1 Mobile Safari/537.36',
].map((agent) => agent.toLowerCase())

/** Finds a name in the lower case of a text, where it begins and ends as words do. */
type NameTest = (folded: string) => boolean

/** Limits the names that are searched one after the other; more are looked up by their first words. */
const FEW_NAMES = 8

function compileNames(names: readonly string[]): NameTest {
  return finish(nameSteps(names))
}

export function* nameSteps(names: readonly string[]): Steps<NameTest> {
  const byFirstWord = new Map<string, { readonly name: string; readonly before: number }[]>()
  for (let at = 0; at < names.length; at++) {
    if (at % STEP === STEP - 1) yield
    const name = (names[at] as string).toLowerCase()
    const { 0: word, index: before } = WORD.exec(name) ?? { 0: name, index: 0 }
    const others = byFirstWord.get(word)
    if (others === undefined) byFirstWord.set(word, [{ name, before }])
    else others.push({ name, before })
  }
  const few = names.length <= FEW_NAMES ? [...byFirstWord.values()].flat() : undefined
  if (few !== undefined) return (folded) => few.some(({ name }) => hasWord(folded, name))
  return (folded) => {
    for (const { 0: word, index } of folded.matchAll(WORDS)) {
      const found = byFirstWord.get(word) ?? []
      const isFound = found.some(({ name, before }) => {
        const at = index - before
        return at >= 0 && folded.startsWith(name, at) && isEdge(folded, at) && isEdge(folded, at + name.length)
      })
      if (isFound) return true
    }
    return false
  }
}

const WORD = /[a-z\d]+/
const WORDS = /[a-z\d]+/g

function hasWord(folded: string, name: string): boolean {
  for (let at = folded.indexOf(name); at >= 0; at = folded.indexOf(name, at + 1))
    if (isEdge(folded, at) && isEdge(folded, at + name.length)) return true
  return false
}

/** Reports whether no word continues at a place: it has not both before and behind it letters or digits. */
function isEdge(folded: string, at: number): boolean {
  return !/[a-z\d]{2}/.test(folded.slice(Math.max(at - 1, 0), at + 1))
}
