import type { Decision, ErrorCode } from '@sallyport/core'
import {
  type Answered,
  answerPhase,
  decisionRefusal,
  type HeadFault,
  isAsking,
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

/* The entrance of servers that ask whether they may forward a request: forward auth and ext_authz. The phases judge the original request. */

interface CheckServices extends GateServices {
  readonly methods: readonly string[]
}

/** The part of `precheck` for a check: writes `subject`, the head of the original request, and the observation of it. */
export function checkOriginal(exchange: Exchange, services: CheckServices, family: ForwardAuth): Answered {
  const { head: check, observation } = exchange
  const { host, options, admission, methods } = services
  const deny = (why: string) => {
    options.onDenied?.(why)
    return exchange.refuse(refusal('request_blocked'), 'forward_auth')
  }
  if (host.isTrusted?.(check.peer) !== true) return deny(`trustProxy does not name ${check.peer}`)
  const read = readOriginal(family, check)
  if ('missing' in read) return deny(`${read.missing} is missing, or comes twice`)
  const { method, target, fields } = read.request
  exchange.subject = read.request
  observation.askAbout({ method, target, host: fields[1] as string })
  const { singleHeader } = host
  const { paths } = options
  const head = { httpVersion: '1.1', method, target, fields, paths, methods, isElsewhere: true, singleHeader }
  const fault = findForeignName(check.fields, options.clientHeader) ?? precheck(head)
  return fault && admission.refuse(exchange, 'head', headRefusal(fault, methods))
}

/** The part of `route` for a check, which has no site where no route has its Host: the rules of all decide then. */
export function routeOriginal(exchange: Exchange, services: CheckServices): Answered {
  const { options, admission, sites, methods } = services
  routePlaces(exchange, services)
  const site = sites.of(exchange.subject.fields[1] as string, exchange.wanted.target)
  if (site?.ambiguous && options.paths !== 'pass') {
    return admission.refuse(exchange, 'head', headRefusal(SEVERAL_ORIGINS, methods))
  }
  exchange.decider = site?.decider
  return undefined
}

/** The part of `answer` for a check: 200 with the verdict in headers, or a refusal in a status that the server relays. */
export function answerCheck(exchange: Exchange, services: CheckServices): Answered | Promise<Answered> {
  const { host } = services
  const { subject, observation } = exchange
  const decision = exchange.decision as Decision
  if (exchange.check === 'few') {
    // nginx keeps nothing of an answer but its status, and sends the client to the gate, where its request is observed: nothing may be
    // spent before that.
    if (isAsking(host, subject, decision)) {
      observation.observed = undefined
      observation.refuse()
      return { status: 401, headers: {}, body: '' }
    }
    const refused = decisionRefusal(decision, subject)
    if (refused !== undefined) return exchange.refuse(refused)
  } else {
    const answered = answerPhase(exchange, services)
    if (answered !== undefined) return answered
  }
  const renewed = exchange.told['set-cookie'] ?? renewedCookie(host, subject, decision)
  const headers = verdictFields(decision)
  return { status: 200, headers: renewed ? { ...headers, 'set-cookie': renewed } : headers, body: '' }
}

/** Codes of refusals by the status that a check had for them. */
const CODES: Readonly<Record<string, ErrorCode>> = {
  '403': 'request_blocked',
  '405': 'method_not_allowed',
  '429': 'rate_limit_exceeded',
  '503': 'service_unavailable',
}

/**
 * The page of a refusal of which nginx keeps the head alone: it sends the client here with the status, the time to wait and the
 * id of the check. Nothing is decided or counted again. `undefined` for any other request.
 */
export function answerRefused(exchange: Exchange, { host, options }: CheckServices): Answered {
  const { request, head, observation } = exchange
  const isSent = options.forwardAuth === 'nginx' && head.target === REFUSED_PATH && host.isTrusted?.(head.peer) === true
  if (!isSent) return undefined
  const { 'sallyport-status': status = '', 'retry-after': wait = '' } = request.headers
  const isOurs = /^[45]\d\d$/.test(String(status))
  // Without such a status nginx itself refused the client.
  if (isOurs) observation.observed = undefined
  const refused = isOurs
    ? refusal(CODES[String(status)] ?? 'invalid_request', Number(status))
    : refusal('request_blocked')
  return exchange.refuse(/^\d{1,6}$/.test(wait) ? { ...refused, headers: { 'retry-after': wait } } : refused)
}

/** Another server forwards the request, with names that we cannot remove and a program may read as ours. */
function findForeignName(fields: readonly string[], clientHeader = 'x-forwarded-for'): HeadFault | undefined {
  const name = foreignName(fields, clientHeader)
  return name === undefined
    ? undefined
    : { status: 400, reason: `${name} may be read as a header that only a server writes.` }
}
