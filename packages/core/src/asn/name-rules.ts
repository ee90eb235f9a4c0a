import type { OrganisationRule } from '@sallyport/data/organisation-names'

/** One word of a phrase: a whole token, the start of one (`telekom*`) or the end of one (`*hosting`). */
type Word =
  | { readonly kind: 'whole'; readonly text: string }
  | { readonly kind: 'start'; readonly text: string }
  | { readonly kind: 'end'; readonly text: string }

interface Phrase {
  readonly words: readonly Word[]
  /** Bit of the rule that this phrase speaks for, or that it forbids. */
  readonly bit: number
  readonly veto: boolean
}

/** Wildcard stems are found through their first or last three letters, so they have at least that many. */
const STEM = 3
/** Rules are bits of one 32-bit number. */
const MOST_RULES = 31

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

/** The tokens of a name: lower case, without accents, split at everything that is neither letter nor digit. */
export function tokensOf(name: string): readonly string[] {
  const lower = name.toLowerCase()
  if (!/[^ -~]/.test(lower)) return asciiTokens(lower)
  const folded = lower
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => FOLDED[letter] ?? letter)
  return folded.split(/[^\p{L}\p{N}]+/u).filter((token) => token !== '')
}

/** A hundred thousand names are read at each compile, nearly all of them plain: a split by pattern takes twice as long. */
function asciiTokens(lower: string): readonly string[] {
  const tokens: string[] = []
  let start = -1
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at)
    const isPart = (code >= 97 && code <= 122) || (code >= 48 && code <= 57)
    if (isPart && start === -1) start = at
    else if (!isPart && start !== -1) {
      tokens.push(lower.slice(start, at))
      start = -1
    }
  }
  if (start !== -1) tokens.push(lower.slice(start))
  return tokens
}

/**
 * Compiles the rules into one function from a name to the first rule that speaks for it: some phrase of `words` is in
 * the name and no phrase of `unless` is. Phrases are whole tokens in sequence, so "Automobile" never says "mobile".
 * Throws a `RangeError` for a rule set that cannot be compiled (a bug in the facts, met by the tests).
 */
export function compileNameRules(rules: readonly OrganisationRule[]): (name: string) => OrganisationRule | undefined {
  if (rules.length > MOST_RULES) throw new RangeError(`at most ${MOST_RULES} name rules`)
  const whole = new Map<string, Phrase[]>()
  const start = new Map<number, Phrase[]>()
  const end = new Map<number, Phrase[]>()
  const put = <Key>(shelf: Map<Key, Phrase[]>, key: Key, phrase: Phrase): void => {
    const phrases = shelf.get(key)
    if (phrases === undefined) shelf.set(key, [phrase])
    else phrases.push(phrase)
  }

  const index = (text: string, bit: number, veto: boolean): void => {
    const words = text.split(' ').map(readWord)
    const first = words[0] as Word
    const phrase = { words, bit, veto }
    if (first.kind === 'whole') put(whole, first.text, phrase)
    else if (first.kind === 'start') put(start, stemKey(first.text, 0), phrase)
    else put(end, stemKey(first.text, first.text.length - STEM), phrase)
  }
  for (const [number, rule] of rules.entries()) {
    for (const text of rule.words) index(text, 1 << number, false)
    for (const text of rule.unless) index(text, 1 << number, true)
  }

  return (name) => {
    const tokens = tokensOf(name)
    let said = 0
    let vetoed = 0
    const visit = (phrases: readonly Phrase[] | undefined, at: number): void => {
      if (phrases === undefined) return
      for (const { words, bit, veto } of phrases) {
        if (((veto ? vetoed : said) & bit) !== 0 || !fits(words, tokens, at)) continue
        if (veto) vetoed |= bit
        else said |= bit
      }
    }
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] as string
      visit(whole.get(token), at)
      if (token.length < STEM) continue
      visit(start.get(stemKey(token, 0)), at)
      visit(end.get(stemKey(token, token.length - STEM)), at)
    }
    const left = said & ~vetoed
    return left === 0 ? undefined : rules[31 - Math.clz32(left & -left)]
  }
}

/** Three letters as one number. Those of different letters may be equal: the phrase itself is compared after. */
function stemKey(text: string, at: number): number {
  return (
    ((text.charCodeAt(at) & 0x3ff) << 20) |
    ((text.charCodeAt(at + 1) & 0x3ff) << 10) |
    (text.charCodeAt(at + 2) & 0x3ff)
  )
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

function fits(words: readonly Word[], tokens: readonly string[], at: number): boolean {
  if (at + words.length > tokens.length) return false
  return words.every((word, offset) => {
    const token = tokens[at + offset] as string
    if (word.kind === 'whole') return token === word.text
    return word.kind === 'start' ? token.startsWith(word.text) : token.endsWith(word.text)
  })
}
