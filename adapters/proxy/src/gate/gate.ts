import type { TLSSocket } from 'node:tls'
import { formatAddress } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import {
  answerApi as answerOf,
  INSECURE,
  isApiPath,
  isSecured,
  mountedPath,
  NO_HOST,
  OTHER_SITE,
  Received,
  readJson,
  refusal,
} from '@sallyport/node/internal'
import { bodyOf, type ClientRequest } from '../edge/client-messages.ts'
import { answerWith, headRefusal, send, serverOptions } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { createCheck } from './check.ts'
import { createDecide } from './decide.ts'
import { isCheckOf, isNginx } from './forward-auth.ts'
import type { Forward, GateParts, ProxyHost } from './options.ts'
import { METHODS, precheck } from './prechecks.ts'
import { createRobots } from './robots.ts'

/**
 * Handles every request: pre-checks, the API where the path is the API's, the decision, then a refusal or the origin.
 * A request for the API or the origin waits for a slot first. The returned function never throws.
 */
export function createGate(parts: GateParts, forward: Forward): (exchange: Exchange) => void {
  const { sallyport, options, admission, sites } = parts
  const { enabled = true, base = '' } = options.api ?? {}
  const methods = [...METHODS, ...(options.methods ?? [])]
  const family = options.forwardAuth ?? false

  function receive(exchange: Exchange): void {
    const { request, named, facts } = exchange
    const { httpVersion, method = '', url: target = '', rawHeaders: fields } = request
    const asking = family && isCheckOf(family, target) ? family : undefined
    if (asking) exchange.check = isNginx(asking) ? 'few' : 'relayed'
    if (admission.isClosed(exchange.waitedMs)) {
      admission.refuse(exchange, 'overload')
      return
    }
    const path = enabled ? mountedPath(target, base) : undefined
    const api = path !== undefined && isApiPath(path)
    exchange.api = api
    const secure = isSecure(request)
    if (secure && options.hsts !== undefined) exchange.standing = { 'strict-transport-security': options.hsts }
    if (asking) {
      check(exchange, asking)
      return
    }
    const token = secure ? undefined : options.acmeAnswer?.(target)
    if (token !== undefined) {
      // No verdict, limit or redirect stands before it: authorities ask from any network.
      send(exchange, { status: 200, headers: { 'content-type': 'text/plain' }, body: token })
      return
    }
    const robotsText = robots(exchange)
    const refused = precheck({ paths: options.paths, methods, httpVersion, method, target, fields, api }, facts)
    const { host = '' } = request.headers
    if (refused) {
      admission.refuse(exchange, 'head', headRefusal(refused, methods))
    } else if (named?.isOther && !sites.namesHosts) {
      admission.refuse(exchange, 'head', headRefusal(OTHER_SITE, methods))
    } else if (named?.scheme === 'https' && !isSecured(sallyport, exchange.head)) {
      admission.refuse(exchange, 'head', headRefusal(INSECURE, methods))
    } else if (named !== undefined && sites.of(host, target) === undefined) {
      answerWith(exchange, refusal('misdirected_request'), 'unknown_host')
    } else if (!secure && options.httpsPort !== undefined) {
      if (host === '') admission.refuse(exchange, 'head', headRefusal(NO_HOST, methods))
      else send(exchange, toHttps(host, target, options.httpsPort()))
    } else if (target === '*') {
      send(exchange, serverOptions(methods))
    } else if (robotsText !== undefined) {
      send(exchange, robotsText)
    } else if (api) {
      admission.admit(exchange, admission.clientOf(addressOf(sallyport, exchange)), () =>
        answerApi(sallyport, exchange, path).catch((error: unknown) => exchange.fail(error)),
      )
    } else {
      decide(exchange)
    }
  }

  const check = createCheck(parts, methods)
  const robots = createRobots(parts)
  const decide = createDecide({ ...parts, forward })

  return (exchange) => exchange.guard(() => receive(exchange))
}

/** The answer that sends a request of the plain listener to the same place over TLS; `host` and `target` are checked. */
function toHttps(host: string, target: string, port: number): ApiResponse {
  const name = host.replace(/:\d{0,5}$/, '')
  const site = port === HTTPS_PORT ? name : `${name}:${port}`
  const location = `https://${site}${target === '*' ? '/' : target}`
  return { status: 308, headers: { location, 'content-type': 'text/plain' }, body: `${location}\n` }
}

const HTTPS_PORT = 443

function isSecure({ socket }: ClientRequest): boolean {
  return (socket as Partial<TLSSocket>).encrypted === true
}

async function answerApi(sallyport: ProxyHost, exchange: Exchange, path: string): Promise<void> {
  exchange.wantBody(true)
  const { request, observation, head, facts, response } = exchange
  // The API adds to the head that it is given, and its answer is sent here.
  const received = new Received(sallyport, { request, observation, head: { ...head }, facts, end: response })
  const answered = await answerOf(sallyport, received, path, () =>
    readJson(bodyOf(request), request.headers, undefined),
  )
  if (answered === undefined) answerWith(exchange, refusal('not_found'))
  else send(exchange, answered)
}

function addressOf(sallyport: ProxyHost, { head }: Exchange): string {
  const address = sallyport.client?.(head).address
  return address === undefined ? head.peer : formatAddress(address)
}
