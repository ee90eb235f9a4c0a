import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { AnswerStatus } from '@sallyport/core'
import type { McpBody } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import {
  type AnsweredFields,
  declaresTooMuch,
  Exchange as HostExchange,
  hasArrived,
  type Refusal,
  type RequestHost,
  readAhead,
  rendered,
} from '@sallyport/node/internal'
import {
  type ClientRequest,
  type ClientResponse,
  cut,
  cutConnection,
  readableBody,
  receivedBytes,
  sentBytes,
} from '../edge/client-messages.ts'
import { isReset } from '../edge/reset.ts'
import { StreamRequest } from '../edge/stream-request.ts'
import { StreamResponse } from '../edge/stream-response.ts'
import { type NamedSite, toOriginForm } from './origin-form.ts'

/** The connection of an upgrade, which a tunnel takes over. */
export interface Upgrade {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly socket: Socket
  /** Bytes that the client sent after its request's head. */
  readonly head: Buffer
}

/** A part that holds something for an exchange until its end: when its answer is sent, or the client has left. */
export interface Holder {
  /** Releases what the part holds; called once. */
  left(exchange: Exchange): void
}

/**
 * The side that the proxy waits for: the client with its body, the client as the reader of its answer, or the origin, which takes no more
 * of the body, sends no head, or no more of its answer.
 */
export type Side = 'body' | 'reading' | 'upload' | 'head' | 'answer'

/** Times of one exchange alone, in milliseconds. */
export type SideTimes = Partial<Readonly<Record<Side, number>>>

/** Counts how long the proxy waited for one side, and what that side moved meanwhile. */
export interface Wait {
  side: Side | undefined
  bytes: number
  waited: number
  moved: number
  /** Limits the last bytes to a client that was late; absent: the client was not late. */
  grace?: number | undefined
  /** Whether the last check found the connection gone or cut. */
  gone?: boolean | undefined
}

/** Holds what the origin does in an exchange. */
export interface OriginSide extends Holder {
  /** Returns the step of the origin that the proxy waits for; `undefined` before and after the origin's work. */
  awaited(): 'upload' | 'head' | 'answer' | undefined
  moved(side: Side): number
  late(): void
}

/** Called for all exchanges of a listener. */
export interface ExchangeHooks {
  /** The list that contains the exchange. */
  readonly listed: Holder
  /** Called when the client is too slow: with its body, or as the reader of its answer. */
  onSlow(exchange: Exchange, side: 'body' | 'reading'): void
  /** Called at the first error: answers where no answer has begun, else cuts. */
  onFault(exchange: Exchange, error: unknown): void
}

export interface ExchangeOptions {
  /** Whether the client sends its body only after `100 Continue`. */
  readonly waiting?: boolean | undefined
  readonly upgrade?: Upgrade | undefined
  /** Milliseconds that the request waited for its turn of the event loop; absent: it did not wait. */
  readonly waitedMs?: number | undefined
}

type Fields = Readonly<Record<string, string>>

