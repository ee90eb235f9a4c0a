import type { Attestation, Decision } from '../values/decision.ts'
import { isStricter, type Mode } from '../vocabulary.ts'

/**
 * Combines a decision with the attestation of the request's claim: the stricter of the two actions holds. A rule on trial that is not
 * stricter than the result is dropped. The result is frozen.
 */
export function withAttestation(decision: Decision, attestation: Attestation, mode: Mode): Decision {
  const { trial, ...decided } = decision
  const action = isStricter(attestation.action, decided.action) ? attestation.action : decided.action
  const text = `The claim ${attestation.claim} was judged by the jurisdiction policy's rule "${attestation.reason}".`
  return Object.freeze({
    ...decided,
    action,
    enforced: action === 'allow' || mode === 'enforce',
    ...(trial !== undefined && isStricter(trial.action, action) && { trial }),
    reasons: Object.freeze([...decision.reasons, Object.freeze({ id: `jurisdiction:${attestation.reason}`, text })]),
    attestation: Object.freeze(attestation),
  })
}
