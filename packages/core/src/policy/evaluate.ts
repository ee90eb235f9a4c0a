import type { Inspection } from '../values/inspection.ts'
import type { Reason } from '../values/reason.ts'
import type { Action, Degraded } from '../vocabulary.ts'

/** Whether one member of a rule's match holds; `fields` are the raw header fields of the request. */
export type Test = (inspection: Inspection, fields: readonly string[]) => boolean

/** What a rule does where it matches, with the sentence about it. */
export interface MatchedRule {
  readonly id: string
  readonly action: Action
  readonly reason: Reason
}

/** A rule that was checked. */
export interface CompiledRule {
  readonly onTrial: boolean
  /** Tests of the network and the country: they need data. */
  readonly data: readonly Test[]
  readonly others: readonly Test[]
  readonly matched: MatchedRule
  /** Of a rule with `onError` that needs data: what it does where that is not loaded. */
  readonly unanswered?: { readonly needs: readonly Degraded[]; readonly matched: MatchedRule }
}

export interface Evaluation {
  readonly decided: MatchedRule
  /** The rules on trial that match before the deciding one, in order. */
  readonly trials: readonly MatchedRule[]
}

const NO_TRIALS: readonly MatchedRule[] = Object.freeze([])

/** The first rule that matches and is not on trial decides, else `fallback`. */
export function evaluate(
  { rules, fallback }: { readonly rules: readonly CompiledRule[]; readonly fallback: MatchedRule },
  inspection: Inspection,
  fields: readonly string[],
): Evaluation {
  let trials = NO_TRIALS
  for (const rule of rules) {
    const matched = matchOf(rule, inspection, fields)
    if (matched === undefined) continue
    if (!rule.onTrial) return { decided: matched, trials }
    trials = [...trials, matched]
  }
  return { decided: fallback, trials }
}

function matchOf(rule: CompiledRule, inspection: Inspection, fields: readonly string[]): MatchedRule | undefined {
  if (!holds(rule.others, inspection, fields)) return undefined
  const { unanswered } = rule
  if (unanswered?.needs.some((need) => inspection.degraded.includes(need))) return unanswered.matched
  return holds(rule.data, inspection, fields) ? rule.matched : undefined
}

function holds(tests: readonly Test[], inspection: Inspection, fields: readonly string[]): boolean {
  for (const test of tests) if (!test(inspection, fields)) return false
  return true
}
