import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Decision, InspectionRequest, SourceStatus } from '@sallyport/core'
import {
  type ApiHost,
  answer,
  type Decider,
  foldedName,
  inspectionRequest,
  mountedPath,
  refusal,
} from '@sallyport/node'
import { errorAnswer, headAnswer, send, serverOptions } from './answers.ts'
import { METHODS, precheck } from './prechecks.ts'
import { requestFields } from './request-fields.ts'

/** The part of a Sallyport that the proxy uses. */
export interface ProxyHost extends Decider, ApiHost {
  sources(): readonly SourceStatus[]
  /** Whether a peer is a trusted proxy; absent: none is. */
  isTrusted?(peer: string): boolean
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

/** One request, of whichever event. */
export interface Arrival {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The client waits for `100 Continue` before it sends the body. */
  readonly waiting?: boolean
  /** Forwards it with these fields; not called for a request that is answered here. */
  forward(fields: readonly string[]): void
}

/**
 * Handles every request: pre-checks, the API where the path is the API's, the decision, then a refusal or the origin.
 * The returned function never throws.
 */
export function createGate(sallyport: ProxyHost, options: GateOptions): (arrival: Arrival) => void {
  const { enabled = true, base = '' } = options.api ?? {}
  const methods = [...METHODS, ...(options.methods ?? [])]
  const clientHeader = foldedName(options.clientHeader ?? 'x-forwarded-for')

  function receive({ request, response, waiting = false, forward }: Arrival): void {
    const { httpVersion, method = '', url: target = '', rawHeaders: fields } = request
    const path = enabled ? mountedPath(target, base) : undefined
    const api = path !== undefined && /^\/v1(?:[/?]|$)/.test(path)
    const refused = precheck({ httpVersion, method, target, fields, api, paths: options.paths, methods })
    if (refused) {
      send(request, response, headAnswer(refused, methods))
      return
    }
    if (target === '*') {
      send(request, response, serverOptions(methods))
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
    forward(requestFields(fields, { decision, scheme: inspected.scheme, clientHeader }))
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
