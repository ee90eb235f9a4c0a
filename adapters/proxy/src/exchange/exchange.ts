import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { AnswerStatus } from '@sallyport/core'
import {
  type Answering,
  type HeadFields,
  inspectionRequest,
  type Observation,
  observationOf,
  observe,
  type ReceivedHead,
  type RequestHost,
  readHead,
} from '@sallyport/node/internal'
import {
  type ClientRequest,
  type ClientResponse,
  cut,
  cutConnection,
  receivedBytes,
  sentBytes,
} from '../edge/client-messages.ts'
import { isReset } from '../edge/reset.ts'
import { StreamResponse } from '../edge/stream-response.ts'
import type { Side, Wait, Watched } from './clocks.ts'
import { type NamedSite, toOriginForm } from './origin-form.ts'

/** The connection of an upgrade, which a tunnel takes over. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly socket: Socket
  /** Bytes that the client sent after its request's head. */
  readonly head: Buffer
}

/** A part that holds something for an exchange until its end: when its answer is sent, or nobody waits for it any more. */
export interface Holder {
  /** Gives it back; called once. */
  left(exchange: Exchange): void
}

/** The origin's part in an exchange. */
export interface OriginSide extends Holder {
  /** The step that it is waited for; `undefined` while it is not asked, or has done all. */
  awaited(): 'upload' | 'head' | 'answer' | undefined
  moved(side: Side): number
  late(): void
}

export interface ExchangeOptions {
  /** The client sends its body only after `100 Continue`. */
  readonly waiting?: boolean | undefined
  readonly upgrade?: Upgrade | undefined
  /** Milliseconds that it waited for its turn of the event loop; absent: none. */
  readonly waitedMs?: number | undefined
  /** The list that it is on. */
  readonly listed?: Holder | undefined
  /** The client is too slow: with its body, or as the reader of its answer. */
  readonly onSlow?: ((exchange: Exchange, side: 'body' | 'reading') => void) | undefined
  /** Something threw, the first time that it did: answers where there is no answer yet, else cuts. */
  readonly onFault?: ((exchange: Exchange, error: unknown) => void) | undefined
}

/** One request in flight, until its answer is sent and its body has been received. */
export class Exchange implements Watched, Answering {
  readonly request: ClientRequest
  /** The site that its target named beside its Host; absent for a target that is a path. */
  readonly named: NamedSite | undefined
  /** Its head as received, with a path as its target: it is judged, and sent on. */
  readonly head: ReceivedHead
  /** The facts of its fields. */
  readonly facts: HeadFields
  readonly response: ClientResponse
  /** Id in its answer, its log line and its errors. */
  readonly id: string
  /** All that is learnt of it; it ends with this. */
  readonly observation: Observation
  /** The host that it belongs to. */
  readonly host: RequestHost
  /** It is for the API, whose errors are never pages. */
  api = false
  /** A server asks about a request that it has, and relays refusals of any status by which we would not have failed, or of a `few`. */
  check: 'relayed' | 'few' | undefined
  /** It is answered here, and not by the origin. */
  refused = false
  /** Fields of every answer to it, and of its answer about a limit; names in lower case. */
  standing: Readonly<Record<string, string>> = {}
  told: Readonly<Record<string, string>> = {}
  /** The origin's answer rests on a pass, and is for no cache that others share. */
  isPrivate = false
  /** Content-Type of the origin's answer. */
  answeredType: string | undefined
  /** Times that its route has for itself. */
  times: NonNullable<Watched['times']> = {}
  /** The parts that hold something for it, each set before its end or never: what handles it, its slot, and the origin. */
  service: Holder | undefined
  admitted: Holder | undefined
  origin: OriginSide | undefined
  readonly #listed: Holder | undefined
  readonly upgrade: Upgrade | undefined
  readonly waitedMs: number
  place = -1
  wait: Wait | undefined
  /** Ends an open tunnel as its protocol has it; set once it is open. */
  endTunnel: (() => void) | undefined
  readonly #onSlow: ((exchange: Exchange, side: 'body' | 'reading') => void) | undefined
  readonly #onFault: ((exchange: Exchange, error: unknown) => void) | undefined
  #failed = false
  #ended = false
  /** The client sends its body only after `100 Continue`. */
  #waiting: boolean
  #wantsBody = false

