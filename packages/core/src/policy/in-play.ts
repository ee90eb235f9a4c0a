import type { Inspection } from '../values/inspection.ts'
import type { Reason } from '../values/reason.ts'
import type { Action, Degraded } from '../vocabulary.ts'
import type { AgentTest, NetworkTest, PlaceTest, RequestTest, Subject } from './match.ts'

/** What is left of a policy for one subject; good for any number of requests. */
export interface RulesInPlay {
  /** Nothing that is left asks about the request: each is decided like any other. */
  readonly settled: boolean
  readonly inForce: readonly Candidate[]
  readonly onTrial: readonly Candidate[]
  readonly fallback: MatchedRule
}

/** A rule of which the subject is no obstacle: what it decides where its tests of the request hold. */
export interface Candidate {
  readonly matched: MatchedRule
  readonly request: readonly RequestTest[]
}

export interface MatchedRule {
  readonly id: string
  readonly action: Action
  /** The sentence about this rule, made once. */
  readonly reason: Reason
  /** Its place among all rules. */
  readonly place: number
}

/** A rule that was checked, its tests sorted by what they ask about. */
export interface CompiledRule {
  readonly monitor: boolean
  readonly network: readonly NetworkTest[]
  readonly place: readonly PlaceTest[]
  readonly agent: readonly AgentTest[]
  readonly candidate: Candidate
  /** There for a rule with `onError` that asks about data. */
  readonly unanswered?: { readonly needs: readonly Degraded[]; readonly candidate: Candidate }
}

/** The first rule that matches and is not on trial, else the policy's default. */
export function firstMatch(
  { inForce, fallback }: RulesInPlay,
  inspection: Inspection,
  fields: readonly string[],
): MatchedRule {
  return firstOf(inForce, inspection, fields) ?? fallback
}

/** The rules on trial that match and come before another rule, in order. */
export function matchesOnTrial(
  { onTrial }: RulesInPlay,
  inspection: Inspection,
  fields: readonly string[],
  before: MatchedRule,
): readonly MatchedRule[] {
  if (onTrial.length === 0) return NONE
  const matched: MatchedRule[] = []
  for (const candidate of onTrial) {
    if (candidate.matched.place > before.place) break
    if (isRequest(candidate.request, inspection, fields)) matched.push(candidate.matched)
  }
  return matched
}

const NONE: readonly MatchedRule[] = Object.freeze([])

function firstOf(
  candidates: readonly Candidate[],
  inspection: Inspection,
  fields: readonly string[],
): MatchedRule | undefined {
  if (candidates.length === 0) return undefined
  for (const { request, matched } of candidates) if (isRequest(request, inspection, fields)) return matched
  return undefined
}

function isRequest(tests: readonly RequestTest[], inspection: Inspection, fields: readonly string[]): boolean {
  for (const test of tests) if (!test(inspection, fields)) return false
  return true
}

/** Numbers and answers that are kept: policies come to some dozen; what is beyond is found each time. */
const MOST_NUMBERS = 1024
const MOST_ANSWERS = 4096

/**
 * Finds the rules that can speak of a subject. Networks, countries and verdicts about browsers come again with other
 * visitors: which rules each of them leaves in play is found once, and so is what they leave together.
 */
export function createRulesFor(
  rules: readonly CompiledRule[],
  fallback: MatchedRule,
): (subject: Subject) => RulesInPlay {
  const needs = [...new Set(rules.flatMap(({ unanswered }) => unanswered?.needs ?? []))]
  const ofNetwork = createNumbering(rules, new WeakMap(), ({ network }, part: Subject['network']) => all(network, part))
  const ofPlace = createNumbering(rules, new Map(), ({ place }, part: Subject['country']) => all(place, part))
  const ofAgent = createNumbering(rules, new WeakMap(), ({ agent }, part: Subject['agent']) =>
    all(agent, { agent: part }),
  )
  const together = new Map<number, RulesInPlay>()
  return (subject) => {
    const { network, country, agent, crawler, degraded } = subject
    // Verdicts about claims are made anew for each request.
    if (crawler !== undefined || lacks(degraded, needs)) return inPlay(rules, subject, fallback)
    const key = (ofNetwork(network) * MOST_NUMBERS + ofPlace(country)) * MOST_NUMBERS + ofAgent(agent)
    const known = together.get(key)
    if (known !== undefined) return known
    const made = inPlay(rules, subject, fallback)
    if (!Number.isNaN(key) && together.size < MOST_ANSWERS) together.set(key, made)
    return made
  }
}

/**
 * Numbers the parts of subjects: two have the same number when the same rules hold of both. NaN, which no sum survives,
 * for what comes once too many numbers are given out.
 */
function createNumbering<Part>(
  rules: readonly CompiledRule[],
  known: { get(part: Part): number | undefined; set(part: Part, number: number): unknown },
  holds: (rule: CompiledRule, part: Part) => boolean,
): (part: Part) => number {
  const numbers = new Map<string, number>()
  return (part) => {
    const found = known.get(part)
    if (found !== undefined) return found
    const held = rules.filter((rule) => holds(rule, part))
    const places = held.map(({ candidate }) => candidate.matched.place).join()
    const number = numbers.get(places) ?? (numbers.size < MOST_NUMBERS ? numbers.size : Number.NaN)
    if (!Number.isNaN(number)) numbers.set(places, number)
    known.set(part, number)
    return number
  }
}

function inPlay(rules: readonly CompiledRule[], subject: Subject, fallback: MatchedRule): RulesInPlay {
  const inForce: Candidate[] = []
  const onTrial: Candidate[] = []
  let settled = true
  for (const rule of rules) {
    const candidate = candidateFor(rule, subject)
    if (candidate === undefined) continue
    if (candidate.request.length > 0) settled = false
    const among = rule.monitor ? onTrial : inForce
    among.push(candidate)
    // It matches whatever is asked for: no rule behind it is ever reached.
    if (!rule.monitor && candidate.request.length === 0) break
  }
  return { settled, inForce, onTrial, fallback }
}

/** What a rule decides of a subject, as far as the request allows it; `undefined` when the subject is not its. */
function candidateFor(rule: CompiledRule, subject: Subject): Candidate | undefined {
  if (!all(rule.agent, subject)) return undefined
  const { unanswered } = rule
  if (unanswered !== undefined && lacks(subject.degraded, unanswered.needs)) return unanswered.candidate
  return all(rule.network, subject.network) && all(rule.place, subject.country) ? rule.candidate : undefined
}

function all<Part>(tests: readonly ((part: Part) => boolean)[], part: Part): boolean {
  for (const test of tests) if (!test(part)) return false
  return true
}

function lacks(degraded: readonly Degraded[], needs: readonly Degraded[]): boolean {
  for (const need of needs) if (degraded.includes(need)) return true
  return false
}
