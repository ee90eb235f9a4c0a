import type { CompiledPolicy } from '../policy/compile.ts'
import { firstMatch, type MatchedRule, matchesOnTrial, type RulesInPlay } from '../policy/in-play.ts'
import type { Decision } from '../values/decision.ts'
import type { NetworkFinding, VerdictRule } from '../values/finding.ts'
import type { Inspection } from '../values/inspection.ts'
import type { Reason } from '../values/reason.ts'
import { isStricter, type Mode } from '../vocabulary.ts'

const ALLOWLISTED: Reason = Object.freeze({
  id: 'policy:allowlist',
  text: "The client's address is on the policy's allowlist.",
})

/** A decision without what it is about. */
export type Ruling = Pick<Decision, 'action' | 'enforced' | 'trial' | 'reasons'>

export interface RulingOptions {
  readonly mode: Mode
  /** The raw header fields of the request, for rules that match on them. */
  readonly fields?: readonly string[]
  /** Where sentences about networks are kept by whoever decides often. */
  readonly sentences?: NetworkSentences
}

/**
 * Applies the rules of a policy that are in play for a visitor. Pure. A rule on trial decides nothing: the first that
 * would have been stricter is named beside the decision.
 */
export function ruleOn(
  rules: RulesInPlay,
  inspection: Inspection,
  { mode, fields = [], sentences }: RulingOptions,
): Ruling {
  const network = sentences?.about(inspection.network) ?? networkReason(inspection.network)
  if (inspection.agent.identity?.type === 'address') {
    return { action: 'allow', enforced: true, reasons: reasonsOf(ALLOWLISTED, undefined, network, inspection) }
  }
  const rule = firstMatch(rules, inspection, fields)
  const onTrial = matchesOnTrial(rules, inspection, fields, rule)
  const trial = onTrial.find(({ action }) => isStricter(action, rule.action))
  const enforced = rule.action === 'allow' || mode === 'enforce'
  const reasons = reasonsOf(rule.reason, trial ?? onTrial[0], network, inspection)
  const ruling = { action: rule.action, enforced, reasons }
  if (trial === undefined) return ruling
  return { ...ruling, trial: Object.freeze({ rule: trial.id, action: trial.action }) }
}

/** Applies a policy to what is known. Pure; the result is frozen. */
export function decide(policy: CompiledPolicy, inspection: Inspection, options: RulingOptions): Decision {
  return decisionOf(ruleOn(policy.rulesFor(inspection), inspection, options), inspection)
}

/** A ruling and what it is about, frozen. */
export function decisionOf(ruling: Ruling, inspection: Inspection): Decision {
  const { action, enforced, trial, reasons } = ruling
  if (trial === undefined) return Object.freeze({ action, enforced, reasons, inspection })
  return Object.freeze({ action, enforced, trial, reasons, inspection })
}

/** The sentences about findings, each made once for as long as its finding is in use. */
export interface NetworkSentences {
  about(network: NetworkFinding): Reason
}

export function createNetworkSentences(): NetworkSentences {
  const made = new WeakMap<NetworkFinding, Reason>()
  return {
    about(network) {
      const known = made.get(network)
      if (known !== undefined) return known
      const reason = networkReason(network)
      made.set(network, reason)
      return reason
    },
  }
}

/** The rule that decided, the network, what speaks of the agent, and the rule on trial. */
function reasonsOf(
  reason: Reason,
  onTrial: MatchedRule | undefined,
  network: Reason,
  { agent }: Inspection,
): readonly Reason[] {
  const reasons = [reason, network]
  if (agent.basis !== 'none' && agent.basis !== 'network') {
    for (const spoken of agent.reasons) if (spoken.weight === undefined || spoken.weight > 0) reasons.push(spoken)
  }
  if (onTrial !== undefined) reasons.push(onTrial.reason)
  return Object.freeze(reasons)
}

/** How the rules read inside a sentence. */
const RULE_TEXTS: Readonly<Record<VerdictRule, string>> = {
  reserved: 'a reserved range',
  override: 'set by the operator of this site',
  reverse_name: 'its reverse name',
  address_list: 'a list of addresses',
  range_list: 'a list of ranges',
  exit_density: 'known exits beside it',
  operator_table: 'the operator table',
  organisation_name: "the organisation's name",
  system_list: 'a list of systems',
  system_prefixes: "what lists say of the system's prefixes",
  system_shape: "the outline of the system's address space",
  none: 'nothing known',
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
      : `${classification} by ${method} (${RULE_TEXTS[network.rule]})${owner === '' ? '' : `: ${owner}`}${brand}`,
  }
  if (network.source !== undefined) reason.source = network.source
  if (network.sourceDate !== undefined) reason.date = network.sourceDate
  return Object.freeze(reason)
}
