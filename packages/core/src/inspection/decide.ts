import type { CompiledPolicy } from '../policy/compile/compile-policy.ts'
import { type Evaluation, evaluate, type MatchedRule, type Weighed } from '../policy/compile/evaluate.ts'
import { Asked, type AskedParts } from '../policy/language/asked.ts'
import type { InspectedPass } from '../values/challenge.ts'
import type { Decision, Trial, Unjudged } from '../values/decision.ts'
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
  weighed: Object.freeze([]),
  lasting: true,
  passUntil: undefined,
})

export interface DecideOptions {
  readonly mode: Mode
  /** Holds the parts of the request that its inspection does not keep, for rules that match on them. */
  readonly request?: AskedParts | undefined
  /** The decision repeats the id of its request. */
  readonly id?: string | undefined
  /** The request is only described: the decision names the rules that it leaves open. */
  readonly isDescribed?: boolean | undefined
}

/** Holds a decision without the inspection that it is about. */
export interface Ruling extends Omit<Decision, 'id' | 'inspection' | 'unready' | 'limits' | 'ban' | 'attestation'> {
  /** True where it rests only on the visitor and its pass, not on what was requested or when. */
  readonly lasting: boolean
  /** Reports whether the ruling holds with a pass; absent where it holds with any and with none. */
  readonly holds: ((pass: InspectedPass | undefined) => boolean) | undefined
}

/** Applies a policy to an inspection. Pure; the result is frozen. */
export function decide(policy: CompiledPolicy, inspection: Inspection, options: DecideOptions): Decision {
  return buildDecision(ruleOn(policy, inspection, options), inspection, options.id)
}

export function buildDecision(ruling: Ruling, inspection: Inspection, id?: string): Decision {
  const { action, enforced, reasons } = ruling
  const decision: Writable<Decision> = { action, enforced, reasons, inspection }
  if (id !== undefined) decision.id = id
  if (ruling.mode !== undefined) decision.mode = ruling.mode
  if (ruling.challenge !== undefined) decision.challenge = ruling.challenge
  if (ruling.location !== undefined) decision.location = ruling.location
  if (ruling.offer !== undefined) decision.offer = ruling.offer
  if (ruling.status !== undefined) decision.status = ruling.status
  if (ruling.trial !== undefined) decision.trial = ruling.trial
  if (ruling.trials !== undefined) decision.trials = ruling.trials
  if (ruling.counting !== undefined) decision.counting = ruling.counting
  if (ruling.unjudged !== undefined) decision.unjudged = ruling.unjudged
  if (ruling.restsOnPass !== undefined) decision.restsOnPass = ruling.restsOnPass
  return Object.freeze(decision)
}

/** Rules on a request. A rule on trial decides nothing: the first stricter one is named beside the decision. */
export function ruleOn(
  policy: CompiledPolicy,
  inspection: Inspection,
  { mode, request = {}, isDescribed = false }: DecideOptions,
): Ruling {
  const open: Unjudged[] | undefined = isDescribed ? [] : undefined
  const allowlisted = inspection.agent.identity?.type === 'address'
  const evaluation = allowlisted ? ALLOWLISTED : evaluate(policy, inspection, new Asked(request), open)
  const { decided, trials, counted, weighed, lasting, passUntil } = evaluation
  const { action, challenge, redirect, offer, status } = decided
  const stricter = trials.findIndex((rule) => isStricter(rule.action, action))
  const onTrial = trials[Math.max(stricter, 0)]?.reason
  const named = trials.length === 0 ? undefined : Object.freeze(trials.map(describeTrial))
  return {
    action,
    enforced: action === 'allow' || mode === 'enforce',
    mode: mode === 'monitor' ? mode : undefined,
    challenge,
    location: redirect?.makeLocation(inspection),
    offer,
    status,
    trial: named?.[stricter],
    trials: named,
    counting: counted.length === 0 ? undefined : Object.freeze({ mode, rules: Object.freeze(counted) }),
    unjudged: open && Object.freeze(open),
    reasons: listReasons([decided.reason, ...weightReason(weighed)], inspection, onTrial),
    restsOnPass: (passUntil !== undefined && mode === 'enforce') || undefined,
    lasting,
    holds: passUntil === undefined ? undefined : likeness(inspection.pass, passUntil),
  }
}

/** Tests whether a pass was earned like this one and is younger than `until` seconds. */
function likeness(pass: InspectedPass | undefined, until: number): NonNullable<Ruling['holds']> {
  return (other) =>
    other !== undefined &&
    other.age < until &&
    other.level === pass?.level &&
    other.maxAge === pass.maxAge &&
    other.renewed === pass.renewed &&
    other.waited === pass.waited
}

function describeTrial({ id, action }: MatchedRule): Trial {
  return Object.freeze({ rule: id, action })
}

/** Writes the sum of weights that the policy's rules reached, and each rule's share; nothing where no rule weighs. */
function weightReason(weighed: readonly Weighed[]): readonly Reason[] {
  if (weighed.length === 0) return []
  const sum = weighed.reduce((total, { weight }) => total + weight, 0)
  const signs = weighed.map(({ rule, weight }) => `"${rule.id}" ${weight}`).join(', ')
  return [Object.freeze({ id: 'policy:weight', text: `The weights of the policy's rules add up to ${sum}: ${signs}.` })]
}

/** Lists the rule that decided, the weights, the network, the evidence about the agent, and the rule on trial. */
function listReasons(
  decided: readonly Reason[],
  { network, agent }: Inspection,
  trial: Reason | undefined,
): readonly Reason[] {
  const reasons = [...decided, networkReason(network)]
  if (agent.basis !== 'none' && agent.basis !== 'network') {
    for (const reason of agent.reasons) if (reason.weight === undefined || reason.weight > 0) reasons.push(reason)
  }
  if (trial !== undefined) reasons.push(trial)
  return Object.freeze(reasons)
}
