import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/api'
import type { Decision, InspectionRequest, Mode, MountPolicy } from '@sallyport/core'
import { refuses, SallyportError } from '@sallyport/core/host'
import { limitFields } from '../answer/limit-fields.ts'
import { decisionRefusal, headRefusal, type Refusal, rendered } from '../answer/refusal.ts'
import { applyVerdict } from '../answer/verdict-headers.ts'
import { endingOf } from '../request/ending.ts'
import { lookAtServer, serverOf } from '../request/host-server.ts'
import { inspectionRequest } from '../request/inspection-request.ts'
import { requestFault } from '../request/request-fault.ts'
import type { RequestHost } from '../request/request-host.ts'
import { nameAnswer, requestId } from '../request/request-id.ts'
import { closingUnread } from '../request/unread-body.ts'
import { type CountingHost, countRequest } from './count-request.ts'
import { noteDecision, noteRefusal, type Observation, observe } from './observation.ts'

/** Decides about requests: what `open()` resolves to, or a stand-in. */
export interface Decider extends RequestHost, CountingHost {
  /** Judges a request at once, from memory; never throws. */
  decide(request: InspectionRequest): Decision
  /** Makes the decider of one mount; a stand-in without it takes no `policy` and no `mode`. */
  decider?(options: MountRules): Pick<Decider, 'decide'>
}

/** Rules that decide at one mount in place of the service's own. */
export interface MountRules {
  readonly policy?: MountPolicy | undefined
  readonly mode?: Mode | undefined
}

/** A request of a host, and where it is answered. */
export interface Received {
  readonly req: IncomingMessage
  /** Named the request's id; absent for an upgrade. */
  readonly res?: ServerResponse
  /** The connection of an upgrade. */
  readonly socket?: Socket
  /** As received; default `req.url`. */
  readonly target?: string | undefined
  /** The visitor, as the application says. */
  readonly identity?: { readonly user?: string; readonly plan?: string }
  /** Learns of a failed inspection; default: a process warning. */
  readonly onError?: (error: unknown) => void
}

/** Outcome of a request: with a refusal it goes no further, without one the host carries on. */
export interface Outcome {
  /** Absent when the request could not be judged. */
  readonly decision?: Decision
  readonly refusal?: ApiResponse
}

/**
 * Inspects a Node request before the host sees it, names its id in the answer and the verdict in its headers, and refuses
 * it where that is an enforced block, or where its head can be read in two ways. Never throws: a decider that fails lets
 * the request pass without a verdict, because classification is not authorisation, and a process warning says so. A
 * promise only where rules count in a store.
 */
export function decideRequest(decider: Decider, received: Received): Outcome | Promise<Outcome> {
  const outcome = outcomeOf(decider, received)
  return outcome instanceof Promise ? outcome.then((later) => applied(received, later)) : applied(received, outcome)
}

function applied({ req }: Received, outcome: Outcome): Outcome {
  applyVerdict(req, outcome.decision)
  return outcome
}

/** `decideRequest` without a change to the request's headers. */
export function outcomeOf(decider: Decider, received: Received): Outcome | Promise<Outcome> {
  const { req, res, socket, target, identity, onError = warn } = received
  try {
    lookAtServer(serverOf(req))
    if (res !== undefined) nameAnswer(res, requestId(decider, req))
    const end = res ?? socket
    const observation = end && observe(decider, req, { response: res, end, target })
    const seen = inspectionRequest(decider, req, target)
    const request = identity === undefined ? seen : { ...seen, ...identity }
    const fault = requestFault(decider, req, request.target)
    if (fault !== undefined) {
      noteRefusal(observation, 'head')
      return { refusal: refused(decider, req, headRefusal(fault, request.fields)) }
    }
    const counted = counting(decider, received, request, observation)
    const carry = (decision: Decision): Outcome => {
      noteDecision(observation, decision)
      return carriedOut(decider, received, decision, observation)
    }
    return counted instanceof Promise ? counted.then(carry) : carry(counted)
  } catch (error) {
    onError(error)
    return {}
  }
}

function warn(error: unknown): void {
  process.emitWarning(`A request passed without inspection: ${error}`, 'SallyportWarning')
}

/** Decides, and counts in the one step after that. */
function counting(
  decider: Decider,
  { req, res, socket }: Received,
  request: InspectionRequest,
  observation: Observation | undefined,
): Decision | Promise<Decision> {
  const status = (): number | undefined => {
    const ours = observation !== undefined && observation.answeredBy !== 'host'
    return ours || !res?.headersSent ? undefined : res.statusCode
  }
  const end = endingOf(res ?? socket ?? req)
  const onEnd = (ended: () => void): void => {
    const counted = (): void => {
      try {
        ended()
      } catch (error) {
        // An event of the host's: what it throws would end the process.
        process.emitWarning(`The end of a request was not counted: ${error}`, 'SallyportWarning')
      }
    }
    if (end.closed) counted()
    else end.once('close', counted)
  }
  return countRequest(decider, decider.decide(request), request.fields, { onEnd, status })
}

/** A decision, and the refusal that it comes to. An answer that goes on says what is left of a limit. */
export function carriedOut(
  host: RequestHost,
  { req, res }: Received,
  decision: Decision,
  observation: Observation | undefined,
): Outcome {
  const told = limitFields(decision)
  if (!refuses(decision.action) || !decision.enforced) {
    for (const name in told) res?.setHeader(name, told[name] as string)
    return { decision }
  }
  noteRefusal(observation)
  return { decision, refusal: refused(host, req, decisionRefusal(decision)) }
}

/** A refusal ready to be sent as the answer to a request. */
export function refused(host: RequestHost, req: IncomingMessage, refusal: Refusal): ApiResponse {
  const { refusalPage: page } = host
  return closingUnread(req, rendered(refusal, { id: requestId(host, req), fields: req.rawHeaders, page }))
}

/** Throws `invalid_config` at start-up: without `decide`, as by a forgotten `await`, nothing would be inspected. */
export function requireDecider(decider: Decider): void {
  if (typeof decider?.decide !== 'function') {
    throw new SallyportError('invalid_config', 'Inspection takes what open() resolves to. Is an await missing?')
  }
}
