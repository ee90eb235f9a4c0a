import { randomUUID } from 'node:crypto'
import type { ChallengeStep, Decision, ObservedRequest, Writable } from '@sallyport/core'
import { aiReferrerOf, formatAddress } from '@sallyport/core/host'
import { announcePhase } from './phases.ts'
import type { Ending } from './request/ending.ts'
import type { HeadFields } from './request/head-fields.ts'
import type { NodeHead, ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'
import { newId } from './request/request-id.ts'

/** On the raw fields of a request: its observation. Known to every copy of this package in a process. */
const OBSERVATION: unique symbol = Symbol.for('sallyport.observation') as never

/** A request that a server in front asks about. */
export interface OriginalRequest {
  readonly method: string
  readonly target: string
  readonly host: string
}

/** The parts of an exchange that are reported at its end. */
export interface Observed {
  readonly host: RequestHost
  readonly head: ReceivedHead
  readonly facts: HeadFields
  readonly response?: { readonly headersSent: boolean; readonly statusCode: number } | undefined
  /** Counts the bytes of a connection that has one request at a time. */
  readonly connection?: { readonly bytesRead: number; readonly bytesWritten: number } | undefined
}

/** An observation holds the id of a request, the facts learnt about it, and the callbacks of its end. All mounts of a host share it. */
export class Observation {
  readonly id: string
  answeredBy: ObservedRequest['answeredBy'] = 'host'
  decision: Decision | undefined = undefined
  refusedFor: string | undefined = undefined
  /** The request's part in a challenge. */
  challenge: ChallengeStep | undefined = undefined
  /** From `performance.now()`, when it was decided. */
  decidedAt: number | undefined = undefined
  /** The request that is asked about, where that is another one. */
  original: OriginalRequest | undefined = undefined
  /** Status of an answer that has none of its own, as a tunnel's. */
  status: number | undefined = undefined
  /** The exchange that is reported at the end of the request; absent where nothing is. */
  observed: Observed | undefined = undefined
  /** Gives back all else that a host holds for it; absent where that is nothing. */
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

  /** Reports the request to its host when its answer has ended, where the host observes requests. Only the first call does something. */
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

  /** Records that we answer instead of the host or the origin; `why` where nothing was decided against the client. */
  refuse(why?: string): void {
    this.answeredBy = 'refusal'
    if (why !== undefined) this.refusedFor = why
  }

  /** Records which request a check is about: that request is the one that is reported. */
  askAbout(original: OriginalRequest): void {
    this.original = original
    this.answeredBy = 'host'
  }

  /** Calls `ended` at the end of the answer, at once where that has been. */
  onEnd(end: Ending, ended: () => void): void {
    if (this.#ended || end.closed) {
      caught(ended)
      return
    }
    if (this.#counted === undefined) this.#counted = [ended]
    else this.#counted.push(ended)
    this.hear(end)
  }

  /** Ends with an answer; that has one listener for all that ends then. */
  hear(end: Ending): void {
    if (this.#heard) return
    this.#heard = true
    end.on('close', () => this.end())
  }

  /** Ends the request, as its answer has ended. Only the first call does something. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    announcePhase('observe', this.id)
    if (this.observed !== undefined) this.#report(this.observed)
    this.release?.()
    for (const ended of this.#counted ?? []) caught(ended)
  }

  /** The error of an observer is a process warning: it must end neither the request nor the process. */
  #report(observed: Observed): void {
    try {
      observed.host.observe?.(this.#record(observed))
    } catch (error) {
      process.emitWarning(`A request was not observed: ${error}`, 'SallyportWarning')
    }
  }

  #record({ host, head, facts, response, connection }: Observed): ObservedRequest {
    const { id, answeredBy, decision, refusedFor, challenge, decidedAt, original } = this
    const target = original?.target ?? head.target
    const end = target.search(/[?#]/)
    const record: Writable<ObservedRequest> = {
      id,
      answeredBy,
      peer: head.peer,
      client: decision?.inspection.client.address ?? clientOf(host, head),
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
    const isReferred = facts.referer !== undefined || target.includes('utm_source')
    const cameFrom = isReferred ? aiReferrerOf(facts.referer, target) : undefined
    if (cameFrom !== undefined) record.cameFrom = cameFrom
    if (decidedAt !== undefined) record.inspectionMilliseconds = decidedAt - this.#began
    if (refusedFor !== undefined) record.refusedFor = refusedFor
    if (challenge !== undefined) record.challenge = challenge
    if (connection !== undefined) {
      record.bytesReceived = connection.bytesRead - this.#received
      record.bytesSent = connection.bytesWritten - this.#sent
    }
    return record
  }
}

/** In characters: more says nothing more, and thousands of requests are remembered. */
const MAX_USER_AGENT = 400

function clientOf(host: RequestHost, head: ReceivedHead): string {
  const address = host.client?.(head).address
  return address === undefined ? head.peer : formatAddress(address)
}

/** An error of what ends with a request is a process warning: the event is the host's, and one there would end the process. */
function caught(ended: () => void): void {
  try {
    ended()
  } catch (error) {
    process.emitWarning(`The end of a request was not counted: ${error}`, 'SallyportWarning')
  }
}

type Kept = string[] & { [OBSERVATION]?: Observation | undefined }

/**
 * Returns the observation of a request of Node, which is made at the first call. It is kept on the list of the request's fields: Express
 * gives each request a hidden class of its own, and a member more is a copy of that, which costs as much as a decision.
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
  // A member that is not enumerable would take ten times as long.
  kept[OBSERVATION] = observation
  return observation
}

/** The decision about a request of Node; `undefined` before there is one. */
export function decisionOn({ rawHeaders }: { readonly rawHeaders: Kept }): Decision | undefined {
  return rawHeaders[OBSERVATION]?.decision
}
