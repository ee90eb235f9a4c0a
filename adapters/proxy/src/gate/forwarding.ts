import type { Socket } from 'node:net'
import { type Decision, HANDOFF_FIELD } from '@sallyport/core'
import { carriesForwarding } from '@sallyport/core/host'
import { type Answered, askingAnswer, type RequestHost, refusal } from '@sallyport/node/internal'
import { type ClientRequest, hintsTo } from '../edge/client-messages.ts'
import { StreamRequest } from '../edge/stream-request.ts'
import { answerWith, limitRefusal, type Refusals, sendAnswered } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { forwardsLeft, requestFields, withForwards } from '../fields/request-fields.ts'
import { hintFields } from '../fields/response-fields.ts'
import { classifyFailure, clientReason, explained, originFault } from '../origin/faults.ts'
import type { RelayHooks } from '../origin/relay.ts'
import { openTunnel } from '../tunnel/upgrade.ts'
import type { DecidingPart } from './deciders.ts'
import type { GateServices, ProxyHost } from './options.ts'
import type { Site, SitesOptions } from './sites.ts'

export interface ForwardingOptions extends Pick<SitesOptions, 'limits' | 'timeouts'> {
  /** Called when an origin gives no usable answer. */
  readonly onOriginFailure?: ((error: Error) => void) | undefined
}

/** Reads `head`, `decision`, `site`; passes the request, with the fields for its origin, to the origin. */
export function forward(exchange: Exchange, gate: GateServices): Answered {
  const { request, head } = exchange
  const { host, handoff, table } = gate
  const { httpVersion, method, target } = head
  const left = request.method === 'OPTIONS' ? forwardsLeft(request) : undefined
  const received = left === undefined ? head.fields : withForwards(head.fields, left - 1)
  const scheme = (exchange.facts.namesScheme ? host.namedScheme?.(head) : undefined) ?? head.scheme
  const fields = requestFields(received, {
    decision: exchange.decision as Decision,
    verdict: exchange.verdict,
    scheme,
    httpVersion,
    table,
  })
  const sign =
    handoff &&
    ((sent: readonly string[]) => [...sent, HANDOFF_FIELD, handoff.sign({ method, target, fields: sent }, Date.now())])
  gate.forward(exchange, { fields, sign }, exchange.site as Site)
  return undefined
}

/** Creates the functions that send a request, or a WebSocket, to an origin, and answer where the origin gives no answer. */
export function createForwarding(
  sallyport: ProxyHost,
  { limits, timeouts, onOriginFailure }: ForwardingOptions,
  refusals: Refusals,
): Readonly<Record<'forward' | 'openWebSocket', GateServices['forward']>> {
  const onFailure = (exchange: Exchange, failure: Error): void => {
    const error = explained(failure, limits)
    onOriginFailure?.(error)
    sallyport.meter?.add('originFailures', [originFault(error)])
    answerWith(exchange, refusal(classifyFailure(error), undefined, clientReason(error)), 'origin')
  }
  const onConflict = (name: string): void => sallyport.meter?.add('fieldConflicts', [name])
  const hooks: RelayHooks = {
    onFailure,
    onRefused(exchange, cause) {
      refusals.count(cause)
      answerWith(exchange, limitRefusal(cause), cause)
    },
    onConflict,
    onAsked(exchange, level) {
      return sallyport.decider !== undefined && stepUp(sallyport, exchange, (exchange.site as Site).stepUp(level))
    },
    onHints: passHints,
  }
  return {
    forward(exchange, handed, site) {
      const { stream, ownHost } = site
      const owner = ownConnection(exchange, sallyport)
      // A spread of `handed` would cost as much as the decision.
      const { fields, sign } = handed
      originFor(exchange, site)?.forward({ fields, sign, exchange, owner, stream, ownHost }, hooks)
    },
    openWebSocket(exchange, handed, site) {
      const { ownHost } = site
      const origin = originFor(exchange, site)
      if (origin === undefined) return
      const handshake = { ...handed, exchange, ownHost, onFailure: (error: Error) => onFailure(exchange, error) }
      openTunnel(origin, { ...handshake, onConflict }, { ...timeouts, ...site.timeouts })
    },
  }
}

/** Returns the origin of a request; answers 404 where there is none. */
function originFor(exchange: Exchange, { origin }: Site): Site['origin'] {
  if (origin === undefined) answerWith(exchange, refusal('not_found'), 'no_origin')
  return origin
}

/**
 * Returns the connection of a client that uses it alone, over HTTP/1. Requests of one HTTP/2 session come at the same time, and a proxy,
 * named or not, sends requests of several visitors over one connection.
 */
function ownConnection({ request, head, facts, decision }: Exchange, host: RequestHost): Socket | undefined {
  // A trusted proxy has named the client.
  if (request instanceof StreamRequest || decision?.inspection.client.via === 'header') return undefined
  if (facts.via !== undefined || carriesForwarding(head.fields)) return undefined
  return host.isTrusted?.(head.peer) === true ? undefined : request.socket
}

/**
 * Challenges the client of an exchange because the origin requires it; returns false where no challenge is possible: the client then gets
 * the origin's answer.
 */
function stepUp(host: ProxyHost, exchange: Exchange, decider: DecidingPart | undefined): boolean {
  if (decider === undefined) return false
  const { head, observation } = exchange
  const decision = decider.decide(head)
  if (decision.action !== 'challenge' || !decision.enforced) return false
  const answer = askingAnswer(host, head, decision, (step) => {
    observation.challenge = step
  })
  if (answer === undefined) return false
  observation.decide(decision)
  observation.refuse()
  sendAnswered(exchange, answer)
  return true
}

/** Fields of a request that another server has passed on. */
const PASSED_ON = ['via', 'forwarded', 'x-forwarded-for', 'x-real-ip']
/** Matches programs that handle a 103 correctly: browsers, and tested clients. */
const TAKING = /^(?:Mozilla\/5\.0 |curl\/|Wget\/|node$|undici$|Go-http-client\/)/

/** Passes early hints of the origin on; drops hints that cannot be sent, because the answer repeats them. */
function passHints({ request, response }: Exchange, raw: readonly Buffer[]): void {
  if (!takesHints(request) || response.headersSent || response.closed) return
  const fields = hintFields(raw)
  if (fields.length > 0) hintsTo(response, fields)
}

/** Reports whether a client accepts an answer before the answer; over HTTP/1.1 some clients that should do not. */
function takesHints({ httpVersion, headers }: ClientRequest): boolean {
  if (httpVersion === '1.0') return false
  if (httpVersion !== '1.1') return true
  const { 'user-agent': agent } = headers
  return !PASSED_ON.some((name) => headers[name] !== undefined) && (agent === undefined || TAKING.test(agent))
}
