import type { OrganisationRule } from '@sallyport/data/organisation-names'

/** A phrase of a rule begins here if its words fit the tokens in sequence. */
interface Phrase {
  readonly words: readonly ((token: string) => boolean)[]
  readonly rule: OrganisationRule
  readonly vetoes: boolean
}

/** The first or last three letters lead to a phrase: a wildcard's stem has at least that many. */
const STEM = 3

const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
}

/** Folds a name to lower case without accents. Beyond ASCII, all characters but letters and digits become spaces. */
function foldTokens(name: string): string {
  const lower = name.toLowerCase()
  if (!/[^ -~]/.test(lower)) return lower
  return lower
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => FOLDED[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
}

const TOKENS = /[a-z0-9\x80-\uffff]+/g

/**
 * Compiles the rules into one function from a name to the first rule that matches: the name contains a phrase of `words` and no phrase of
 * `unless`. Phrases are whole tokens in sequence, so "Automobile" never matches "mobile". Throws a `RangeError` for a rule set that cannot
 * be compiled (a bug in the facts, found by the tests).
 */
export function compileNameRules(rules: readonly OrganisationRule[]): (name: string) => OrganisationRule | undefined {
  const heads = new Map<string, Phrase[]>()
  const tails = new Map<string, Phrase[]>()
  const index = (rule: OrganisationRule, text: string, vetoes: boolean): void => {
    const [first = ''] = text.split(' ', 1)
    const shelf = first.startsWith('*') ? tails : heads
    const key = first.startsWith('*') ? first.slice(-STEM) : first.replace('*', '').slice(0, STEM)
    shelf.set(key, [...(shelf.get(key) ?? []), { words: text.split(' ').map(readWord), rule, vetoes }])
  }
  for (const rule of rules) {
    for (const text of rule.words) index(rule, text, false)
    for (const text of rule.unless) index(rule, text, true)
  }

  return (name) => {
    const tokens = foldTokens(name).match(TOKENS) ?? []
    const matched = new Set<OrganisationRule>()
    const vetoed = new Set<OrganisationRule>()
    const visit = (phrases: readonly Phrase[] = [], at: number): void => {
      for (const { words, rule, vetoes } of phrases) {
        const found = vetoes ? vetoed : matched
        if (!found.has(rule) && words.every((fits, next) => fits(tokens[at + next] ?? ''))) found.add(rule)
      }
    }
    tokens.forEach((token, at) => {
      visit(heads.get(token.slice(0, STEM)), at)
      visit(tails.get(token.slice(-STEM)), at)
    })
    return matched.size === 0 ? undefined : rules.find((rule) => matched.has(rule) && !vetoed.has(rule))
  }
}

/** Reads a word, which matches a whole token, the start of a token (`telekom*`) or its end (`*hosting`). */
function readWord(text: string): (token: string) => boolean {
  const stem = text.replaceAll('*', '')
  if (stem === '' || (stem !== text && stem.length < STEM)) throw new RangeError(`not a name pattern: ${text}`)
  if (text.endsWith('*')) return (token) => token.startsWith(stem)
  return text.startsWith('*') ? (token) => token.endsWith(stem) : (token) => token === stem
}
