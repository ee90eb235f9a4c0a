import type { CompiledPolicy } from '../policy/compile.ts'
import { type Evaluation, evaluate, type MatchedRule } from '../policy/evaluate.ts'
import type { Counting } from '../values/counting.ts'
import type { Decision, Trial } from '../values/decision.ts'
import type { Inspection } from '../values/inspection.ts'
import type { Writable } from '../values/members.ts'
import type { Reason } from '../values/reason.ts'
import { isStricter, type Mode } from '../vocabulary.ts'
import { networkReason } from './network-reason.ts'

const ALLOWLISTED: Evaluation = Object.freeze({
  decided: Object.freeze({
    id: 'allowlist',
    action: 'allow',
    reason: Object.freeze({
      id: 'policy:allowlist',
      text: "The client's address is on the policy's allowlist.",
    }),
  }),
  trials: Object.freeze([]),
  counted: Object.freeze([]),
  lasting: true,
})

export interface DecideOptions {
  readonly mode: Mode
  /** The raw header fields of the request, for rules that match on them. */
  readonly fields?: readonly string[] | undefined
  /** The request's, as the decision has it. */
  readonly id?: string | undefined
}

/** A decision without what it is about. */
export interface Ruling extends Pick<Decision, 'action' | 'enforced' | 'reasons'> {
  readonly trial: Trial | undefined
  readonly trials: readonly Trial[] | undefined
  readonly counting: Counting | undefined
  /** It rests on the visitor alone, not on what was asked for or when. */
  readonly lasting: boolean
}

/** Applies a policy to what is known of a request. Pure; the result is frozen. */
export function decide(policy: CompiledPolicy, inspection: Inspection, options: DecideOptions): Decision {
  return decisionOf(ruleOn(policy, inspection, options), inspection, options.id)
}

export function decisionOf(
  { action, enforced, trial, trials, counting, reasons }: Ruling,
  inspection: Inspection,
  id?: string,
): Decision {
  const decision: Writable<Decision> = { action, enforced, reasons, inspection }
  if (id !== undefined) decision.id = id
  if (trial !== undefined) decision.trial = trial
  if (trials !== undefined) decision.trials = trials
  if (counting !== undefined) decision.counting = counting
  return Object.freeze(decision)
}

/** A rule on trial decides nothing: the first that would have been stricter is named beside what was decided (D60). */
export function ruleOn(policy: CompiledPolicy, inspection: Inspection, { mode, fields = [] }: DecideOptions): Ruling {
  const allowlisted = inspection.agent.identity?.type === 'address'
  const { decided, trials, counted, lasting } = allowlisted ? ALLOWLISTED : evaluate(policy, inspection, fields)
  const { action } = decided
  const enforced = action === 'allow' || mode === 'enforce'
  const stricter = trials.findIndex((rule) => isStricter(rule.action, action))
  const reasons = reasonsOf(decided.reason, inspection, trials[Math.max(stricter, 0)]?.reason)
  const named = trials.length === 0 ? undefined : Object.freeze(trials.map(trialOf))
  const counting = counted.length === 0 ? undefined : Object.freeze({ mode, rules: Object.freeze(counted) })
  return { action, enforced, trial: named?.[stricter], trials: named, counting, reasons, lasting }
}

function trialOf({ id, action }: MatchedRule): Trial {
  return Object.freeze({ rule: id, action })
}

/** The rule that decided, the network, the evidence about the agent, and the rule on trial. */
function reasonsOf(rule: Reason, { network, agent }: Inspection, trial: Reason | undefined): readonly Reason[] {
  const reasons = [rule, networkReason(network)]
  if (agent.basis !== 'none' && agent.basis !== 'network') {
    for (const reason of agent.reasons) if (reason.weight === undefined || reason.weight > 0) reasons.push(reason)
  }
  if (trial !== undefined) reasons.push(trial)
  return Object.freeze(reasons)
}
