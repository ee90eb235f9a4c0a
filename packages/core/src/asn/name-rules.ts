import type { OrganisationRule } from '@sallyport/data/organisation-names'

/** A word of a phrase matches a whole token, the start of a token (`telekom*`) or its end (`*hosting`). */
type Word =
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'start'; readonly text: string }
  | { readonly kind: 'end'; readonly text: string }

interface Phrase {
  readonly words: readonly Word[]
  /** The bit shows which rule this phrase matches or vetoes. */
  readonly bit: number
  readonly veto: boolean
}

/** The first or last three letters lead to a phrase: a wildcard's stem has at least that many. */
const STEM = 3
/** Each rule is a bit of one 32-bit number. */
const MAX_RULES = 31

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

/**
 * Folds a name to lower case without accents. Tokens are runs of letters and digits; in a name beyond ASCII every other character becomes a
 * space.
 */
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

function isPart(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code > 127
}

/**
 * Compiles the rules into one function from a name to the first rule that matches: the name contains a phrase of `words` and no phrase of
 * `unless`. Phrases are whole tokens in sequence, so "Automobile" never matches "mobile". Throws a `RangeError` for a rule set that cannot
 * be compiled (a bug in the facts, found by the tests).
 */
export function compileNameRules(rules: readonly OrganisationRule[]): (name: string) => OrganisationRule | undefined {
  if (rules.length > MAX_RULES) throw new RangeError(`at most ${MAX_RULES} name rules`)
  // Each compilation reads a hundred thousand names: three letters lead to the phrases, without a text for each token, and only these are
  // compared.
  const heads: (Phrase[] | undefined)[] = new Array(SHELVES).fill(undefined)
  const tails: (Phrase[] | undefined)[] = new Array(SHELVES).fill(undefined)
  const index = (text: string, bit: number, veto: boolean): void => {
    const words = text.split(' ').map(readWord)
    const { kind, text: first } = words[0] as Word
    const shelf = kind === 'end' ? tails : heads
    const key = kind === 'end' ? stemKey(first, first.length - STEM, first.length) : stemKey(first, 0, first.length)
    const phrases = shelf[key] ?? []
    shelf[key] = phrases
    phrases.push({ words, bit, veto })
  }
  for (const [number, rule] of rules.entries()) {
    for (const text of rule.words) index(text, 1 << number, false)
    for (const text of rule.unless) index(text, 1 << number, true)
  }

  return (name) => {
    const text = foldTokens(name)
    const tokens = readTokens(text)
    let matched = 0
    let vetoed = 0
    const visit = (phrases: readonly Phrase[] | undefined, at: number): void => {
      if (phrases === undefined) return
      for (const { words, bit, veto } of phrases) {
        if (((veto ? vetoed : matched) & bit) !== 0 || !fits(words, text, tokens, at)) continue
        if (veto) vetoed |= bit
        else matched |= bit
      }
    }
    for (let at = 0; at < tokens.length; at += 2) {
      const start = tokens[at] as number
      const end = tokens[at + 1] as number
      visit(heads[stemKey(text, start, end)], at)
      if (end - start >= STEM) visit(tails[stemKey(text, end - STEM, end)], at)
    }
    const left = matched & ~vetoed
    return left === 0 ? undefined : rules[31 - Math.clz32(left & -left)]
  }
}

/** Returns the start and end of each token, by turns. */
function readTokens(text: string): readonly number[] {
  const tokens: number[] = []
  let start = -1
  for (let at = 0; at < text.length; at++) {
    const isIn = isPart(text.charCodeAt(at))
    if (isIn && start === -1) start = at
    else if (!isIn && start !== -1) {
      tokens.push(start, at)
      start = -1
    }
  }
  if (start !== -1) tokens.push(start, text.length)
  return tokens
}

const SHELVES = 2 ** 15

/** Reads at most three letters as one number, five bits each. Different letters may share a number: phrases are compared after. */
function stemKey(text: string, start: number, end: number): number {
  let key = 0
  for (let at = start; at < start + STEM; at++) key = (key << 5) | (at < end ? text.charCodeAt(at) & 31 : 0)
  return key
}

function readWord(text: string): Word {
  const stem = text.replaceAll('*', '')
  const word: Word = text.endsWith('*')
    ? { kind: 'start', text: stem }
    : text.startsWith('*')
      ? { kind: 'end', text: stem }
      : { kind: 'whole', text }
  if (stem === '' || (word.kind !== 'whole' && stem.length < STEM)) throw new RangeError(`not a name pattern: ${text}`)
  return word
}

function fits(words: readonly Word[], text: string, tokens: readonly number[], at: number): boolean {
  if (at + words.length * 2 > tokens.length) return false
  for (let word = 0; word < words.length; word++) {
    const { kind, text: sought } = words[word] as Word
    const start = tokens[at + word * 2] as number
    const end = tokens[at + word * 2 + 1] as number
    const rest = end - start - sought.length
    if (kind === 'whole' ? rest !== 0 : rest < 0) return false
    if (!text.startsWith(sought, kind === 'end' ? end - sought.length : start)) return false
  }
  return true
}
