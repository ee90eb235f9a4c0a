import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { AnswerStatus } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { Exchange as HostExchange, type Refusal, type RequestHost, rendered } from '@sallyport/node/internal'
import {
  type ClientRequest,
  type ClientResponse,
  cut,
  cutConnection,
  receivedBytes,
  sentBytes,
} from '../edge/client-messages.ts'
import { isReset } from '../edge/reset.ts'
import { StreamRequest } from '../edge/stream-request.ts'
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

type Fields = Readonly<Record<string, string>>

/** One request in flight, until its answer is sent and its body has been received. The phases of the proxy are in `gate/phases.ts`. */
export class Exchange extends HostExchange implements Watched {
  declare request: ClientRequest
  declare response: ClientResponse
  /** The site that its target named beside its Host; absent for a target that is a path. */
  readonly named: NamedSite | undefined
  /** It is for the API, whose errors are never pages. */
  api = false
  /** A server asks about a request that it has, and relays refusals of any status by which we would not have failed, or of a `few`. */
  check: 'relayed' | 'few' | undefined
  /** Fields of every answer to it; names in lower case. */
  standing: Fields = NO_FIELDS
  /** Fields of the origin's answer for which the origin has none; names in lower case. */
  told: Fields = NO_FIELDS
  /** The origin's answer rests on a pass, and is for no cache that others share. */
  isPrivate = false
  /** Content-Type of the origin's answer. */
  answeredType: string | undefined
  /** The site that it is for, as `gate/sites.ts` has it. */
  site: object | undefined
  override verdict: string[] = []
  /** Key of its client, by which slots and queues are shared. */
  client = ''
  /** Times that its route has for itself. */
  times: NonNullable<Watched['times']> = NO_TIMES
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
    const named = request.url?.charCodeAt(0) === SLASH ? undefined : toOriginForm(request)
    super()
    this.host = host
    this.request = request
    this.response = response
    // The response to an upgrade has no end of its own: a tunnel takes its socket.
    this.ending = upgrade?.socket ?? response
    this.connection = response instanceof StreamResponse ? response : request.socket
    this.#listed = listed
    this.upgrade = upgrade
    this.waitedMs = waitedMs
    this.#waiting = waiting
    this.#onSlow = onSlow
    this.#onFault = onFault
    this.named = named
  }

  /** Has its end give back what it holds; called once, when it was received. */
  begin(): void {
    const { observation } = this
    observation.answeredBy = 'origin'
    observation.release = () => this.#release()
    // Where it is observed, its end is heard already.
    if (observation.observed === undefined) observation.hear(this.ending)
  }

  /** Id in its answer, its log line and its errors. */
  get id(): string {
    return this.head.id
  }

  /** Whether it has a body; over HTTP/2 one without a length too. */
  get hasBody(): boolean {
    const { request, facts } = this
    if (request instanceof StreamRequest) return request.hasBody
    return facts.transferEncoding !== undefined || Number(facts.contentLength ?? 0) > 0
  }

  /**
   * Does something for this exchange. Everything that is called later (by a stream, a timer, the origin's connection) is
   * called through it: an error would end the process, and so ends this exchange alone.
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
    // Nothing else ends what was never received.
    if (!this.#isReceived) this.#release()
  }

  get #isReceived(): boolean {
    return this.observation !== undefined
  }

  /** Whether its client can still be answered by us. */
  get isUnanswered(): boolean {
    const { upgrade, response } = this
    // A tunnel has taken the socket.
    return (
      this.#isReceived &&
      !response.headersSent &&
      !response.closed &&
      (upgrade === undefined || upgrade.response.socket !== null)
    )
  }

  /** Ends it where it is: over HTTP/1 with its connection, else with its stream. */
  cut(): void {
    const { upgrade, request } = this
    if (upgrade) upgrade.socket.destroy()
    else cut(request)
  }

  override onEnd(ended: () => void): void {
    this.observation.onEnd(this.ending, () => this.guard(ended))
  }

  /** Whether it is answered here, and not by the origin. */
  get refused(): boolean {
    return this.observation.answeredBy === 'refusal'
  }

  override refuse(refusal: Refusal, why?: string): ApiResponse {
    if (!this.api) return super.refuse(refusal, why)
    this.observation.refuse(why)
    return rendered(refusal, { id: this.id })
  }

  /** Adds fields to every answer, and to that of the origin. */
  stand(fields: Fields): void {
    this.standing = { ...this.standing, ...fields }
    this.told = this.standing
  }

  override tell(name: string, value: string | undefined): void {
    if (value !== undefined) this.told = { ...this.told, [name]: value }
  }

  override suggest(name: string, value: string): void {
    this.tell(name, value)
  }

  override addCookie(cookie: string): void {
    this.tell('set-cookie', cookie)
  }

  override keepPrivate(): void {
    this.isPrivate = true
  }

  override status(): AnswerStatus {
    if (this.refused) return undefined
    if (this.observation.original !== undefined) return 'unseen'
    // A client that left before the answer was answered nothing; a tunnel has taken the response.
    return this.response.headersSent || this.upgrade !== undefined ? this.response.statusCode : undefined
  }

  override contentType(): string | undefined {
    return this.answeredType
  }

  get ended(): boolean {
    return this.#ended || this.ending.closed === true
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

const SLASH = 47
const NO_FIELDS: Fields = Object.freeze({})
const NO_TIMES: NonNullable<Watched['times']> = Object.freeze({})
