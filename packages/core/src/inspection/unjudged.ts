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

/** Names in a note, and notes. */
const MAX_NAMED = 10

/**
 * Notes of what `source` lacks, one for all rules that ask for the same: `Rule session is not judged in 30 of 40 requests: the log
 * has no cookie.`
 */
export function unjudgedNotes(rules: readonly UnjudgedRule[], requests: number, source: string): readonly string[] {
  const alike = new Map<string, UnjudgedRule[]>()
  for (const row of rules) {
    const lack = row.words.join(', ')
    alike.set(lack, [...(alike.get(lack) ?? []), row])
  }
  const notes = [...alike].map(
    ([lack, rows]) => `${subjectOf(rows)} of ${counted(requests, 'request')}: ${source} has no ${lack}.`,
  )
  const left = notes.length - MAX_NAMED
  if (left <= 0) return notes
  return [...notes.slice(0, MAX_NAMED), `${counted(left, 'note')} of this kind ${left === 1 ? 'is' : 'are'} left out.`]
}

/** `Rule a is not judged in 30`, `Rules a, b and 3 more are not judged in up to 30`; the first is that of the most requests. */
function subjectOf(rows: readonly UnjudgedRule[]): string {
  const most = (rows[0]?.requests ?? 0).toLocaleString('en-US')
  if (rows.length === 1) return `Rule ${rows[0]?.rule} is not judged in ${most}`
  const named = rows.slice(0, MAX_NAMED).map(({ rule }) => rule)
  const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : ''
  return `Rules ${named.join(', ')}${more} are not judged in up to ${most}`
}
