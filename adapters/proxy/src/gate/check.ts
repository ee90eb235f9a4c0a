import type { Decision, ErrorCode, TrustedHeaders } from '@sallyport/core'
import { readMcpRequest } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import {
  type Answered,
  answerPhase,
  callRefusal,
  decisionRefusal,
  type HeadFault,
  isAsking,
  legalRefusal,
  type Refusal,
  refusal,
  renewedCookie,
  route as routePlaces,
  verdictFields,
} from '@sallyport/node/internal'
import { headRefusal } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { foreignName } from '../fields/client-fields.ts'
import { type ForwardAuth, REFUSED_PATH, readOriginal } from './forward-auth.ts'
import type { GateServices } from './options.ts'
import { precheck } from './prechecks.ts'
import { SEVERAL_ORIGINS } from './sites.ts'

/* Servers that ask whether they may forward a request enter here: forward auth and ext_authz. The phases judge the original request. */

/** Does the part of `precheck` for a check: writes `subject`, the head of the original request, and its observation. */
export function checkOriginal(exchange: Exchange, services: GateServices, family: ForwardAuth): Answered {
  const { head: check, observation } = exchange
  const { host, options, admission, methods } = services
  const deny = (why: string) => {
    options.onDenied?.(why)
    return exchange.refuse(refusal('request_blocked'), 'forward_auth')
  }
  if (host.isTrusted?.(check.peer) !== true) return deny(`trustProxy does not name ${check.peer}`)
  const read = readOriginal(family, check)
  if ('missing' in read) return deny(`${read.missing} is missing or repeated`)
  const { method, target, fields } = read.request
  exchange.subject = read.request
  observation.askAbout({ method, target, host: fields[1] as string })
  const { singleHeader } = host
  const { paths } = options
  const head = { httpVersion: '1.1', method, target, fields, paths, methods, isElsewhere: true, singleHeader }
  const fault = findForeignName(check.fields, options) ?? precheck(head)
  return fault && admission.refuse(exchange, 'head', headRefusal(fault, methods))
}

/** Does the part of `route` for a check. Where no route has the Host, the check has no site, and the rules for all sites decide. */
export function routeOriginal(exchange: Exchange, services: GateServices): Answered {
  const { options, admission, sites, methods } = services
  routePlaces(exchange, services)
  const site = sites.of(exchange.subject.fields[1] as string, exchange.wanted.target)
  if (site?.ambiguous && options.paths !== 'pass') {
    return admission.refuse(exchange, 'head', headRefusal(SEVERAL_ORIGINS, methods))
  }
  exchange.decider = site?.decider
  return undefined
}

/** Does the part of `answer` for a check: returns 200 with the verdict in headers, or a refusal in a status that the server relays. */
export function answerCheck(exchange: Exchange, services: GateServices): Answered | Promise<Answered> {
  const { host } = services
  const { subject, observation } = exchange
  const decision = exchange.decision as Decision
  const isOffered = decision.action === 'offer' && decision.enforced
  if (exchange.check === 'few' && !isOffered) {
    // nginx keeps only the status of an answer, and sends the client to the gate, where its request is observed: nothing may be spent
    // before that.
    if (isAsking(host, subject, decision)) {
      observation.observed = undefined
      observation.refuse()
      return { status: 401, headers: {}, body: '' }
    }
    const refused = decisionRefusal(decision, subject)
    if (refused !== undefined) return exchange.refuse(refused)
  } else {
    const answered = answerPhase(exchange, services)
    if (answered instanceof Promise) return answered.then((later) => later ?? passCheck(exchange, services))
    if (answered !== undefined) return answered
  }
  return passCheck(exchange, services)
}

/** Returns the answer with which the asking server forwards the request. */
function passCheck(exchange: Exchange, { host }: GateServices): ApiResponse {
  const { subject } = exchange
  const decision = exchange.decision as Decision
  const renewed = exchange.ownFields['set-cookie'] ?? renewedCookie(host, subject, decision)
  const headers = verdictFields(decision)
  return { status: 200, headers: renewed ? { ...headers, 'set-cookie': renewed } : headers, body: '' }
}

/** Maps the status of a check's refusal to its error code. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '402': 'payment_required',
  '403': 'request_blocked',
  '405': 'method_not_allowed',
  '429': 'rate_limit_exceeded',
  '503': 'service_unavailable',
}

/**
 * Renders the page of a refusal of which nginx keeps only the head: nginx sends the client here with the status, the time to wait, the
 * price and the id of the check. No phase decides or counts again. `undefined` for any other request.
 */
export function answerRefused(exchange: Exchange, { host }: GateServices): Answered {
  const { request, head, observation } = exchange
  if (head.target !== REFUSED_PATH || host.isTrusted?.(head.peer) !== true) return undefined
  const { 'sallyport-status': code = '', 'retry-after': wait = '', 'crawler-price': price } = request.headers
  const [, status, form] = /^([45]\d\d)(;mcp)?$/.exec(String(code)) ?? []
  // Without such a status nginx itself refused the client.
  if (status === undefined) return exchange.refuse(refusal('request_blocked'))
  observation.observed = undefined
  // The check read the calls from the same fields.
  const mcp = form === undefined ? undefined : readMcpRequest(head.fields, { missing: 'unseen' })
  exchange.head = { ...head, mcp }
  if (mcp?.fault?.status === Number(status)) return exchange.refuse(callRefusal(mcp.fault))
  if (status === '451') return exchange.refuse(legalRefusal())
  if (status === '402' && price !== undefined) return exchange.refuse(askPrice(request.headers))
  const refused = refusal(CODES[status] ?? 'invalid_request', Number(status))
  return exchange.refuse(/^\d{1,6}$/.test(wait) ? { ...refused, headers: { 'retry-after': wait } } : refused)
}

/** Returns the refusal that names the price, and the ways to pay where nginx passes them on. */
function askPrice(headers: Readonly<Record<string, unknown>>): Refusal {
  const note = String(headers['crawler-price'])
  const { 'payment-required': required } = headers
  const fields = { 'crawler-price': note, ...(required !== undefined && { 'payment-required': String(required) }) }
  return { ...refusal('payment_required'), headers: fields, note, body: { price: note } }
}

/** Refuses names that we cannot remove, because another server forwards the request, and that a program may read as ours. */
function findForeignName(fields: readonly string[], headers: TrustedHeaders): HeadFault | undefined {
  const name = foreignName(fields, headers)
  return name === undefined
    ? undefined
    : { status: 400, reason: `The name ${name} could pass for a header that only a server may set.` }
}
