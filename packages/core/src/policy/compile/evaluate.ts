import { countsGroups } from '../../counting/keys.ts'
import type { CountedRule } from '../../values/counting.ts'
import type { Decision, Unjudged } from '../../values/decision.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { McpFault } from '../../values/mcp.ts'
import type { Reason } from '../../values/reason.ts'
import { type Degraded, isStricter } from '../../vocabulary.ts'
import type { Asked } from '../language/asked.ts'
import type { Test } from '../words/match-word.ts'
import { lacks } from '../words/word-test.ts'
import type { CompiledChallenge } from './challenge-terms.ts'
import type { CompiledCounting } from './compile-counting.ts'
import type { CompiledMatch } from './compile-match.ts'
import type { CompiledRedirect } from './compile-redirect.ts'

export interface MatchedRule extends Pick<Decision, 'action' | 'challenge' | 'status' | 'offer'> {
  readonly id: string
  readonly reason: Reason
  readonly redirect?: CompiledRedirect | undefined
}

export interface CompiledRule extends Omit<CompiledMatch, 'needs'> {
  readonly onTrial: boolean
  readonly matched: MatchedRule
  readonly challenge?: CompiledChallenge | undefined
  /** Set where the rule counts; `matched` is its effect within its limits, where it opens. */
  readonly counting?: CompiledCounting | undefined
  /** True for a preset's refusal: a trusted proxy that is itself the client, as in a health check, is no visitor. */
  readonly sparesProxies?: true | undefined
  readonly readsPass?: true | undefined
  readonly readsCalls?: true | undefined
  /** Weighs a rule that decides only where no other does. */
  readonly weight?: number | undefined
  /** Lists its path patterns; absent where it reads more than the crawler, the path and the method, as robots.txt cannot. */
  readonly announced?: readonly string[] | undefined
  /** Takes effect for a rule with `onError` while the data that it needs is not loaded. */
  readonly unanswered?: { readonly needs: readonly Degraded[]; readonly matched: MatchedRule } | undefined
}

export interface Weighed {
  readonly rule: MatchedRule
  readonly weight: number
}

export interface Evaluation {
  readonly decided: MatchedRule
  /** Lists the rules on trial that match before the deciding one, in order. */
  readonly trials: readonly MatchedRule[]
  /** Lists the rules that count the request: those before the deciding one, and that rule itself. */
  readonly counted: readonly CountedRule[]
  readonly weighed: readonly Weighed[]
  /** True where no test of a request mattered: the visitor's next request like this one has the same decision. */
  readonly lasting: boolean
  /**
   * Age in seconds below which a pass like this one leads to the same decision; absent where any pass, and none, does. A rule that
   * challenges decided nothing because of the pass, or a rule about its holders decided.
   */
  readonly passUntil: number | undefined
}

const NO_TRIALS: readonly MatchedRule[] = Object.freeze([])
const NONE_COUNTED: readonly CountedRule[] = Object.freeze([])
const NONE_WEIGHED: readonly Weighed[] = Object.freeze([])

/** Adds to a list in place, as thousands of rules may be on trial; all evaluations share the empty list. */
function addTo<Item>(list: readonly Item[], item: Item): readonly Item[] {
  if (list.length === 0) return [item]
  ;(list as Item[]).push(item)
  return list
}

export interface Ruled {
  readonly rules: readonly CompiledRule[]
  readonly fallback: MatchedRule
}

/**
 * Evaluates rules: the first rule that matches and is not on trial decides, else `fallback`. A rule that counts decides only where it
 * opens. A rule that flags marks the request, and evaluation goes on: the first flag is reported where no other rule decides. `unjudged`
 * receives the rules before the deciding one that the request leaves open.
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
      // The next request may bring a pass, or ask for a resource that is open to anybody.
      lasting = false
      if (!rule.challenge.asks(inspection, asked)) continue
    }
    if (rule.readsCalls && inspection.mcp?.fault !== undefined && isBinding(rule)) {
      return { decided: unreadable(matched, inspection.mcp.fault), trials, counted, weighed, lasting: false, passUntil }
    }
    if (rule.counting !== undefined && matched === rule.matched) {
      // A log does not record a visitor's behaviour, which names its group.
      if (unjudged !== undefined && asked.parts.behaviour === 'unknown' && countsGroups(rule.counting.rule)) {
        unjudged.push({ rule: rule.matched.id, words: ['behaviour'] })
      }
      const cost = rule.counting.readCost(inspection, asked)
      const calls = rule.counting.listCalls?.(inspection)
      counted = addTo(counted, Object.freeze({ rule: rule.counting.rule, cost, ...(calls && { calls }) }))
      // Its cost may differ from one request to the next.
      lasting = false
      if (rule.counting.opens && rule.readsPass) passUntil ??= Number.POSITIVE_INFINITY
      if (rule.counting.opens) return { decided: matched, trials, counted, weighed, lasting, passUntil }
      continue
    }
    if (rule.onTrial) {
      trials = addTo(trials, matched)
      continue
    }
    if (rule.readsPass) passUntil ??= Number.POSITIVE_INFINITY
    if (matched.action !== 'flag') return { decided: matched, trials, counted, weighed, lasting, passUntil }
    mark ??= matched
    if (rule.weight === undefined || matched !== rule.matched) continue
    asked.weight += rule.weight
    weighed = addTo(weighed, { rule: matched, weight: rule.weight })
  }
  const decided = mark === undefined || isStricter(fallback.action, mark.action) ? fallback : mark
  return { decided, trials, counted, weighed, lasting, passUntil }
}

/** Reports whether a rule may refuse a request. */
function isBinding({ onTrial, counting, matched }: CompiledRule): boolean {
  return !onTrial && (counting?.rule.action ?? matched.action) !== 'flag' && matched.action !== 'allow'
}

/** Refuses a request whose calls a rule cannot read: otherwise a padded body would escape the rule. */
function unreadable({ id }: MatchedRule, { status, message }: McpFault): MatchedRule {
  const text = `The policy's rule "${id}" reads MCP calls, but the calls of this request cannot be read. ${message}`
  return { id, action: 'block', status, reason: { id: `policy:${id}`, text } }
}

/** Returns the effect of a rule whose tests of the request hold; `undefined` if it is not about this visitor. */
function matchRule(rule: CompiledRule, inspection: Inspection, asked: Asked): MatchedRule | undefined {
  if (!holds(rule.agent, inspection, asked)) return undefined
  const { unanswered } = rule
  if (unanswered?.needs.some((need) => lacks(inspection, need))) return unanswered.matched
  return holds(rule.data, inspection, asked) ? rule.matched : undefined
}

/** Returns the words that leave it open whether a rule matches; none where another of its words fails. */
function openWords(
  named: NonNullable<CompiledMatch['named']>,
  inspection: Inspection,
  asked: Asked,
): readonly string[] {
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
