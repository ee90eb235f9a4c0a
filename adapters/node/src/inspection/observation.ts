import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Decision, Observe, ObservedRequest, Writable } from '@sallyport/core'
import { formatAddress } from '@sallyport/core/host'
import { clientJa4 } from '../request/connection-ja4.ts'
import { endingOf } from '../request/ending.ts'
import { inspectionRequest } from '../request/inspection-request.ts'
import type { RequestHost } from '../request/request-host.ts'
import { requestId } from '../request/request-id.ts'

/** On a request: its observation. Known to every copy of this package in a process. */
const OBSERVATION: unique symbol = Symbol.for('sallyport.observation') as never

/** Everything learnt about a request; filled in where it is decided and answered. */
export interface Observation {
  decision?: Decision
  answeredBy: ObservedRequest['answeredBy']
  refusedFor?: string
  /** From `performance.now()`, when it was decided. */
  decidedAt?: number
  /** The request that is asked about, where that is another one. */
  original?: OriginalRequest
  /** Status of an answer that has none of its own, as a tunnel's. */
  status?: number
}

/** A request that a server in front asks about. */
export interface OriginalRequest {
  readonly method: string
  readonly target: string
  readonly host: string
}

/** The answer of an observed request. */
export interface ObservedAnswer {
  /** Absent where the host answers on a socket. */
  readonly response?: ServerResponse | undefined
  /** As received; default `req.url`. */
  readonly target?: string | undefined
  /** Emits `close` at the end. */
  readonly end: EventEmitter
}

/**
 * Observes a request until its answer has ended, where somebody wants to know: at every call the same observation, and
 * `undefined` where nobody does.
 */
export function observe(
  host: RequestHost,
  req: IncomingMessage & { [OBSERVATION]?: Observation },
  answer: ObservedAnswer,
  answeredBy: ObservedRequest['answeredBy'] = 'host',
): Observation | undefined {
  const tell = host.observe
  if (tell === undefined) return undefined
  const known = req[OBSERVATION]
  if (known !== undefined) return known
  const begun: Observation = { answeredBy }
  req[OBSERVATION] = begun
  const finish = watch(host, req, answer, begun)
  endingOf(answer.end).once('close', () => report(tell, finish))
  return begun
}

/** The observation of a request that somebody began to observe. */
export function observation(req: IncomingMessage & { [OBSERVATION]?: Observation }): Observation | undefined {
  return req[OBSERVATION]
}

/** Notes a decision, and when it was made. */
export function noteDecision(observation: Observation | undefined, decision: Decision): void {
  if (observation === undefined) return
  observation.decision = decision
  observation.decidedAt = performance.now()
}

/** Notes which request a check is about; that is the one that is observed. */
export function noteOriginal(observation: Observation | undefined, original: OriginalRequest): void {
  if (observation === undefined) return
  observation.original = original
  observation.answeredBy = 'host'
}

/** Notes that we answer instead of the host or the origin; `why` where nothing was decided against the client. */
export function noteRefusal(observation: Observation | undefined, why?: string): void {
  if (observation === undefined) return
  observation.answeredBy = 'refusal'
  if (why !== undefined) observation.refusedFor = why
}

/** Observes a request from its beginning; the returned function says what it was at its end. */
function watch(
  host: RequestHost,
  req: IncomingMessage,
  { response, target = req.url ?? '' }: ObservedAnswer,
  observation: Observation,
): () => ObservedRequest {
  const id = requestId(host, req)
  const [at, began] = [Date.now(), performance.now()]
  const { method = '', headers, httpVersionMajor } = req
  const socket: Socket | undefined = req.socket
  const peer = socket?.remoteAddress ?? ''
  const ja4 = clientJa4(host, req)
  const name = headers.host ?? headers[':authority']
  // Requests of HTTP/2 share a connection.
  const counted = httpVersionMajor === 1 ? socket : undefined
  const [received, sent] = [counted?.bytesRead ?? 0, counted?.bytesWritten ?? 0]

  return () => {
    const { decision, answeredBy, refusedFor, decidedAt, original } = observation
    const observed: Writable<ObservedRequest> = {
      id,
      answeredBy,
      peer,
      client: decision?.inspection.client.address ?? clientOf(host, req, target, peer),
      method: original?.method ?? method,
      host: original?.host ?? (typeof name === 'string' ? name : ''),
      path: withoutQuery(original?.target ?? target),
      status: observation.status ?? (response?.headersSent ? response.statusCode : 0),
      at,
      milliseconds: performance.now() - began,
    }
    if (decision !== undefined) observed.decision = decision
    if (ja4 !== undefined) observed.ja4 = ja4
    if (decidedAt !== undefined) observed.inspectionMilliseconds = decidedAt - began
    if (refusedFor !== undefined) observed.refusedFor = refusedFor
    if (counted !== undefined) {
      observed.bytesReceived = counted.bytesRead - received
      observed.bytesSent = counted.bytesWritten - sent
    }
    return observed
  }
}

function clientOf(host: RequestHost, req: IncomingMessage, target: string, peer: string): string {
  // Its socket may have no address any more.
  const address = host.client?.({ ...inspectionRequest(host, req, target), peer }).address
  return address === undefined ? peer : formatAddress(address)
}

function withoutQuery(target: string): string {
  const end = target.search(/[?#]/)
  return end < 0 ? target : target.slice(0, end)
}

/** Nobody waits for what is observed, and nobody's fault may end the process. */
function report(tell: Observe, finish: () => ObservedRequest): void {
  try {
    tell(finish())
  } catch (error) {
    process.emitWarning(`A request was not observed: ${error}`, 'SallyportWarning')
  }
}
