import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision, InspectionRequest, SourceStatus } from '@sallyport/core'
import { type ApiHost, answer, type Decider, inspectionRequest, mountedPath, refusal } from '@sallyport/node'
import { errorAnswer, headAnswer, SERVER_OPTIONS, send } from './answers.ts'
import { precheck } from './prechecks.ts'
import { requestFields } from './request-fields.ts'

/** What the proxy asks of a Sallyport: what `open()` resolves to, or a stand-in. */
export interface ProxyHost extends Decider, ApiHost {
  sources(): readonly SourceStatus[]
}

export interface GateOptions {
  /** Whether /v1 is answered here, and under which base; default at the root. */
  readonly api?: { readonly enabled?: boolean; readonly base?: string } | undefined
  /** The header in which trusted proxies name the client: it goes no further. */
  readonly clientHeader?: string | undefined
  /** Called for every request that was decided, before it is refused or sent on. */
  readonly onDecision?: ((decision: Decision, request: InspectionRequest) => void) | undefined
  /** A bug: the client is told 500 and no more. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** One request at the gate, whatever event brought it. */
export interface Arrival {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The client waits for `100 Continue` before it sends the body. */
  readonly waiting?: boolean
  /** Sends it on with the fields that the origin gets; not called for what is answered here. */
  pass(fields: readonly string[]): void
}

/**
 * The way of every request: the pre-checks, the API where the path is the API's, the decision, and then a refusal or
 * the origin. The function it returns never throws.
 */
export function createGate(sallyport: ProxyHost, options: GateOptions): (arrival: Arrival) => void {
  const { enabled = true, base = '' } = options.api ?? {}
  const clientHeader = options.clientHeader?.toLowerCase() ?? 'x-forwarded-for'

  function receive({ request, response, waiting = false, pass }: Arrival): void {
    const { httpVersion, method = '', url: target = '', rawHeaders: fields } = request
    const path = enabled ? mountedPath(target, base) : undefined
    const api = path !== undefined && /^\/v1(?:[/?]|$)/.test(path)
    const refused = precheck({ httpVersion, method, target, fields, api })
    if (refused) {
      send(request, response, headAnswer(refused))
      return
    }
    if (target === '*') {
      send(request, response, SERVER_OPTIONS)
      return
    }

    if (api) {
      if (waiting) response.writeContinue()
      answer(sallyport, request, { target, path })
        .then((answered) => send(request, response, answered ?? errorAnswer('not_found')))
        .catch((error: unknown) => crash(request, response, error))
      return
    }

    const inspected = inspectionRequest(request)
    const decision = sallyport.decide(inspected)
    options.onDecision?.(decision, inspected)
    if (decision.action === 'block' && decision.enforced) {
      send(request, response, refusal(decision, inspected))
      return
    }
    if (waiting) response.writeContinue()
    pass(requestFields(fields, { decision, scheme: inspected.scheme, clientHeader }))
  }

  function crash(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    options.onFault?.(error)
    if (response.headersSent) response.destroy()
    else send(request, response, errorAnswer('internal_error'))
  }

  return (arrival) => {
    try {
      receive(arrival)
    } catch (error) {
      crash(arrival.request, arrival.response, error)
    }
  }
}
