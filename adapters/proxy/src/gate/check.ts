import type { Decision } from '@sallyport/core'
import {
  type HeadFault,
  isAsking,
  noteOriginal,
  ownAnswer,
  refusal,
  renewedCookie,
  verdictFields,
  wantedRequest,
} from '@sallyport/node/internal'
import { answerWith, headRefusal, send } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { foreignName } from '../fields/client-fields.ts'
import { ruled, SEVERAL_ORIGINS } from './decide.ts'
import { type ForwardAuth, isNginx, originalOf } from './forward-auth.ts'
import type { GateParts } from './options.ts'
import { precheck } from './prechecks.ts'

/**
 * Answers a server that asks whether it may forward a request: 200 with the verdict in headers, or a refusal with our page, in a
 * status that the server relays (D150).
 */
export function createCheck(
  { sallyport, options, sites, admission }: GateParts,
  methods: readonly string[],
): (exchange: Exchange, family: ForwardAuth) => void {
  let warned = false
  const deny = (exchange: Exchange, why: string): void => {
    if (!warned) options.onNotice?.(`forward-auth: refused a check: ${why}`)
    warned = true
    answerWith(exchange, refusal('request_blocked'), 'forward_auth')
  }

  return (exchange, family) => {
    const { head: check } = exchange
    if (sallyport.isTrusted?.(check.peer) !== true) return deny(exchange, `trustProxy does not name ${check.peer}`)
    const read = originalOf(family, check)
    if ('missing' in read) return deny(exchange, `${read.missing} is missing, or comes twice`)
    const original = read.request
    const { method, target, fields } = original
    noteOriginal(exchange.observation, { method, target, host: fields[1] as string })
    const { singleHeader } = sallyport
    const head = { httpVersion: '1.1', method, target, fields, paths: options.paths, methods, singleHeader }
    const fault = nameFault(check.fields, options.clientHeader) ?? precheck(head)
    if (fault) return admission.refuse(exchange, 'head', headRefusal(fault, methods))
    const site = sites.of(fields[1] as string, wantedRequest(sallyport, original).head.target)
    if (site?.ambiguous && options.paths !== 'pass') {
      return admission.refuse(exchange, 'head', headRefusal(SEVERAL_ORIGINS, methods))
    }
    const pass = (decision: Decision): void => {
      const renewed = renewedCookie(sallyport, original, decision)
      const headers = verdictFields(decision)
      send(exchange, { status: 200, headers: renewed ? { ...headers, 'set-cookie': renewed } : headers, body: '' })
    }
    const answerAsked = isNginx(family) ? sentToGate(exchange) : ownAnswer
    ruled({ sallyport, options, asked: answerAsked }, exchange, site?.decider ?? sallyport, original, pass)
  }
}

/**
 * nginx keeps nothing of an answer but its status, and sends the client to the gate: nothing may be spent before that. The client's
 * request there is the one that is observed.
 */
function sentToGate({ observation }: Exchange): typeof ownAnswer {
  return (host, head, decision) => {
    if (!isAsking(host, head, decision)) return undefined
    observation.report = undefined
    return { status: 401, headers: {}, body: '' }
  }
}

/** Another server forwards the request, with names that we cannot remove and a program may read as ours (D308). */
function nameFault(fields: readonly string[], clientHeader = 'x-forwarded-for'): HeadFault | undefined {
  const name = foreignName(fields, clientHeader)
  return name === undefined
    ? undefined
    : { status: 400, reason: `${name} may be read as a header that only a server writes.` }
}
