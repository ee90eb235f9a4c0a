import { type ChallengeStep, type Decision, HANDOFF_FIELD } from '@sallyport/core'
import {
  decideHead,
  decisionRefusal,
  foldedName,
  type HeadFault,
  limitFields,
  noteChallenge,
  ownAnswer,
  type ReceivedHead,
  refusal,
  renewedCookie,
  usageFields,
  wantedRequest,
} from '@sallyport/node/internal'
import { answerAsked, answerWith, headRefusal, send, serverOptions } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { forwardsLeft, withForwards } from '../fields/max-forwards.ts'
import { requestFields } from '../fields/request-fields.ts'
import { isLoop } from '../fields/via.ts'
import type { DecidingPart } from './deciders.ts'
import { isGrpc, refuseGrpc } from './grpc.ts'
import type { Forward, GateParts } from './options.ts'
import { METHODS } from './prechecks.ts'
import { createSiteParts } from './robots.ts'
import type { Site } from './sites.ts'

interface DecideParts extends GateParts {
  readonly forward: Forward
}

/** Decides about a request that is for the origin, and refuses it or forwards it once it has a slot. */
export function createDecide({ sallyport, options, admission, sites, routes, handoff, forward }: DecideParts) {
  const partsOf = createSiteParts(routes)
  const clientHeader = foldedName(options.clientHeader ?? 'x-forwarded-for')
  const ruling: RulingParts = { sallyport, options }

  function pass(exchange: Exchange, decision: Decision, site: Site): void {
    const { request, head } = exchange
    const { host = '' } = request.headers
    if (isGrpc(request)) {
      refuseGrpc(exchange)
      return
    }
    const usage = usageFields(sallyport.usage?.(partsOf(host)), head, decision)
    const renewed = renewedCookie(sallyport, head, decision)
    const cookie = renewed === undefined ? NOTHING : { 'set-cookie': renewed }
    exchange.isPrivate = decision.restsOnPass === true
    exchange.told = toldOf(exchange.standing, limitFields(decision), usage, cookie)
    if (Number(request.headers['content-length'] ?? 0) > admission.bodyBytes) {
      admission.refuse(exchange, 'body_bytes')
      return
    }
    const left = forwardsLeft(request)
    if (left === 0) {
      send(exchange, serverOptions([...METHODS, ...(options.methods ?? [])]))
      return
    }
    const { httpVersion, method, target } = head
    const scheme = sallyport.namedScheme?.(head) ?? head.scheme
    const received = left === undefined ? head.fields : withForwards(head.fields, left - 1)
    const fields = requestFields(received, { decision, scheme, httpVersion, clientHeader })
    const sign =
      handoff &&
      ((sent: readonly string[]) => [
        ...sent,
        HANDOFF_FIELD,
        handoff.sign({ method, target, fields: sent }, Date.now()),
      ])
    const client = admission.clientOf(decision.inspection.client.address)
    admission.admit(exchange, client, () => forward(exchange, client, { fields, sign }, site))
  }

  return (exchange: Exchange): void => {
    const { request, head, facts } = exchange
    if (isLoop(facts.via)) {
      answerWith(exchange, refusal('loop_detected'), 'loop')
      return
    }
    const { host = request.headers[':authority'] } = request.headers
    const { target } = wantedRequest(sallyport, head).head
    const site = sites.of(typeof host === 'string' ? host : '', target)
    if (site === undefined) {
      answerWith(exchange, refusal('misdirected_request'), 'unknown_host')
      return
    }
    if (site.ambiguous && options.paths !== 'pass') {
      admission.refuse(exchange, 'head', headRefusal(SEVERAL_ORIGINS, []))
      return
    }
    exchange.times = site.times
    ruled(ruling, exchange, site.decider, head, (decision) => pass(exchange, decision, site))
  }
}

/** The fault of a target that belongs to one origin as it is written, and to another as some server reads it (D307). */
export const SEVERAL_ORIGINS: HeadFault = {
  status: 400,
  reason: 'The target is ambiguous: servers read paths of several origins.',
}

type Told = Exchange['told']

/** Nearly always a limit and the use of content have nothing to say, and then nothing is made. */
function toldOf(standing: Told, ...more: readonly Told[]): Told {
  return more.every(isNone) ? standing : Object.assign({}, standing, ...more)
}

const NOTHING: Told = {}

function isNone(fields: Told): boolean {
  for (const _ in fields) return false
  return true
}

interface RulingParts extends Pick<GateParts, 'sallyport' | 'options'> {
  /** Answers who is asked, or redirected. */
  readonly asked?: typeof ownAnswer | undefined
}

/** Decides about a head, which may be that of another request; refuses the exchange, or goes on with the decision. */
export function ruled(
  { sallyport, options, asked: answerOf = ownAnswer }: RulingParts,
  exchange: Exchange,
  decider: DecidingPart,
  head: ReceivedHead,
  pass: (decision: Decision) => void,
): void {
  const carry = (decision: Decision): void => {
    options.onDecision?.(decision, head)
    const note = (step: ChallengeStep) => noteChallenge(exchange.observation, step)
    const asked = answerOf(sallyport, head, decision, note)
    if (asked !== undefined) {
      answerAsked(exchange, asked)
      return
    }
    const refused = decisionRefusal(decision, head)
    if (refused === undefined) pass(decision)
    else answerWith(exchange, refused)
  }
  const decided = decideHead(sallyport, decider, head, exchange)
  if (!(decided instanceof Promise)) carry(decided)
  else void decided.then((decision) => exchange.guard(() => carry(decision)))
}