/** One request in flight, until its answer is sent and its body has been received. The phases of the proxy are in `gate/phases.ts`. */
export class Exchange extends HostExchange {
  declare request: ClientRequest
  declare response: ClientResponse
  /** The site that an absolute target names beside Host; absent for a target that is a path. */
  readonly named: NamedSite | undefined
  /** Whether the request is for the API, whose errors are never pages. */
  api = false
  /** How a server that checks a request relays refusals: with any status by which we would not have failed, or with a `few`. */
  check: 'relayed' | 'few' | undefined
  /** Whether the body comes here: a server that checks before it forwards keeps it. */
  hasOwnBody = true
  /** Fields of every answer to the request; names are in lower case. */
  standing: Fields = NO_FIELDS
  /** Fields that the answer gets where the origin sets none; names are in lower case. */
  ownFields: Fields = NO_FIELDS
  /** Whether the origin's answer rests on a pass, so that no shared cache may keep it. */
  isPrivate = false
  /** The site that the request is for, of `gate/sites.ts`. */
  site: object | undefined
  override verdict: string[] = []
  override answered = UNANSWERED
  /** Holds the whole body, where its stream has been read. */
  body: Uint8Array | undefined
  /** Holds the key of the client, by which clients share slots and queues. */
  client = ''
  /** Times that the route sets itself. */
  times: SideTimes = NO_TIMES
  /** Parts that hold something for the exchange, each set before its end or never: its handler, its slot, and the origin. */
  service: Holder | undefined
  admitted: Holder | undefined
  origin: OriginSide | undefined
  readonly #hooks: ExchangeHooks
  readonly upgrade: Upgrade | undefined
  readonly waitedMs: number
  /** Holds the place in the roster. */
  place = -1
  /** Belongs to the clocks; absent until their first check. */
  wait: Wait | undefined
  /** Ends an open tunnel as its protocol requires; set once the tunnel is open. */
  endTunnel: (() => void) | undefined
  #failed = false
  #ended = false
  /** Whether the client sends its body only after `100 Continue`. */
  #waiting: boolean
  #wantsBody = false

  constructor(
    host: RequestHost,
    request: ClientRequest,
    response: ClientResponse,
    hooks: ExchangeHooks,
    { waiting = false, waitedMs = 0, upgrade }: ExchangeOptions,
  ) {
    const named = request.url?.charCodeAt(0) === SLASH ? undefined : toOriginForm(request)
    super()
    this.host = host
    this.request = request
    this.response = response
    // The response to an upgrade has no end of its own, because a tunnel takes its socket.
    this.ending = upgrade?.socket ?? response
    this.connection = response instanceof StreamResponse ? response : request.socket
    this.#hooks = hooks
    this.upgrade = upgrade
    this.waitedMs = waitedMs
    this.#waiting = waiting
    this.named = named
  }

  /** Makes the end of the exchange release what it holds; called once, after `receive`. */
  begin(): void {
    const { observation } = this
    observation.answeredBy = 'origin'
    observation.release = () => this.#release()
    // An observed exchange hears its end already.
    if (observation.observed === undefined) observation.hear(this.ending)
  }

  /** Returns the id that the answer, the log line and the errors carry. */
  get id(): string {
    return this.head.id
  }

  /** Reports whether the request has a body; over HTTP/2 a body may have no length. */
  get hasBody(): boolean {
    const { request, facts } = this
    if (request instanceof StreamRequest) return request.hasBody
    return facts.transferEncoding !== undefined || Number(facts.contentLength ?? 0) > 0
  }

