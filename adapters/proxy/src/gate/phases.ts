import type { TLSSocket } from 'node:tls'
import { type Decision, DIRECTORY_PATH } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import {
  type Answered,
  answerCheckedApi,
  answerKeyDirectory,
  answerPhase,
  clientAddress,
  createPipeline,
  decide,
  INSECURE,
  inspect,
  isApiPath,
  isSecured,
  mountedPath,
  NO_HOST,
  OTHER_SITE,
  PAGE,
  type PhaseTable,
  readJson,
  receiveExchange,
  refusal,
  route as routePlaces,
} from '@sallyport/node/internal'
import { type ClientRequest, readableBody } from '../edge/client-messages.ts'
import { headRefusal, isGrpc, sendAnswered, serverOptions, UNIMPLEMENTED } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { forwardsLeft, isLoop } from '../fields/request-fields.ts'
import { answerCheck, answerRefused, checkOriginal, routeOriginal } from './check.ts'
import { isCheckFor, isNginx } from './forward-auth.ts'
import { forward } from './forwarding.ts'
import type { GateOptions, GateServices } from './options.ts'
import { precheck as findFault } from './prechecks.ts'
import { SEVERAL_ORIGINS } from './sites.ts'

type Phases = PhaseTable<Exchange, GateServices>

/** Maps the phases of the proxy to `PHASES`. */
const TABLE: Phases = {
  receive: receiveExchange,
  precheck,
  route,
  inspect: inspectWithSlot,
  decide,
  answer: answerPhase,
  admit,
  forward,
}

/** Creates the function that takes every request of the proxy through its phases. That function never throws. */
export function createGate(services: GateServices): (exchange: Exchange) => void {
  const run = createPipeline(addHook(addChecks(services), services.options), services)
  return (exchange) =>
    exchange.guard(() => {
      const answered = run(exchange)
      if (answered !== undefined) sendAnswered(exchange, answered)
    })
}

/** Adds the checks of a server that asks before it forwards (`check.ts`); they enter by `precheck`. */
function addChecks(services: GateServices): Phases {
  const { forwardAuth } = services.options
  if (!forwardAuth) return TABLE
  return {
    ...TABLE,
    decide: forwardAuth === 'nginx' && forwardsNothing(services) ? decideUncounted : decide,
    answer: (exchange, gate) =>
      exchange.check === undefined ? answerPhase(exchange, gate) : answerCheck(exchange, gate),
  }
}

/** Adds a program's hook to the phases, before the answer is sent. */
function addHook(table: Phases, { onDecision }: GateOptions): Phases {
  const { answer } = table
  if (onDecision === undefined || answer === undefined) return table
  return {
    ...table,
    answer(exchange, gate) {
      const answered = answer(exchange, gate)
      // A payment changes the decision.
      const tell = (later: Answered): Answered => {
        onDecision(exchange.decision as Decision, exchange.subject)
        return later
      }
      return answered instanceof Promise ? answered.then(tell) : tell(answered)
    },
  }
}

/**
 * Reads `request`, `head`, `facts`; writes `check`, `api`, `standing`, and for a check `subject`. Returns 503 under overload, the token for
 * a certificate authority, and 400 to 505 for a head that the proxy does not pass on. A refusal ends the connection.
 */
function precheck(exchange: Exchange, gate: GateServices): Answered {
  exchange.begin()
  const { request, facts } = exchange
  const { options, admission, methods } = gate
  const { httpVersion, method = '', url: target = '', rawHeaders: fields } = request
  const family = options.forwardAuth ?? false
  const asking = family && isCheckFor(family, target) ? family : undefined
  if (asking) exchange.check = isNginx(asking) ? 'few' : 'relayed'
  const isElsewhere = family && forwardsNothing(gate)
  exchange.hasOwnBody = !asking && !isElsewhere
  if (gate.isOverloaded(exchange.waitedMs)) return admission.refuse(exchange, 'overload')
  const refused = family === 'nginx' ? answerRefused(exchange, gate) : undefined
  if (refused !== undefined) return refused
  const path = apiPath(gate, target)
  exchange.api = path !== undefined
  const secure = isSecure(request)
  if (secure && options.hsts !== undefined) exchange.stand({ 'strict-transport-security': options.hsts })
  if (asking) return checkOriginal(exchange, gate, asking)
  // No verdict, limit or redirect comes before it: authorities ask from any network.
  const token = secure ? undefined : options.acmeAnswer?.(target)
  if (token !== undefined) return { status: 200, headers: { 'content-type': 'text/plain' }, body: token }
  const { paths } = options
  const head = { paths, methods, httpVersion, method, target, fields, api: exchange.api, isElsewhere }
  const fault = findFault(head, facts)
  return fault && admission.refuse(exchange, 'head', headRefusal(fault, methods))
}

/** Reads a body that is needed before the decision only for a request with a slot, because the proxy holds its bytes meanwhile. */
function inspectWithSlot(exchange: Exchange, gate: GateServices): Answered | Promise<Answered> {
  const { head, wanted, hasOwnBody } = exchange
  const { host, admission } = gate
  // MCP clients send calls by POST alone.
  const mayCall = hasOwnBody && wanted.method === 'POST'
  if (!mayCall || (exchange.decider ?? host).readsCalls?.(wanted) !== true) return inspect(exchange, gate)
  const admitted = admission.admit(exchange, clientAddress(host, head))
  if (!(admitted instanceof Promise)) return admitted ?? inspect(exchange, gate)
  return admitted.then((refused) => refused ?? inspect(exchange, gate))
}

