import type { ChallengeTerms } from '../../values/challenge.ts'
import type { CountedRule } from '../../values/counting.ts'
import type { Unjudged } from '../../values/decision.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { Reason } from '../../values/reason.ts'
import { type Action, type Degraded, isStricter } from '../../vocabulary.ts'
import type { Asked } from '../language/asked.ts'
import { lacks } from '../words/lacks.ts'
import type { Test } from '../words/match-word.ts'
import type { CompiledChallenge } from './challenge-terms.ts'
import type { CompiledCounting } from './compile-counting.ts'
import type { NamedTest } from './compile-match.ts'
import type { CompiledRedirect } from './compile-redirect.ts'

/** A matching rule's effect, with the sentence about it. */
export interface MatchedRule {
  readonly id: string
  readonly action: Action
  readonly reason: Reason
  /** There where it challenges. */
  readonly challenge?: ChallengeTerms | undefined
  /** There where it redirects. */
  readonly redirect?: CompiledRedirect | undefined
}

/** A rule that was checked. */
export interface CompiledRule {
  readonly onTrial: boolean
  /** Tests of the network and the country: they need data. */
  readonly data: readonly Test[]
  readonly agent: readonly Test[]
  /** Tests of what is asked for, and when: the only ones that can differ between two requests of a visitor. */
  readonly request: readonly Test[]
  /** All tests by their words; absent where every source of requests answers them. */
  readonly named?: readonly NamedTest[] | undefined
  readonly matched: MatchedRule
  /** There where the rule challenges. */
  readonly challenge?: CompiledChallenge | undefined
  /** Counting of a rule; `matched` is its effect within its limits, where it opens. */
  readonly counting?: CompiledCounting | undefined
  /** A preset's refusal: a trusted proxy that asks for itself, as for a health check, is no visitor. */
  readonly sparesProxies?: true | undefined
  /** It is about holders of a pass. */
  readonly readsPass?: true | undefined
  /** Weight of a rule that decides only where no other does. */
  readonly weight?: number | undefined
  /** Its path patterns; absent where it asks about more than the crawler, the path and the method, as robots.txt cannot. */
  readonly announced?: readonly string[] | undefined
  /** Effect of a rule with `onError` while the data that it needs is not loaded. */
  readonly unanswered?: { readonly needs: readonly Degraded[]; readonly matched: MatchedRule } | undefined
}

/** A rule that adds to the sum of weights. */
export interface Weighed {
  readonly rule: MatchedRule
  readonly weight: number
}

export interface Evaluation {
  readonly decided: MatchedRule
  /** The rules on trial that match before the deciding one, in order. */
  readonly trials: readonly MatchedRule[]
  /** The rules before the deciding one, and that itself, that count the request. */
  readonly counted: readonly CountedRule[]
  /** The rules before the deciding one that weigh. */
  readonly weighed: readonly Weighed[]
  /** True where no test of a request had a say: the visitor's next request like this one is decided the same. */
  readonly lasting: boolean
  /**
   * Age in seconds below which a pass like this one is decided the same; absent: any, and none, is. A rule that challenges decided
   * nothing because of the pass, or one about its holders decided.
   */
  readonly passUntil: number | undefined
}

const NO_TRIALS: readonly MatchedRule[] = Object.freeze([])
const NONE_COUNTED: readonly CountedRule[] = Object.freeze([])
const NONE_WEIGHED: readonly Weighed[] = Object.freeze([])

/** Adds to a list of this evaluation, of which the empty one is everybody's: thousands of rules may be on trial. */
function added<Item>(list: readonly Item[], item: Item): readonly Item[] {
  if (list.length === 0) return [item]
  ;(list as Item[]).push(item)
  return list
}

/** The rules of a policy, in the order in which they are asked. */
export interface Ruled {
  readonly rules: readonly CompiledRule[]
  readonly fallback: MatchedRule
}

/**
 * The first rule that matches and is not on trial decides, else `fallback`. A rule that counts decides only where it opens. A
 * rule that flags marks the request, and the rules after it are asked: the first flag shows where nothing else decides.
 * `unjudged` takes the rules before the deciding one that the request leaves open.
 */
export function evaluate(
  { rules, fallback }: Ruled,
  inspection: Inspection,
  asked: Asked,
  unjudged?: Unjudged[],
): Evaluation {
  let trials = NO_TRIALS
  let counted = NONE_COUNTED
  let weighed = NONE_WEIGHED
  let mark: MatchedRule | undefined
  let lasting = true
  let passUntil: number | undefined
  for (const rule of rules) {
    if (rule.sparesProxies === true && inspection.client.isProxy === true) continue
    const matched = matchRule(rule, inspection, asked)
    const isAsked = matched !== undefined && rule.request.length > 0
    if (isAsked) lasting = false
    if (matched === undefined || (isAsked && !holds(rule.request, inspection, asked))) {
      if (unjudged !== undefined && rule.named !== undefined) {
        const words = openWords(rule.named, inspection, asked)
        if (words.length > 0) unjudged.push({ rule: rule.matched.id, words })
      }
      continue
    }
    if (rule.challenge !== undefined && matched === rule.matched) {
      const until = rule.challenge.answeredUntil(inspection.pass)
      if (until > 0) {
        passUntil = Math.min(until, passUntil ?? until)
        continue
      }
      // The next request may bring a pass, or ask for what is answered to anybody.
      lasting = false
      if (!rule.challenge.asks(inspection, asked)) continue
    }
    if (rule.counting !== undefined && matched === rule.matched) {
      const cost = rule.counting.readCost(inspection, asked)
      counted = added(counted, Object.freeze({ rule: rule.counting.rule, cost }))
      // Its cost may differ from one request to the next.
      lasting = false
      if (rule.counting.opens && rule.readsPass) passUntil ??= Number.POSITIVE_INFINITY
      if (rule.counting.opens) return { decided: matched, trials, counted, weighed, lasting, passUntil }
      continue
    }
    if (rule.onTrial) {
      trials = added(trials, matched)
      continue
    }
    if (rule.readsPass) passUntil ??= Number.POSITIVE_INFINITY
    if (matched.action !== 'flag') return { decided: matched, trials, counted, weighed, lasting, passUntil }
    mark ??= matched
    if (rule.weight === undefined || matched !== rule.matched) continue
    asked.weight += rule.weight
    weighed = added(weighed, { rule: matched, weight: rule.weight })
  }
  const decided = mark === undefined || isStricter(fallback.action, mark.action) ? fallback : mark
  return { decided, trials, counted, weighed, lasting, passUntil }
}

/** The effect of a rule whose tests of the request hold; `undefined` if it is not about this visitor. */
function matchRule(rule: CompiledRule, inspection: Inspection, asked: Asked): MatchedRule | undefined {
  if (!holds(rule.agent, inspection, asked)) return undefined
  const { unanswered } = rule
  if (unanswered?.needs.some((need) => lacks(inspection, need))) return unanswered.matched
  return holds(rule.data, inspection, asked) ? rule.matched : undefined
}

/** The words that leave it open whether a rule matches; none where another of its words fails. */
function openWords(named: readonly NamedTest[], inspection: Inspection, asked: Asked): readonly string[] {
  const open: string[] = []
  for (const { words, test } of named) {
    const holds = test(inspection, asked)
    if (holds === false) return []
    if (holds === undefined) open.push(...words)
  }
  return open
}

function holds(tests: readonly Test[], inspection: Inspection, asked: Asked): boolean {
  for (const test of tests) if (!test(inspection, asked)) return false
  return true
}
