import type { CompiledPolicy } from '../policy/compile.ts'
import { type Evaluation, evaluate } from '../policy/evaluate.ts'
import type { Decision } from '../values/decision.ts'
import type { Inspection } from '../values/inspection.ts'
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
})

export interface DecideOptions {
  readonly mode: Mode
  /** The raw header fields of the request, for rules that match on them. */
  readonly fields?: readonly string[]
}

/**
 * Applies a policy to what is known of a request. Pure; the result is frozen. A rule on trial decides nothing: the first
 * that would have been stricter is named beside the decision.
 */
export function decide(policy: CompiledPolicy, inspection: Inspection, { mode, fields = [] }: DecideOptions): Decision {
  const allowlisted = inspection.agent.identity?.type === 'address'
  const { decided, trials } = allowlisted ? ALLOWLISTED : evaluate(policy, inspection, fields)
  const { action } = decided
  const enforced = action === 'allow' || mode === 'enforce'
  const trial = trials.find((rule) => isStricter(rule.action, action))
  const reasons = reasonsOf(decided.reason, inspection, (trial ?? trials[0])?.reason)
  if (trial === undefined) return Object.freeze({ action, enforced, reasons, inspection })
  const tried = Object.freeze({ rule: trial.id, action: trial.action })
  return Object.freeze({ action, enforced, trial: tried, reasons, inspection })
}

/** The rule that decided, the network, what speaks of the agent, and the rule on trial. */
function reasonsOf(rule: Reason, { network, agent }: Inspection, trial: Reason | undefined): readonly Reason[] {
  const reasons = [rule, networkReason(network)]
  if (agent.basis !== 'none' && agent.basis !== 'network') {
    for (const reason of agent.reasons) if (reason.weight === undefined || reason.weight > 0) reasons.push(reason)
  }
  if (trial !== undefined) reasons.push(trial)
  return Object.freeze(reasons)
}
