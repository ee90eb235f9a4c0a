import type { ChallengeStep, Decision, InspectionRequest, Observe, ObservedRequest, Writable } from '@sallyport/core'
import { formatAddress } from '@sallyport/core/host'
import { type Ending, endingOf } from '../request/ending.ts'
import { fieldOf, hostOf } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { RequestHost } from '../request/request-host.ts'

/** In characters: more says nothing more, and thousands of requests are remembered. */
const MAX_USER_AGENT = 400

/** On a request: its observation. Known to every copy of this package in a process. */
const OBSERVATION: unique symbol = Symbol.for('sallyport.observation') as never

/** Everything learnt about a request; filled in where it is decided and answered. */
export interface Observation {
  decision?: Decision | undefined
  answeredBy: ObservedRequest['answeredBy']
  refusedFor?: string | undefined
  /** The request's part in a challenge. */
  challenge?: ChallengeStep | undefined
  /** From `performance.now()`, when it was decided. */
  decidedAt?: number | undefined
  /** The request that is asked about, where that is another one. */
  original?: OriginalRequest | undefined
  /** Status of an answer that has none of its own, as a tunnel's. */
  status?: number | undefined
}

/** A request that a server in front asks about. */
export interface OriginalRequest {
  readonly method: string
  readonly target: string
  readonly host: string
}

/** An answer that a host sends: Node's own, or what stands for it. */
export interface HostResponse {
  readonly headersSent: boolean
  readonly statusCode: number
  setHeader(name: string, value: string): unknown
  removeHeader(name: string): void
}

/** A request of a host: what is judged of it, and where it is answered. */
export interface Reception {
  /** The host's own, for listeners of channels; the observation is kept on it. */
  readonly request: object
  readonly head: ReceivedHead
  /** Absent where the host answers on a socket. */
  readonly response?: HostResponse | undefined
  /** The emitter whose `close` is the end of the answer. */
  readonly end: Ending
  /** Counts the bytes of a connection that has one request at a time. */
  readonly connection?: { readonly bytesRead: number; readonly bytesWritten: number } | undefined
}

/**
 * Observes a request until its answer has ended, where somebody wants to know: at every call the same observation, and
 * `undefined` where nobody does.
 */
export function observe(
  host: RequestHost,
  reception: Reception,
  answeredBy: ObservedRequest['answeredBy'] = 'host',
): Observation | undefined {
  const tell = host.observe
  if (tell === undefined) return undefined
  const request: Reception['request'] & { [OBSERVATION]?: Observation | undefined } = reception.request
  const known = request[OBSERVATION]
  if (known !== undefined) return known
  const begun: Observation = { answeredBy }
  request[OBSERVATION] = begun
  const finish = watch(host, reception, begun)
  endingOf(reception.end).once('close', () => report(tell, finish))
  return begun
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

/** Notes the part of a request in a challenge. */
export function noteChallenge(observation: Observation | undefined, challenge: ChallengeStep): void {
  if (observation !== undefined) observation.challenge = challenge
}

/** Observes a request from its beginning; the returned function says what it was at its end. */
function watch(
  host: RequestHost,
  { head, response, connection }: Reception,
  observation: Observation,
): () => ObservedRequest {
  const { id, peer, method, target, ja4, fields } = head
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
      host: original?.host ?? hostOf(fields) ?? '',
      path: withoutQuery(original?.target ?? target),
      userAgent: (fieldOf(fields, 'user-agent') ?? '').slice(0, MAX_USER_AGENT),
      status: observation.status ?? (response?.headersSent ? response.statusCode : 0),
      at,
      milliseconds: performance.now() - began,
    }
    if (decision !== undefined) observed.decision = decision
    if (ja4 !== undefined) observed.ja4 = ja4
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
