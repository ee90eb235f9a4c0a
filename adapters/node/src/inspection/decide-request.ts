import type { ChallengeStep, Decision, InspectionRequest, Mode, MountPolicy } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { limitFields } from '../answer/limit-fields.ts'
import { decisionRefusal, headRefusal, type Refusal, refusedRequest, rendered } from '../answer/refusal.ts'
import { usageFields } from '../answer/usage-fields.ts'
import { renewedCookie } from '../challenge/cookies.ts'
import type { RequestHost } from '../request/request-host.ts'
import { type CountingHost, decideHead } from './decide-head.ts'
import { noteChallenge, noteRefusal } from './observation.ts'
import { ownAnswer } from './own-answer.ts'
import type { Received } from './received.ts'

/** Decides about requests: what `open()` resolves to, or a stand-in. */
export interface Decider extends CountingHost {
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

/** The asker, as rules and logs name it. */
export interface RequestIdentity {
  readonly user?: string | undefined
  readonly plan?: string | undefined
}

/** Outcome of a request: with a refusal it goes no further, without one the host carries on. */
export interface Outcome {
  /** Absent when the request could not be judged. */
  readonly decision?: Decision | undefined
  readonly refusal?: ApiResponse | undefined
}

/** Carries out a decision. */
export type CarryOut = (host: RequestHost, received: Received, decision: Decision) => Outcome | Promise<Outcome>

/**
 * Inspects a request before the host sees it, and refuses it where that is an enforced refusal, or where its head can be
 * read in two ways. A promise only where rules count in a store, or a visitor is given a pass. Throws what the decider throws.
 */
export function outcomeOf(
  decider: Decider,
  received: Received,
  identity: RequestIdentity | undefined,
  carryOut: CarryOut = carriedOut,
): Outcome | Promise<Outcome> {
  const { observation } = received
  const { head } = received.reception
  const fault = received.fault(decider)
  if (fault !== undefined) {
    noteRefusal(observation, 'head')
    return { refusal: refused(decider, received, headRefusal(fault, head.fields)) }
  }
  const request = identity === undefined ? head : { ...head, ...identity }
  const decided = decideHead(decider, decider, request, received)
  if (!(decided instanceof Promise)) return carryOut(decider, received, decided)
  return decided.then((decision) => carryOut(decider, received, decision))
}

/** A decision, and the refusal that it comes to. An answer that goes on says what is left of a limit. */
export function carriedOut(host: RequestHost, received: Received, decision: Decision): Outcome | Promise<Outcome> {
  const { head } = received.reception
  const note = (step: ChallengeStep) => noteChallenge(received.observation, step)
  const asked = ownAnswer(host, head, decision, note)
  if (asked !== undefined) {
    noteRefusal(received.observation)
    const answered = (answer: ApiResponse): Outcome => ({ decision, refusal: received.closing(answer) })
    return asked instanceof Promise ? asked.then(answered) : answered(asked)
  }
  const refusal = decisionRefusal(decision, head)
  if (refusal === undefined) {
    const told = limitFields(decision)
    for (const name in told) received.tell(name, told[name])
    const usage = usageFields(host.usage?.(), head, decision)
    for (const name in usage) received.suggest(name, usage[name] as string)
    const renewed = renewedCookie(host, head, decision)
    if (renewed !== undefined) received.addCookie(renewed)
    if (decision.restsOnPass) received.keepPrivate()
    return { decision }
  }
  noteRefusal(received.observation)
  return { decision, refusal: refused(host, received, refusal) }
}

/** A refusal ready to be sent as the answer to a request. */
export function refused(host: RequestHost, received: Received, refusal: Refusal): ApiResponse {
  const { head } = received.reception
  return received.closing(rendered(refusal, refusedRequest(host, head)))
}

/** Throws `invalid_config` at start-up: without `decide`, as by a forgotten `await`, nothing would be inspected. */
export function requireDecider(decider: Decider): void {
  if (typeof decider?.decide !== 'function') {
    throw new SallyportError(
      'invalid_config',
      'Inspection takes the value that open() resolves to. Is an await missing?',
    )
  }
}
