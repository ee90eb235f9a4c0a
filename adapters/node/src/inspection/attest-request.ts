import type { Decision, Mode } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import { refusal } from '../answer/refusal.ts'
import { isAsking } from '../challenge/challenge-answer.ts'
import type { Decider } from '../decider.ts'
import type { Claim, Exchange } from '../exchange.ts'
import { decide } from '../host-phases.ts'
import type { Answered } from '../phases.ts'

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

/** The claim of a request; `undefined` for nothing, of which Koa makes an empty text, and a header may be one. */
export function readClaim<Request>({ provenance }: ClaimOptions<Request>, request: Request): Claim | undefined {
  try {
    return provenance?.claim(request) || undefined
  } catch (fault) {
    return { fault }
  }
}

/**
 * The phase `decide` of a mount with claims: a claim is judged and recorded after the rules that count. A request that cannot be
 * recorded is refused with 503, or 400 for a claim that is none, because a host that asks for attestation relies on it. The same holds
 * for a claim that cannot be read. In monitor mode the request passes without attestation, and a process warning says so. Nothing is
 * recorded of a request that is challenged: a question lets nobody in, and the request that comes with the pass is recorded.
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

/** Throws `invalid_config` at start-up where claims are to be attested by something that cannot. */
export function requireAttester(decider: Decider, { provenance }: ClaimOptions<never>): Attester | undefined {
  if (provenance === undefined) return undefined
  const attester = decider as Partial<Attester>
  if (typeof attester.provenance?.attestDecision !== 'function' || typeof provenance.claim !== 'function') {
    throw new SallyportError('invalid_config', 'provenance takes a claim function, and what open() resolves to.')
  }
  return attester as Attester
}
