import type { Decision, Mode } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import { refusal } from '../answer/refusal.ts'
import { isAsking } from '../challenge/challenge-answer.ts'
import { carriedOut, type Decider, type Outcome, outcomeOf, type RequestIdentity, refused } from './decide-request.ts'
import { noteDecision, noteRefusal } from './observation.ts'
import type { Received } from './received.ts'

/** The part that records the decision about a claim: what `open()` resolves to, or a stand-in. */
export interface Attester extends Decider {
  readonly config: { readonly mode: Mode; readonly paths?: 'strict' | 'pass' | undefined }
  readonly provenance: {
    /** The decision with its attestation and the stricter of the two actions. Rejects when nothing was recorded. */
    attestDecision(decision: Decision, claim: string, mode?: Mode): Promise<Decision>
  }
}

/** How a host says where a request claims to come from; `Request` is the host's own. */
export interface ClaimOptions<Request> {
  readonly provenance?:
    | {
        /**
         * Country code, or group of the jurisdiction policy; `undefined` or empty for a request that claims nothing. One that
         * throws refuses the request.
         */
        claim(request: Request): string | undefined
      }
    | undefined
}

/** A claim as it was read, or why it could not be. */
export type Claim = string | { readonly fault: unknown }

/** The claim of a request; `undefined` for nothing, of which Koa makes an empty text, and a header may be one. */
export function claimOf<Request>({ provenance }: ClaimOptions<Request>, request: Request): Claim | undefined {
  try {
    return provenance?.claim(request) || undefined
  } catch (fault) {
    return { fault }
  }
}

/**
 * `outcomeOf` for a request with a claim, which is judged and recorded first. A request that cannot be recorded is refused,
 * with 503, or 400 for a claim that is none: a host that asks for attestation relies on it (D53). The same holds for a claim
 * that cannot be read (D625). In monitor mode it passes without one, and a process warning says so. Nothing is recorded of a
 * request that is challenged.
 */
export async function attestedOutcome(
  sallyport: Attester,
  received: Received,
  identity: RequestIdentity | undefined,
  claim: Claim,
): Promise<Outcome> {
  return outcomeOf(sallyport, received, identity, async (host, received, decision) => {
    // A question lets nobody in: the request that comes with the pass is recorded. D465
    if (isAsking(host, received.reception.head, decision)) return carriedOut(host, received, decision)
    let attested: Decision
    try {
      if (typeof claim !== 'string') throw claim.fault
      attested = await sallyport.provenance.attestDecision(decision, claim, sallyport.config.mode)
    } catch (error) {
      if (sallyport.config.mode === 'monitor') {
        process.emitWarning(`A request passed without attestation: ${error}`, 'SallyportWarning')
        return carriedOut(host, received, decision)
      }
      const code = error instanceof SallyportError ? error.code : 'attestation_unavailable'
      noteRefusal(received.observation, 'attestation')
      return { decision, refusal: refused(host, received, refusal(code)) }
    }
    noteDecision(received.observation, attested)
    return carriedOut(host, received, attested)
  })
}

/** Throws `invalid_config` at start-up where claims are to be attested by something that cannot. */
export function requireAttester(decider: Decider, { provenance }: ClaimOptions<never>): Attester | undefined {
  if (provenance === undefined) return undefined
  const attester = decider as Partial<Attester>
  if (typeof attester.provenance?.attestDecision !== 'function' || typeof provenance.claim !== 'function') {
    throw new SallyportError('invalid_config', 'provenance takes a claim function, and what open() resolves to.')
  }
  return attester as Attester
}