  constructor(host: RequestHost, request: ClientRequest, response: ClientResponse, options: ExchangeOptions = {}) {
    const { waiting = false, waitedMs = 0, onSlow, onFault, upgrade, listed } = options
    this.#listed = listed
    this.request = request
    this.response = response
    this.upgrade = upgrade
    this.waitedMs = waitedMs
    this.#waiting = waiting
    this.#onSlow = onSlow
    this.#onFault = onFault
    this.host = host
    this.named = toOriginForm(request)
    const head = inspectionRequest(host, request)
    const facts = readHead(head.fields, host.singleHeader)
    const observation = observationOf(host, request)
    this.head = head
    this.facts = facts
    this.id = head.id
    this.observation = observation
    observation.answeredBy = 'origin'
    observation.release = () => this.#release()
    const connection = response instanceof StreamResponse ? response : request.socket
    observe(host, { request, observation, head, facts, response, end: this.#end, connection })
    observation.hear(this.#end)
  }

  /**
   * Does something for this exchange. Everything that is called later (by a stream, a timer, the origin's connection) is
   * called through it: an error would end the process, and so ends this exchange alone (D291).
   */
  guard(go: () => void): void {
    try {
      go()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends it for an error that is ours. */
  fail(error: unknown): void {
    const isFirst = !this.#failed
    this.#failed = true
    try {
      if (isFirst && this.#onFault) this.#onFault(this, error)
      else this.cut()
    } catch {
      this.cut()
    }
  }

  /** Whether its client can still be answered by us. */
  get isUnanswered(): boolean {
    const { upgrade, response } = this
    // A tunnel has taken the socket.
    return !response.headersSent && !response.closed && (upgrade === undefined || upgrade.response.socket !== null)
  }

  /** Ends it where it is: over HTTP/1 with its connection, else with its stream. */
  cut(): void {
    const { upgrade, request } = this
    if (upgrade) upgrade.socket.destroy()
    else cut(request)
  }

  /** The response to an upgrade has no end of its own: a tunnel takes its socket. */
  get #end(): ClientResponse | Socket {
    return this.upgrade?.socket ?? this.response
  }

  onEnd(ended: () => void): void {
    this.observation.onEnd(this.#end, () => this.guard(ended))
  }

  status(): AnswerStatus {
    if (this.refused) return undefined
    if (this.observation.original !== undefined) return 'unseen'
    // A client that left before the answer was answered nothing; a tunnel has taken the response.
    return this.response.headersSent || this.upgrade !== undefined ? this.response.statusCode : undefined
  }

  contentType(): string | undefined {
    return this.answeredType
  }

  get ended(): boolean {
    return this.#ended || this.#end.closed
  }

  end(): void {
    this.observation.end()
  }

  #release(): void {
    this.#ended = true
    this.#leave(this.#listed)
    this.#leave(this.service)
    this.#leave(this.admitted)
    this.#leave(this.origin)
  }

  #leave(holder: Holder | undefined): void {
    try {
      holder?.left(this)
    } catch (error) {
      this.fail(error)
    }
  }

  /** Whether the client is asked for its body from now on. */
  wantBody(wanted: boolean): void {
    this.#wantsBody = wanted
    if (!wanted || !this.#waiting) return
    this.#waiting = false
    this.response.writeContinue()
  }

  get over(): boolean {
    return this.request.socket.destroyed || (this.response.closed && this.request.complete)
  }

  awaited(): Side | undefined {
    const { request, response } = this
    if (response.writableLength > 0 && !response.closed) return 'reading'
    const ofOrigin = this.origin?.awaited()
    if (ofOrigin === 'upload') return ofOrigin
    // The rest of a body after the answer is received and thrown away.
    if (!request.complete && (this.#wantsBody || response.closed)) return 'body'
    return response.closed ? undefined : ofOrigin
  }

  moved(side: Side): number {
    if (side !== 'body' && side !== 'reading') return this.origin?.moved(side) ?? 0
    return side === 'body' ? receivedBytes(this.request) : sentBytes(this.response)
  }

  late(side: Side): void {
    if (side === 'body' || side === 'reading') this.#onSlow?.(this, side)
    else this.origin?.late()
  }

  isLost(): boolean {
    return isReset(this.request.socket)
  }

  lose(): void {
    cutConnection(this.request)
  }
}
