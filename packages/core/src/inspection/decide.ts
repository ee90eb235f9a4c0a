import type { NetworkFinding } from '../network/finding.ts'
import type { CompiledPolicy, MatchedRule } from '../policy/compile.ts'
import type { Mode } from '../vocabulary.ts'
import type { Decision, Reason } from './decision.ts'
import type { Inspection } from './inspection.ts'

const NO_RULE: MatchedRule = Object.freeze({
  action: 'allow',
  reason: Object.freeze({ id: 'policy:default', text: 'No rule of the policy speaks of this request.' }),
})

/** Applies a policy to what is known: the first rule that matches, else `allow`. Pure; the result is frozen. */
export function decide(policy: CompiledPolicy, inspection: Inspection, mode: Mode): Decision {
  const rule = policy.firstMatch(inspection) ?? NO_RULE
  return Object.freeze({
    action: rule.action,
    enforced: rule.action === 'allow' || mode === 'enforce',
    reasons: Object.freeze([rule.reason, networkReason(inspection.network)]),
    inspection,
  })
}

/** The sentence that names what the network verdict rests on. */
function networkReason(network: NetworkFinding): Reason {
  const { classification, method } = network.verdict
  const owner = network.asn === undefined ? '' : `AS${network.asn} ${network.asName ?? ''}`
  const brand = network.provider === '' ? '' : ` (${network.provider})`
  const reason: { -readonly [Member in keyof Reason]: Reason[Member] } = {
    id: `network:${classification}`,
    text: network.reserved.reserved
      ? `The client's address is reserved: ${network.reserved.label ?? ''}.`
      : `${classification} by ${method}${owner === '' ? '' : `: ${owner}`}${brand}`,
  }
  if (network.source !== undefined) reason.source = network.source
  if (network.sourceDate !== undefined) reason.date = network.sourceDate
  return Object.freeze(reason)
}