  /**
   * Calls `go` for this exchange. Every later call (by a stream, a timer, the origin's connection) passes through here: an error would end
   * the process, and so ends this exchange alone.
   */
  guard(go: () => void): void {
    try {
      go()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends the exchange for an internal error. */
  fail(error: unknown): void {
    const isFirst = !this.#failed
    this.#failed = true
    try {
      if (isFirst) this.#hooks.onFault(this, error)
      else this.cut()
    } catch {
      this.cut()
    }
    // Nothing else ends an exchange that was never received.
    if (this.observation === undefined) this.#release()
  }

  /** Reports whether we can still answer the client. */
  get isUnanswered(): boolean {
    const { upgrade, response } = this
    // A tunnel takes the socket.
    const hasSocket = upgrade === undefined || upgrade.response.socket !== null
    return this.observation !== undefined && !response.headersSent && !response.closed && hasSocket
  }

  /** Cuts the exchange: over HTTP/1 with its connection, over HTTP/2 with its stream. */
  cut(): void {
    const { upgrade, request } = this
    if (upgrade) upgrade.socket.destroy()
    else cut(request)
  }

  override onEnd(ended: () => void): void {
    this.observation.onEnd(this.ending, () => this.guard(ended))
  }

  /** Reports whether we refuse the request here, instead of the origin's answer. */
  get refused(): boolean {
    return this.observation.answeredBy === 'refusal'
  }

  override async readBody(): Promise<McpBody> {
    if (!this.hasOwnBody) return { missing: 'unseen' }
    if (!this.hasBody) return { bytes: new Uint8Array() }
    const { request } = this
    if (declaresTooMuch(request)) return { missing: 'too_large' }
    this.wantBody(true)
    const isHere = () => !(request instanceof StreamRequest) && hasArrived(request)
    const read = await readAhead(readableBody(request), isHere)
    this.wantBody(false)
    if (read.spent && 'bytes' in read) this.body = read.bytes
    return read
  }

  override refuse(refusal: Refusal, why?: string): ApiResponse {
    if (!this.api) return super.refuse(refusal, why)
    this.observation.refuse(why)
    return rendered(refusal, { id: this.id })
  }

  /** Adds fields to every answer, and to the answer of the origin. */
  stand(fields: Fields): void {
    this.standing = { ...this.standing, ...fields }
    this.ownFields = this.standing
  }

  override setField(name: string, value: string | undefined): void {
    if (value !== undefined) this.ownFields = { ...this.ownFields, [name]: value }
  }

  override addCookie(cookie: string): void {
    this.setField('set-cookie', cookie)
  }

  override keepPrivate(): void {
    this.isPrivate = true
  }

  override status(): AnswerStatus {
    if (this.refused) return undefined
    if (this.observation.original !== undefined) return 'unseen'
    // A client that left before the answer got none; a tunnel has taken the response.
    return this.response.headersSent || this.upgrade !== undefined ? this.response.statusCode : undefined
  }

  /** Whether the exchange has released everything that it held. */
  get ended(): boolean {
    return this.#ended || this.ending.closed === true
  }

  /** Releases what the exchange holds, where its connection has gone and nothing else has ended it. */
  end(): void {
    this.observation.end()
  }

  #release(): void {
    this.#ended = true
    this.#leave(this.#hooks.listed)
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

  /** Sets whether the client shall send its body from now on. */
  wantBody(wanted: boolean): void {
    this.#wantsBody = wanted
    if (!wanted || !this.#waiting) return
    this.#waiting = false
    this.response.writeContinue()
  }

  /** Whether the proxy no longer waits for anything: all work is done. */
  get over(): boolean {
    return this.request.socket.destroyed || (this.response.closed && this.request.complete)
  }

  /** Returns the side to wait for; `undefined` while only we have work to do. */
  awaited(): Side | undefined {
    const { request, response } = this
    if (response.writableLength > 0 && !response.closed) return 'reading'
    const ofOrigin = this.origin?.awaited()
    if (ofOrigin === 'upload') return ofOrigin
    // The rest of a body after the answer is received and thrown away.
    if (!request.complete && (this.#wantsBody || response.closed)) return 'body'
    return response.closed ? undefined : ofOrigin
  }

  /** Counts the bytes that this side has moved so far. */
  moved(side: Side): number {
    if (side !== 'body' && side !== 'reading') return this.origin?.moved(side) ?? 0
    return side === 'body' ? receivedBytes(this.request) : sentBytes(this.response)
  }

  /** Answers or cuts the exchange; called once for a client, and after each period in which an origin was silent. */
  late(side: Side): void {
    if (side === 'body' || side === 'reading') this.#hooks.onSlow(this, side)
    else this.origin?.late()
  }

  /** Reports whether the client's connection was reset; called while nothing moves. */
  isLost(): boolean {
    return isReset(this.request.socket)
  }

  /** Cuts the connection, which was reset or has not sent its last bytes. Called once. */
  lose(): void {
    cutConnection(this.request)
  }
}

const SLASH = 47
/** The origin has not answered, or its answer was not passed on. */
const UNANSWERED: AnsweredFields = Object.freeze({ contentType: undefined, setCookies: undefined })
const NO_FIELDS: Fields = Object.freeze({})
const NO_TIMES: SideTimes = Object.freeze({})
