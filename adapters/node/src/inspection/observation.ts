import type { ChallengeStep, Decision, InspectionRequest, Observe, ObservedRequest, Writable } from '@sallyport/core'
import { aiReferrerOf, formatAddress } from '@sallyport/core/host'
import type { Ending } from '../request/ending.ts'
import { type HeadFields, siteOf } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { Observation, OriginalRequest } from '../request/observation.ts'
import type { RequestHost } from '../request/request-host.ts'

/** In characters: more says nothing more, and thousands of requests are remembered. */
const MAX_USER_AGENT = 400

/** An answer that a host sends: Node's own, or what stands for it. */
export interface HostResponse {
  readonly headersSent: boolean
  readonly statusCode: number
  setHeader(name: string, value: string): unknown
  /** Sets it unless the answer has one of that name in the end; absent: where there is none yet. */
  suggestHeader?(name: string, value: string): void
  hasHeader?(name: string): boolean
  getHeader?(name: string): unknown
  writeHead?(status: number, ...more: unknown[]): unknown
  /** Has the answer kept by its client's cache alone; absent: `writeHead` is asked. */
  keepPrivate?(): void
  /** Adds a value beside those that are there. */
  appendHeader?(name: string, value: string): unknown
  removeHeader(name: string): void
}

/** A request of a host: what is judged of it, and where it is answered. */
export interface Reception {
  /** The host's own, for listeners of channels. */
  readonly request: object
  /** The same for every reception of a request. */
  readonly observation: Observation
  readonly head: ReceivedHead
  /** The facts of its fields. */
  readonly facts: HeadFields
  /** Absent where the host answers on a socket. */
  readonly response?: HostResponse | undefined
  /** The emitter whose `close` is the end of the answer. */
  readonly end: Ending
  /** Counts the bytes of a connection that has one request at a time. */
  readonly connection?: { readonly bytesRead: number; readonly bytesWritten: number } | undefined
}

/** Observes a request until its answer has ended, where somebody wants to know; only the first call does something. */
export function observe(host: RequestHost, reception: Reception): void {
  const tell = host.observe
  const { observation, end } = reception
  if (tell === undefined || observation.report !== undefined) return
  const finish = watch(host, reception)
  observation.report = () => report(tell, finish)
  observation.hear(end)
}

/** Notes a decision, and when it was made. */
export function noteDecision(observation: Observation, decision: Decision): void {
  observation.decision = decision
  observation.decidedAt = performance.now()
}

/** Notes which request a check is about; that is the one that is observed. */
export function noteOriginal(observation: Observation, original: OriginalRequest): void {
  observation.original = original
  observation.answeredBy = 'host'
}

/** Notes that we answer instead of the host or the origin; `why` where nothing was decided against the client. */
export function noteRefusal(observation: Observation, why?: string): void {
  observation.answeredBy = 'refusal'
  if (why !== undefined) observation.refusedFor = why
}

/** Notes the part of a request in a challenge. */
export function noteChallenge(observation: Observation, challenge: ChallengeStep): void {
  observation.challenge = challenge
}

/** Observes a request from its beginning; the returned function says what it was at its end. */
function watch(
  host: RequestHost,
  { observation, head, facts, response, connection }: Reception,
): () => ObservedRequest {
  const { id, peer, method, target, ja4 } = head
  const [at, began] = [Date.now(), performance.now()]
  const [received, sent] = [connection?.bytesRead ?? 0, connection?.bytesWritten ?? 0]

  return () => {
    const { decision, answeredBy, refusedFor, challenge, decidedAt, original } = observation
    const observed: Writable<ObservedRequest> = {
      id,
      answeredBy,
      peer,
      client: decision?.inspection.client.address ?? clientOf(host, head),
      method: original?.method ?? method,
      host: original?.host ?? siteOf(facts) ?? '',
      path: withoutQuery(original?.target ?? target),
      userAgent: (facts.userAgent ?? '').slice(0, MAX_USER_AGENT),
      status: observation.status ?? (response?.headersSent ? response.statusCode : 0),
      at,
      milliseconds: performance.now() - began,
    }
    if (decision !== undefined) observed.decision = decision
    if (ja4 !== undefined) observed.ja4 = ja4
    const cameFrom = aiReferrerOf(facts.referer, original?.target ?? target)
    if (cameFrom !== undefined) observed.cameFrom = cameFrom
    if (decidedAt !== undefined) observed.inspectionMilliseconds = decidedAt - began
    if (refusedFor !== undefined) observed.refusedFor = refusedFor
    if (challenge !== undefined) observed.challenge = challenge
    if (connection !== undefined) {
      observed.bytesReceived = connection.bytesRead - received
      observed.bytesSent = connection.bytesWritten - sent
    }
    return observed
  }
}

function clientOf(host: RequestHost, head: InspectionRequest): string {
  const address = host.client?.(head).address
  return address === undefined ? head.peer : formatAddress(address)
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