/** Reports whether the gate has no origin: with forward auth it answers clients that the server in front sends. */
function forwardsNothing({ sites }: GateServices): boolean {
  return sites.origins.length === 0
}

/** Counts no request that nginx has checked before it sent the request to be challenged here: the check was counted. */
function decideUncounted(exchange: Exchange, gate: GateServices): ReturnType<typeof decide> {
  const { check, challengePlace, decision } = exchange
  if (check === undefined && challengePlace === undefined && decision?.action === 'challenge') exchange.counts = false
  return decide(exchange, gate)
}

/**
 * Reads `named`, `subject`, `api`; writes `site`, `times`, `decider`, and what `route` of all hosts writes. Answers the redirect to https,
 * `OPTIONS *`, robots.txt, our keys, and the API, which takes a slot first; 421 for a Host without a route, 508 for a loop.
 */
function route(exchange: Exchange, gate: GateServices): Answered | Promise<Answered> {
  const { request, named, facts, head } = exchange
  const { host: sallyport, options, admission, sites, methods } = gate
  if (exchange.check !== undefined) return routeOriginal(exchange, gate)
  const { host = '' } = request.headers
  const { url: target = '' } = request
  const refuseHead = (fault: Parameters<typeof headRefusal>[0]) =>
    admission.refuse(exchange, 'head', headRefusal(fault, methods))
  if (named !== undefined) {
    if (named.isOther && !sites.namesHosts) return refuseHead(OTHER_SITE)
    if (named.scheme === 'https' && !isSecured(sallyport, head)) return refuseHead(INSECURE)
    if (sites.of(host, target) === undefined) return exchange.refuse(refusal('misdirected_request'), 'unknown_host')
  }
  if (options.httpsPort !== undefined && !isSecure(request)) {
    return host === '' ? refuseHead(NO_HOST) : redirectToHttps(host, target, options.httpsPort())
  }
  if (target === '*') return serverOptions(methods)
  const robots = gate.robots(exchange)
  if (robots !== undefined) return robots
  const directory = target.startsWith(DIRECTORY_PATH) ? answerKeyDirectory(exchange, sallyport) : undefined
  if (directory !== undefined) return directory
  if (exchange.api) return callApi(exchange, gate, apiPath(gate, target) as string)
  if (facts.via !== undefined && isLoop(facts.via)) return exchange.refuse(refusal('loop_detected'), 'loop')
  if (sallyport.challenges !== undefined && target.includes((exchange.config?.challenge ?? PAGE).path))
    routePlaces(exchange, gate)
  const site = sites.of(host || (facts.authority ?? ''), exchange.wanted.target)
  if (site === undefined) return exchange.refuse(refusal('misdirected_request'), 'unknown_host')
  if (site.ambiguous && options.paths !== 'pass') return refuseHead(SEVERAL_ORIGINS)
  exchange.site = site
  exchange.times = site.times
  exchange.decider = site.decider
  return undefined
}

/**
 * Reads the client of `decision`; writes `client`. Returns the refusal of a gRPC call, 413 for a body that is too large, and the answer to
 * an OPTIONS that ends here. Waits for a slot: first within the share of the client, then within the total.
 */
function admit(exchange: Exchange, { admission, bodyBytes, methods }: GateServices): Answered | Promise<Answered> {
  const { request, facts } = exchange
  if (request.httpVersionMajor === 2 && isGrpc(request)) {
    exchange.observation.refuse('grpc')
    return UNIMPLEMENTED
  }
  if (Number(facts.contentLength ?? 0) > bodyBytes) return admission.refuse(exchange, 'body_bytes')
  if (request.method === 'OPTIONS' && forwardsLeft(request) === 0) return serverOptions(methods)
  if (exchange.admitted !== undefined) return undefined
  return admission.admit(exchange, (exchange.decision as Decision).inspection.client.address)
}

/** Returns the target under the base of the API, where it belongs to the API. */
function apiPath({ options: { api = {} } }: GateServices, target: string): string | undefined {
  const { enabled = true, base = '' } = api
  // Nearly every target begins differently.
  if (!enabled || !target.startsWith('/v1', base.length)) return undefined
  const path = mountedPath(target, base)
  return path !== undefined && isApiPath(path) ? path : undefined
}

async function callApi(exchange: Exchange, { host, admission }: GateServices, path: string): Promise<Answered> {
  const { request, head } = exchange
  const refused = await admission.admit(exchange, clientAddress(host, head))
  if (refused !== undefined) return refused
  exchange.wantBody(true)
  const read = () => readJson(readableBody(request), request.headers, undefined)
  return (await answerCheckedApi(host, exchange, path, read)) ?? exchange.refuse(refusal('not_found'))
}

/** Redirects a request of the plain listener to the same place over TLS; `host` and `target` are checked. */
function redirectToHttps(host: string, target: string, port: number): ApiResponse {
  const name = host.replace(/:\d{0,5}$/, '')
  const site = port === HTTPS_PORT ? name : `${name}:${port}`
  const location = `https://${site}${target === '*' ? '/' : target}`
  return { status: 308, headers: { location, 'content-type': 'text/plain' }, body: `${location}\n` }
}

const HTTPS_PORT = 443

function isSecure({ socket }: ClientRequest): boolean {
  return (socket as Partial<TLSSocket>).encrypted === true
}
