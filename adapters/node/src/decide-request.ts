import type { IncomingMessage } from 'node:http'
import { type Decision, type InspectionRequest, type RequestVerdict, SallyportError, verdictOf } from '@sallyport/core'
import { fieldsMissing, inspectionRequest } from './inspection-request.ts'
import { type Refusal, refusal, tooManyFields } from './refusal.ts'
import { closingUnread } from './unread-body.ts'
import { applyVerdict } from './verdict-headers.ts'

/**
 * Whoever decides about requests: what `open()` resolves to, or a stand-in. Where there is a `judge`, that is asked:
 * whoever puts a `decide` of his own in the place of another's leaves it out.
 */
export interface Decider {
  decide(request: InspectionRequest): Decision
  judge?(request: InspectionRequest): RequestVerdict
}

/** What becomes of a request. With a refusal it goes no further; without one the host carries on. */
export interface Ruling {
  /** Absent when the request could not be judged. */
  readonly verdict?: RequestVerdict
  readonly refusal?: Refusal
}

/**
 * Inspects a Node request before the host sees it, writes the verdict into its headers, and refuses it where that is
 * an enforced block. Never throws: a decider that fails lets the request pass without a verdict, because
 * classification is not authorisation, and a process warning says so.
 */
export function decideRequest(decider: Decider, req: IncomingMessage, target?: string): Ruling {
  try {
    if (fieldsMissing(req)) return { refusal: closingUnread(req, tooManyFields()) }
    const request = inspectionRequest(req, target)
    const verdict = decider.judge?.(request) ?? verdictOf(decider.decide(request))
    applyVerdict(req, verdict)
    if (verdict.action !== 'block' || !verdict.enforced) return { verdict }
    return { verdict, refusal: closingUnread(req, refusal(verdict.decision(), request)) }
  } catch (error) {
    applyVerdict(req, undefined)
    process.emitWarning(`A request passed without inspection: ${error}`, 'SallyportWarning')
    return {}
  }
}

/** Throws `invalid_config` at start-up: without `decide`, as by a forgotten `await`, nothing would be inspected. */
export function requireDecider(decider: Decider): void {
  if (typeof decider?.decide !== 'function') {
    throw new SallyportError('invalid_config', 'Inspection takes what open() resolves to. Is an await missing?')
  }
}
