import type { Decision, Mode } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import { refusal } from '../answer/refusal.ts'
import { isAsking } from '../challenge/challenge-answer.ts'
import type { Decider } from '../decider.ts'
import type { Claim, Exchange } from '../exchange.ts'
import { decide } from '../host-phases.ts'
import type { Answered } from '../phases.ts'

/** Records the decision about a claim: the value that `open()` resolves to, or a stand-in. */
export interface Attester extends Decider {
  readonly config: { readonly mode: Mode; readonly paths?: 'strict' | 'pass' | undefined }
  readonly provenance: {
    /** Returns the decision with its attestation and the stricter of the two actions. Rejects when nothing was recorded. */
    attestDecision(decision: Decision, claim: string, mode?: Mode): Promise<Decision>
  }
}

/** Says where a request claims to come from; `Request` is the host's own. */
export interface ClaimOptions<Request> {
  readonly provenance?:
    | {
        /**
         * Returns a country code or a group of the jurisdiction policy; `undefined` or empty for a request without a claim. A request is
         * refused where `claim` throws.
         */
        claim(request: Request): string | undefined
      }
    | undefined
}

/** Returns the claim of a request. An empty text is no claim: Koa turns a missing header into one, and a header may be empty. */
export function readClaim<Request>({ provenance }: ClaimOptions<Request>, request: Request): Claim | undefined {
  try {
    return provenance?.claim(request) || undefined
  } catch (fault) {
    return { fault }
  }
}

/**
 * Runs the phase `decide` of a mount with claims: judges and records a claim after the rules that count. A host that requires attestation
 * relies on it, so a request is refused where its claim cannot be read or recorded; in monitor mode it passes with a process warning. A
 * challenged request is not recorded: the later request with the pass is.
 */
export async function attest(exchange: Exchange, { host }: { readonly host: Attester }): Promise<Answered> {
  await decide(exchange, { host })
  const decision = exchange.decision as Decision
  const { claim } = exchange
  if (claim === undefined || isAsking(host, exchange.subject, decision)) return undefined
  try {
    if (typeof claim !== 'string') throw claim.fault
    const attested = await host.provenance.attestDecision(decision, claim, host.config.mode)
    exchange.decision = attested
    exchange.observation.decide(attested)
    return undefined
  } catch (error) {
    if (host.config.mode === 'monitor') {
      process.emitWarning(`A request passed without attestation: ${error}`, 'SallyportWarning')
      return undefined
    }
    const code = error instanceof SallyportError ? error.code : 'attestation_unavailable'
    return exchange.refuse(refusal(code), 'attestation')
  }
}

/** Throws `invalid_config` at start-up where `decider` cannot attest claims. */
export function requireAttester(decider: Decider, { provenance }: ClaimOptions<never>): Attester | undefined {
  if (provenance === undefined) return undefined
  const attester = decider as Partial<Attester>
  if (typeof attester.provenance?.attestDecision !== 'function' || typeof provenance.claim !== 'function') {
    throw new SallyportError('invalid_config', 'provenance takes a claim function, and what open() resolves to.')
  }
  return attester as Attester
}
