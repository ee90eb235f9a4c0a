import type { IncomingMessage } from 'node:http'
import { type Decision, type InspectionRequest, pathFault, SallyportError } from '@sallyport/core'
import { fieldsMissing, inspectionRequest } from './inspection-request.ts'
import { ambiguousPath, type Refusal, refusal, tooManyFields } from './refusal.ts'
import { closingUnread } from './unread-body.ts'
import { applyVerdict } from './verdict-headers.ts'

/** What decides about requests: what `open()` resolves to, or a stand-in. */
export interface Decider {
  decide(request: InspectionRequest): Decision
  readonly config?: { readonly paths?: 'strict' | 'pass' | undefined }
}

/** What becomes of a request. With a refusal it goes no further; without one the host carries on. */
export interface Outcome {
  /** Absent when the request could not be judged. */
  readonly decision?: Decision
  readonly refusal?: Refusal
}

/**
 * Inspects a Node request before the host sees it, writes the verdict into its headers, and refuses it where that is
 * an enforced block. Never throws: a decider that fails lets the request pass without a verdict, because
 * classification is not authorisation, and a process warning says so.
 */
export function decideRequest(decider: Decider, req: IncomingMessage, target?: string): Outcome {
  const outcome = outcomeOf(decider, req, target)
  applyVerdict(req, outcome.decision)
  return outcome
}

/** `decideRequest` without a change to the request. */
export function outcomeOf(decider: Decider, req: IncomingMessage, target?: string): Outcome {
  try {
    if (fieldsMissing(req)) return { refusal: closingUnread(req, tooManyFields()) }
    const request = inspectionRequest(req, target)
    const fault = decider.config?.paths === 'strict' ? pathFault(request.target) : undefined
    if (fault !== undefined) return { refusal: closingUnread(req, ambiguousPath(fault)) }
    return carriedOut(req, decider.decide(request), request)
  } catch (error) {
    process.emitWarning(`A request passed without inspection: ${error}`, 'SallyportWarning')
    return {}
  }
}

/** A decision, and the refusal that it comes to. */
export function carriedOut(
  req: IncomingMessage,
  decision: Decision,
  request: Pick<InspectionRequest, 'fields'>,
): Outcome {
  if (decision.action !== 'block' || !decision.enforced) return { decision }
  return { decision, refusal: closingUnread(req, refusal(decision, request)) }
}

/** Throws `invalid_config` at start-up: without `decide`, as by a forgotten `await`, nothing would be inspected. */
export function requireDecider(decider: Decider): void {
  if (typeof decider?.decide !== 'function') {
    throw new SallyportError('invalid_config', 'Inspection takes what open() resolves to. Is an await missing?')
  }
}
