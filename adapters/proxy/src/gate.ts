import { type Decision, formatAddress, type InspectionRequest, type SourceStatus } from '@sallyport/core'
import {
  type ApiHost,
  answer,
  type Decider,
  foldedName,
  inspectionRequest,
  mountedPath,
  noteDecision,
  refusal,
} from '@sallyport/node'
import type { Admission } from './admission.ts'
import { answerWith, headRefusal, send, serverOptions } from './answers.ts'
import type { Exchange } from './exchange.ts'
import { METHODS, precheck } from './prechecks.ts'
import { requestFields } from './request-fields.ts'
import { isLoop } from './via.ts'

/** The part of a Sallyport that the proxy uses. */
export interface ProxyHost extends Decider, ApiHost {
  sources(): readonly SourceStatus[]
}

export interface GateOptions {
  /** Whether /v1 is answered here, and under which base; default at the root. */
  readonly api?: { readonly enabled?: boolean; readonly base?: string } | undefined
  /** Whether paths that servers read in several ways are refused; default `strict`. */
  readonly paths?: 'strict' | 'pass' | undefined
  /** Methods that are served beside those of `METHODS`. */
  readonly methods?: readonly string[] | undefined
  /** The header in which trusted proxies name the client; it is not forwarded. */
  readonly clientHeader?: string | undefined
  /** Called for every decided request, before it is refused or forwarded. */
  readonly onDecision?: ((decision: Decision, request: InspectionRequest) => void) | undefined
  /** A bug: the client gets 500 without detail. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** Forwards a request of a client with these fields. */
export type Forward = (exchange: Exchange, client: string, fields: string[]) => void

/**
 * Handles every request: pre-checks, the API where the path is the API's, the decision, then a refusal or the origin.
 * What the API or the origin has to answer waits for a slot first. The returned function never throws.
 */
export function createGate(
  sallyport: ProxyHost,
  options: GateOptions,
  admission: Admission,
  forward: Forward,
): (exchange: Exchange) => void {
  const { enabled = true, base = '' } = options.api ?? {}
  const methods = [...METHODS, ...(options.methods ?? [])]
  const rules = { paths: options.paths, methods, singleHeader: sallyport.singleHeader }
  const clientHeader = foldedName(options.clientHeader ?? 'x-forwarded-for')

  function receive(exchange: Exchange): void {
    const { request } = exchange
    const { httpVersion, method = '', url: target = '', rawHeaders: fields } = request
    if (admission.isClosed()) {
      admission.refuse(exchange, 'overload')
      return
    }
    const path = enabled ? mountedPath(target, base) : undefined
    const api = path !== undefined && /^\/v1(?:[/?]|$)/.test(path)
    exchange.api = api
    const refused = precheck({ ...rules, httpVersion, method, target, fields, api })
    if (refused) {
      admission.refuse(exchange, 'head', headRefusal(refused, methods))
    } else if (target === '*') {
      send(exchange, serverOptions(methods))
    } else if (api) {
      admission.admit(exchange, admission.clientOf(addressOf(sallyport, exchange)), () =>
        answerApi(sallyport, exchange, { target, path }).catch((error: unknown) => crash(exchange, error)),
      )
    } else {
      decide(exchange)
    }
  }

  function decide(exchange: Exchange): void {
    const { request } = exchange
    if (isLoop(request.rawHeaders)) {
      answerWith(exchange, refusal('loop_detected'), 'loop')
      return
    }
    const inspected = inspectionRequest(sallyport, request)
    const decision = sallyport.decide(inspected)
    noteDecision(exchange.observation, decision)
    options.onDecision?.(decision, inspected)
    if (decision.action === 'block' && decision.enforced) {
      answerWith(exchange, refusal('request_blocked'))
      return
    }
    if (Number(request.headers['content-length'] ?? 0) > admission.bodyBytes) {
      admission.refuse(exchange, 'body_bytes')
      return
    }
    const { httpVersion, rawHeaders } = request
    const fields = requestFields(rawHeaders, { decision, scheme: inspected.scheme, httpVersion, clientHeader })
    const client = admission.clientOf(decision.inspection.client.address)
    admission.admit(exchange, client, () => guarded(exchange, () => forward(exchange, client, fields)))
  }

  const crash = (exchange: Exchange, error: unknown): void => {
    options.onFault?.(error)
    answerCrash(exchange)
  }

  function guarded(exchange: Exchange, go: () => void): void {
    try {
      go()
    } catch (error) {
      crash(exchange, error)
    }
  }

  return (exchange) => guarded(exchange, () => receive(exchange))
}

async function answerApi(
  sallyport: ProxyHost,
  exchange: Exchange,
  { target, path }: { readonly target: string; readonly path: string },
): Promise<void> {
  exchange.wantBody(true)
  const { request, response: res } = exchange
  const answered = await answer(sallyport, request, { res, target, path })
  if (answered === undefined) answerWith(exchange, refusal('not_found'))
  else send(exchange, answered)
}

function answerCrash(exchange: Exchange): void {
  if (exchange.response.headersSent) exchange.response.destroy()
  else answerWith(exchange, refusal('internal_error'), 'fault')
}

function addressOf(sallyport: ProxyHost, { request }: Exchange): string {
  const inspected = inspectionRequest(sallyport, request)
  const address = sallyport.client?.(inspected).address
  return address === undefined ? inspected.peer : formatAddress(address)
}
