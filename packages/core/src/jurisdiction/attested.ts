import type { Attestation, Decision } from '../inspection/decision.ts'
import { ACTIONS, type Action, type Mode } from '../vocabulary.ts'

/** A decision with what was attested of the request's claim: the stricter of the two actions holds. Frozen. */
export function withAttestation(decision: Decision, attestation: Attestation, mode: Mode): Decision {
  const action = stricter(decision.action, attestation.action)
  const text = `The claim ${attestation.claim} was judged by the jurisdiction policy's rule "${attestation.reason}".`
  return Object.freeze({
    ...decision,
    action,
    enforced: action === 'allow' || mode === 'enforce',
    reasons: Object.freeze([...decision.reasons, Object.freeze({ id: `jurisdiction:${attestation.reason}`, text })]),
    attestation: Object.freeze(attestation),
  })
}

/** `ACTIONS` is in order of strictness. */
function stricter(x: Action, y: Action): Action {
  return ACTIONS.indexOf(x) >= ACTIONS.indexOf(y) ? x : y
}
