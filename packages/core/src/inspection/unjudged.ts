import { counted } from '../counted.ts'
import type { Unjudged } from '../values/decision.ts'

/** A rule that some requests leave open, because what keeps them lacks what it asks. */
export interface UnjudgedRule extends Unjudged {
  /** Requests that leave it open. */
  readonly requests: number
}

/** Counts requests that leave rules open. */
export interface UnjudgedCount {
  add(unjudged: readonly Unjudged[]): void
  /** Those of other requests. */
  merge(rules: readonly UnjudgedRule[]): void
  /** The rules, that which most requests leave open first. */
  readonly rules: readonly UnjudgedRule[]
}

export function countUnjudged(): UnjudgedCount {
  const found = new Map<string, { readonly words: Set<string>; requests: number }>()
  const addTo = (rule: string, words: readonly string[], requests: number): void => {
    const row = found.get(rule) ?? { words: new Set<string>(), requests: 0 }
    found.set(rule, row)
    for (const word of words) row.words.add(word)
    row.requests += requests
  }
  return {
    add(unjudged) {
      for (const { rule, words } of unjudged) addTo(rule, words, 1)
    },
    merge(rules) {
      for (const { rule, words, requests } of rules) addTo(rule, words, requests)
    },
    get rules() {
      const rows = [...found].map(([rule, { words, requests }]) => ({ rule, words: [...words], requests }))
      return rows.sort((one, other) => other.requests - one.requests)
    },
  }
}

/** Rules of which a note names each. */
const MAX_NAMED = 10

/** Notes of what `source` lacks: `Rule session is not judged in 30 of 40 requests: the log has no cookie.` */
export function unjudgedNotes(rules: readonly UnjudgedRule[], requests: number, source: string): readonly string[] {
  const notes = rules
    .slice(0, MAX_NAMED)
    .map(
      ({ rule, words, requests: open }) =>
        `Rule ${rule} is not judged in ${open} of ${counted(requests, 'request')}: ${source} has no ${words.join(', ')}.`,
    )
  const left = rules.length - MAX_NAMED
  return left > 0 ? [...notes, `${counted(left, 'rule')} more ${left === 1 ? 'is' : 'are'} not judged in some.`] : notes
}
