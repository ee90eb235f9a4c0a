import { counted } from '../counted.ts'
import type { Unjudged } from '../values/decision.ts'

/** Some requests leave this rule open, because their source lacks what the rule reads. */
export interface UnjudgedRule extends Unjudged {
  /** Counts the requests that leave it open. */
  readonly requests: number
}

/** Counts requests that leave rules open. */
export function countUnjudged() {
  const found = new Map<string, { readonly words: Set<string>; requests: number }>()
  const addTo = (rule: string, words: readonly string[], requests: number): void => {
    const row = found.get(rule) ?? { words: new Set<string>(), requests: 0 }
    found.set(rule, row)
    for (const word of words) row.words.add(word)
    row.requests += requests
  }
  return {
    add(unjudged: readonly Unjudged[]): void {
      for (const { rule, words } of unjudged) addTo(rule, words, 1)
    },
    /** Adds the counts of other requests. */
    merge(rules: readonly UnjudgedRule[]): void {
      for (const { rule, words, requests } of rules) addTo(rule, words, requests)
    },
    /** Lists the rules; the one that most requests leave open comes first. */
    get rules(): readonly UnjudgedRule[] {
      const rows = [...found].map(([rule, { words, requests }]) => ({ rule, words: [...words], requests }))
      return rows.sort((one, other) => other.requests - one.requests)
    },
  }
}

/** Limits the rules that a note names, and the notes. */
const MAX_NAMED = 10

/**
 * Writes what `source` lacks, once for all rules that need the same: `Rule session is not judged in 30 of 40 requests: the log has no
 * cookie.`
 */
export function unjudgedNotes(rules: readonly UnjudgedRule[], requests: number, source: string): readonly string[] {
  const alike = new Map<string, UnjudgedRule[]>()
  for (const row of rules) {
    const lack = row.words.join(', ')
    alike.set(lack, [...(alike.get(lack) ?? []), row])
  }
  const notes = [...alike].map(
    ([lack, rows]) => `${writeSubject(rows)} of ${counted(requests, 'request')}: ${source} has no ${lack}.`,
  )
  const left = notes.length - MAX_NAMED
  if (left <= 0) return notes
  return [...notes.slice(0, MAX_NAMED), `${counted(left, 'note')} of this kind ${left === 1 ? 'is' : 'are'} left out.`]
}

/** Writes `Rule a is not judged in 30`, or `Rules a, b and 3 more are not judged in up to 30`; the first has the most requests. */
function writeSubject(rows: readonly UnjudgedRule[]): string {
  const most = (rows[0]?.requests ?? 0).toLocaleString('en-US')
  if (rows.length === 1) return `Rule ${rows[0]?.rule} is not judged in ${most}`
  const named = rows.slice(0, MAX_NAMED).map(({ rule }) => rule)
  const more = rows.length > MAX_NAMED ? ` and ${rows.length - MAX_NAMED} more` : ''
  return `Rules ${named.join(', ')}${more} are not judged in up to ${most}`
}
