import { randomUUID } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { ChallengeStep, Decision, ObservedRequest, PaymentStep, Writable } from '@sallyport/core'
import { findAiReferrer, formatAddress, readTraits } from '@sallyport/core/host'
import { announcePhase } from './phases.ts'
import type { HeadFields } from './request/head-fields.ts'
import type { NodeHead, ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'
import { newId } from './request/request-id.ts'

/** Keys the observation on the raw fields of a request. Every copy of this package in a process knows the symbol. */
const OBSERVATION: unique symbol = Symbol.for('sallyport.observation') as never

/** A request that a server in front asks us to check. */
export interface OriginalRequest {
  readonly method: string
  readonly target: string
  readonly host: string
}

/** Sends the event `close` once, when an answer ends. */
export interface Ending extends EventEmitter {
  readonly closed?: boolean | undefined
}

/** Members of an exchange that are reported at its end. */
export interface Observed {
  readonly host: RequestHost
  readonly head: ReceivedHead
  readonly facts: HeadFields
  /** The configuration in force when the request came. */
  readonly config: RequestHost['config']
  readonly response?: { readonly headersSent: boolean; readonly statusCode: number } | undefined
  /** Return `Content-Type` and `Set-Cookie` of the answer, where the host sees them. */
  contentType(): string | undefined
  setCookies(): readonly string[] | undefined
  /** Counts the bytes of a connection that has one request at a time. */
  readonly connection?: { readonly bytesRead: number; readonly bytesWritten: number } | undefined
}

/** Holds the id of a request, the facts learnt about it, and the callbacks of its end. All mounts of a host share it. */
export class Observation {
  readonly id: string
  answeredBy: ObservedRequest['answeredBy'] = 'host'
  decision: Decision | undefined = undefined
  refusedFor: string | undefined = undefined
  /** Records the request's part in a challenge. */
  challenge: ChallengeStep | undefined = undefined
  /** Records the request's part in an offer. */
  payment: PaymentStep | undefined = undefined
  /** When the request was decided, from `performance.now()`. */
  decidedAt: number | undefined = undefined
  /** The request that a server in front asks us to check; absent: the request itself. */
  original: OriginalRequest | undefined = undefined
  /** The status of an answer that has no head, such as a tunnel's. */
  status: number | undefined = undefined
  /** The exchange that is reported at the end of the request; absent: nothing is reported. */
  observed: Observed | undefined = undefined
  /** Frees everything else that a host holds for the request. */
  release: (() => void) | undefined = undefined
  readonly #at = Date.now()
  readonly #began = performance.now()
  #received = 0
  #sent = 0
  #counted: (() => void)[] | undefined = undefined
  #heard = false
  #ended = false

  constructor(id: string) {
    this.id = id
  }

  /** Reports the request to its host when its answer has ended, where the host observes requests. Only the first call has an effect. */
  observe(observed: Observed, end: Ending): void {
    if (observed.host.observe === undefined || this.observed !== undefined) return
    this.observed = observed
    this.#received = observed.connection?.bytesRead ?? 0
    this.#sent = observed.connection?.bytesWritten ?? 0
    this.hear(end)
  }

  /** Records a decision, and when it was made. */
  decide(decision: Decision): void {
    this.decision = decision
    this.decidedAt = performance.now()
  }

  /** Records that we answer instead of the host or the origin; `why` names the cause where no decision refuses the client. */
  refuse(why?: string): void {
    this.answeredBy = 'refusal'
    if (why !== undefined) this.refusedFor = why
  }

  /** Records the request that a check is about; that request is reported. */
  askAbout(original: OriginalRequest): void {
    this.original = original
    this.answeredBy = 'host'
  }

  /** Calls `ended` at the end of the answer, or at once where it has ended. */
  onEnd(end: Ending, ended: () => void): void {
    if (this.#ended || end.closed) {
      callSafely(ended)
      return
    }
    if (this.#counted === undefined) this.#counted = [ended]
    else this.#counted.push(ended)
    this.hear(end)
  }

  /** Adds the one listener that ends the request with its answer. */
  hear(end: Ending): void {
    if (this.#heard) return
    this.#heard = true
    end.on('close', () => this.end())
  }

  /** Ends the request, as its answer has ended. Only the first call has an effect. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    announcePhase('observe', this.id)
    if (this.observed !== undefined) this.#report(this.observed)
    this.release?.()
    for (const ended of this.#counted ?? []) callSafely(ended)
  }

  /** Emits a process warning for an error of an observer, which must end neither the request nor the process. */
  #report(observed: Observed): void {
    try {
      observed.host.observe?.(this.#record(observed))
    } catch (error) {
      process.emitWarning(`A request was not observed: ${error}`, 'SallyportWarning')
    }
  }

  #record(observed: Observed): ObservedRequest {
    const { host, head, facts, response, connection } = observed
    const { id, answeredBy, decision, refusedFor, challenge, payment, decidedAt, original } = this
    const target = original?.target ?? head.target
    const end = target.search(/[?#]/)
    const record: Writable<ObservedRequest> = {
      id,
      answeredBy,
      peer: head.peer,
      client: decision?.inspection.client.address ?? clientAddress(host, head),
      method: original?.method ?? head.method,
      host: original?.host ?? facts.host ?? facts.authority ?? '',
      path: end < 0 ? target : target.slice(0, end),
      userAgent: (facts.userAgent ?? '').slice(0, MAX_USER_AGENT),
      status: this.status ?? (response?.headersSent ? response.statusCode : 0),
      at: this.#at,
      milliseconds: performance.now() - this.#began,
    }
    if (decision !== undefined) record.decision = decision
    if (head.ja4 !== undefined) record.ja4 = head.ja4
    if (head.ja4Header !== undefined) record.ja4Header = head.ja4Header
    const isReferred = facts.referer !== undefined || target.includes('utm_source')
    const cameFrom = isReferred ? findAiReferrer(facts.referer, target) : undefined
    if (cameFrom !== undefined) record.cameFrom = cameFrom
    const traits = this.#traits(observed, record)
    if (traits !== undefined) record.traits = traits
    if (decidedAt !== undefined) record.inspectionMilliseconds = decidedAt - this.#began
    if (refusedFor !== undefined) record.refusedFor = refusedFor
    if (challenge !== undefined) record.challenge = challenge
    if (payment !== undefined) record.payment = payment
    if (connection !== undefined) {
      record.bytesReceived = connection.bytesRead - this.#received
      record.bytesSent = connection.bytesWritten - this.#sent
    }
    return record
  }

  /** Returns the traits of a response of the site that count in a visit; the host must have seen the whole response. */
  #traits(observed: Observed, { method, host, status }: ObservedRequest): ObservedRequest['traits'] {
    const { decision, original, answeredBy } = this
    if (decision === undefined || original !== undefined || status === 0) return undefined
    if (answeredBy !== 'host' && answeredBy !== 'origin') return undefined
    if (observed.response === undefined || observed.config?.behaviour === false) return undefined
    const { target, fields, http2Window, ja4 } = observed.head
    const [contentType, setCookies] = [observed.contentType(), observed.setCookies()]
    const facts = { method, target, host, fields, http2Window, ja4, status, contentType, setCookies }
    return readTraits(facts, observed.facts)
  }
}

/** Limits the user agent in characters: thousands of requests are remembered, and a longer text says nothing more. */
const MAX_USER_AGENT = 400

export function clientAddress(host: RequestHost, head: ReceivedHead): string {
  const address = host.client?.(head).address
  return address === undefined ? head.peer : formatAddress(address)
}

/** Emits a process warning for an error of a callback: in the host's event the error would end the process. */
function callSafely(ended: () => void): void {
  try {
    ended()
  } catch (error) {
    process.emitWarning(`The end of a request was not counted: ${error}`, 'SallyportWarning')
  }
}

type Kept = string[] & { [OBSERVATION]?: Observation | undefined }

/**
 * Returns the observation of a request of Node, and creates it at the first call. It is kept on the list of the request's fields: Express
 * gives each request a hidden class of its own, which one more member would copy at the cost of a decision.
 */
export function findObservation(host: RequestHost, req: NodeHead): Observation {
  const kept: Kept = req.rawHeaders
  const known = kept[OBSERVATION]
  if (known !== undefined) return known
  // HTTP/2 hides the socket of a stream that is already gone.
  const peer = (req.socket as NodeHead['socket'] | undefined)?.remoteAddress
  const { 'x-request-id': named, traceparent } = req.headers
  const isNamed = named !== undefined || traceparent !== undefined
  const observation = new Observation(isNamed ? newId(host, peer, req.headers) : randomUUID())
  // A non-enumerable member would take ten times as long.
  kept[OBSERVATION] = observation
  return observation
}

/** Returns the decision about a request of Node; `undefined` before the decision. */
export function decisionOn({ rawHeaders }: { readonly rawHeaders: Kept }): Decision | undefined {
  return rawHeaders[OBSERVATION]?.decision
}
