import type { IncomingMessage } from 'node:http'
import { type Decision, type Mode, SallyportError, verdictOf } from '@sallyport/core'
import { type Decider, decideRequest, type Ruling } from './decide-request.ts'
import { inspectionRequest } from './inspection-request.ts'
import { failureRefusal, refusal } from './refusal.ts'
import { closingUnread } from './unread-body.ts'
import { applyVerdict } from './verdict-headers.ts'

/** Whoever records what was decided of a claim: what `open()` resolves to, or a stand-in. */
export interface Attester extends Decider {
  readonly config: { readonly mode: Mode }
  readonly provenance: {
    /** The decision with its attestation and the stricter of the two actions. Rejects when nothing was recorded. */
    attestDecision(decision: Decision, claim: string): Promise<Decision>
  }
}

/** How a host says where a request claims to come from; `Request` is the host's own. */
export interface ClaimOptions<Request> {
  readonly provenance?: {
    /** Country code, or group of the jurisdiction policy; `undefined` or empty for a request that claims nothing. */
    claim(request: Request): string | undefined
  }
}

/** What a request claims; `undefined` for nothing, of which Koa makes an empty text, and a header may be one. */
export function claimOf<Request>({ provenance }: ClaimOptions<Request>, request: Request): string | undefined {
  return provenance?.claim(request) || undefined
}

/**
 * Inspects a Node request and has its claim judged and recorded before the host sees it. Where nothing can be recorded
 * the request is refused, with 503, or 400 for a claim that is none: a host that asks for attestation relies on it. In
 * monitor mode it passes without one, and a process warning says so.
 */
export async function attestRequest(
  sallyport: Attester,
  req: IncomingMessage,
  claim: string,
  target?: string,
): Promise<Ruling> {
  const ruling = decideRequest(sallyport, req, target)
  if (ruling.verdict === undefined) return ruling
  try {
    const decision = await sallyport.provenance.attestDecision(ruling.verdict.decision(), claim)
    const verdict = verdictOf(decision)
    applyVerdict(req, verdict)
    if (verdict.action !== 'block' || !verdict.enforced) return { verdict }
    return { verdict, refusal: closingUnread(req, refusal(decision, inspectionRequest(req, target))) }
  } catch (error) {
    if (sallyport.config.mode === 'monitor') {
      process.emitWarning(`A request passed without attestation: ${error}`, 'SallyportWarning')
      return ruling
    }
    const code = error instanceof SallyportError ? error.code : 'attestation_unavailable'
    return { verdict: ruling.verdict, refusal: closingUnread(req, failureRefusal(code)) }
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
