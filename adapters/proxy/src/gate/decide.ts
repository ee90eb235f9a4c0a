import { createHandoffSigner, type Decision, HANDOFF_FIELD, type InspectionRequest, refuses } from '@sallyport/core'
import {
  countRequest,
  decisionRefusal,
  foldedName,
  type HeadFault,
  inspectionRequest,
  isHttp2,
  limitFields,
  noteDecision,
  refusal,
} from '@sallyport/node/internal'
import { http1Fields } from '../edge/http1-fields.ts'
import { answerWith, headRefusal } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { requestFields } from '../fields/request-fields.ts'
import { isLoop } from '../fields/via.ts'
import { isGrpc, refuseGrpc } from './grpc.ts'
import type { Forward, GateParts, ProxyHost } from './options.ts'
import type { RouteTimeouts, Site } from './sites.ts'

interface DecideParts extends GateParts {
  readonly forward: Forward
}

/** Decides about a request that is for the origin, and refuses it or forwards it once it has a slot. */
export function createDecide({ sallyport, options, admission, sites, forward }: DecideParts) {
  const clientHeader = foldedName(options.clientHeader ?? 'x-forwarded-for')
  const handoff = createHandoffSigner(options.handoff?.keys ?? [])

  function carryOut(exchange: Exchange, inspected: InspectionRequest, decision: Decision, site: Site): void {
    const { request } = exchange
    noteDecision(exchange.observation, decision)
    options.onDecision?.(decision, inspected)
    if (refuses(decision.action) && decision.enforced) {
      answerWith(exchange, decisionRefusal(decision))
      return
    }
    if (isGrpc(request)) {
      refuseGrpc(exchange)
      return
    }
    exchange.told = { ...exchange.standing, ...limitFields(decision) }
    if (Number(request.headers['content-length'] ?? 0) > admission.bodyBytes) {
      admission.refuse(exchange, 'body_bytes')
      return
    }
    const { httpVersion, rawHeaders, method = 'GET', url: target = '/' } = request
    const received = isHttp2(rawHeaders) ? http1Fields(rawHeaders) : rawHeaders
    const fields = requestFields(received, { decision, scheme: inspected.scheme, httpVersion, clientHeader })
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
    const { request } = exchange
    if (isLoop(request.rawHeaders)) {
      answerWith(exchange, refusal('loop_detected'), 'loop')
      return
    }
    const { host = request.headers[':authority'] } = request.headers
    const site = sites.of(typeof host === 'string' ? host : '', request.url ?? '/')
    if (site === undefined) {
      answerWith(exchange, refusal('misdirected_request'), 'unknown_host')
      return
    }
    if (site.ambiguous && options.paths !== 'pass') {
      admission.refuse(exchange, 'head', headRefusal(SEVERAL_ORIGINS, []))
      return
    }
    exchange.times = timesOf(site.timeouts)
    const inspected = inspectionRequest(sallyport, request)
    const decision = site.decider.decide(inspected)
    const counted = countExchange(sallyport, exchange, inspected, decision)
    const carry = (decision: Decision): void => carryOut(exchange, inspected, decision, site)
    if (!(counted instanceof Promise)) carry(counted)
    else void counted.then((decision) => exchange.guard(() => carry(decision)))
  }
}

/** The fault of a target that belongs to one origin as it is written, and to another as some server reads it (D307). */
export const SEVERAL_ORIGINS: HeadFault = {
  status: 400,
  reason: 'The target is ambiguous: servers read paths of several origins.',
}

/** Times of a route's own, where it has any. */
function timesOf({ idleBody, originHeaders }: RouteTimeouts): Exchange['times'] {
  return {
    ...(idleBody !== undefined && { upload: idleBody, answer: idleBody }),
    ...(originHeaders !== undefined && { head: originHeaders }),
  }
}

/** Counts in the one step after the decision. */
export function countExchange(
  sallyport: ProxyHost,
  exchange: Exchange,
  inspected: InspectionRequest,
  decision: Decision,
): Decision | Promise<Decision> {
  const answer = {
    onEnd: (ended: () => void) => exchange.onEnd(ended),
    status: () => (exchange.refused ? undefined : exchange.response.statusCode),
  }
  return countRequest(sallyport, decision, inspected.fields, answer)
}
