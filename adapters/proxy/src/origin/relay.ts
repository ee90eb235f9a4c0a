import type { Socket } from 'node:net'
import { type ChallengeLevel, errorCode, SallyportError } from '@sallyport/core'
import type { Limits } from '@sallyport/engine/limits'
import type { AnsweredFields } from '@sallyport/node/internal'
import type { Dispatcher } from 'undici'
import type { Slots, Taker } from '../bounds/slots.ts'
import { addTrailers } from '../edge/client-messages.ts'
import type { RefusalCause } from '../exchange/answers.ts'
import type { Exchange, OriginSide, Side } from '../exchange/exchange.ts'
import { askedLevel, isEmpty, requireStatus, responseFields, trailerFields } from '../fields/response-fields.ts'
import { guarded, type OriginConnection, type OriginRequest, RESET } from './connection.ts'
import { isUnreached, OriginLate } from './faults.ts'
import { fieldsFor, type HandedFields, hasConnectionAuth } from './handed-fields.ts'
import type { Member, Members } from './members.ts'
import { type HeldBytes, RequestBody } from './request-body.ts'

/** A request as the origin receives it. */
export interface Forwarded extends HandedFields {
  readonly exchange: Exchange
  /** The connection of a client that uses it alone; absent: others may use it too. */
  readonly owner?: Socket | undefined
  /** Whether the origin may pause without limit within its answer. */
  readonly stream: boolean
}

/** Parts shared by all relays to one origin. */
export interface RelayParts {
  readonly slots: Slots
  readonly members: Members
  readonly held: HeldBytes
  readonly limits: Limits
}

/** Called for requests that end without an answer of the origin; all relays share these hooks. */
export interface RelayHooks {
  /** Called when the origin failed; a late origin has the code `ETIMEDOUT`. */
  onFailure(exchange: Exchange, error: Error): void
  /** Called when one of our limits ended the request. */
  onRefused(exchange: Exchange, cause: RefusalCause): void
  /** Called when a field that may occur once came with two values. */
  onConflict(name: string): void
  /** Called when the origin requires a pass of a level; returns whether we answer with that challenge instead of the origin's answer. */
  onAsked(exchange: Exchange, level: ChallengeLevel): boolean
  /** Takes early hints which the origin sent, as raw fields. */
  onHints(exchange: Exchange, raw: readonly Buffer[]): void
}

/** Limits the early hints of one answer that are passed on; an origin may send any number. */
const MAX_HINTS = 16
const LOST_CONNECTION = new Set(['UND_ERR_SOCKET', RESET, 'ECONNRESET', 'EPIPE'])

/** The head of an answer that is not sent yet. */
interface Head {
  readonly status: number
  readonly fields: string[]
}

/** Carries one request to the origin, and its answer back. */
export class Relay implements OriginRequest, OriginSide, Taker {
  readonly client: string
  readonly #exchange: Exchange
  readonly #forwarded: Forwarded
  readonly #parts: RelayParts
  readonly #hooks: RelayHooks
  slot: Taker['slot'] = undefined
  #body: RequestBody | undefined
  #member: Member | undefined
  readonly #tried = new Set<Member>()
  #connection: OriginConnection | undefined
  /** Holds a body that has come completely; it can be sent to another server. */
  #whole: Buffer | undefined
  #controller: Dispatcher.DispatchController | undefined
  #mayRetry: boolean
  /** Whether the request authenticates the connection that carries it. */
  #authenticates = false
  /** Whether the outcome is decided: later events of undici change nothing. */
  #settled = false
  #released = false
  #answering = false
  /** Whether the origin may pause without limit within its answer. */
  #stream: boolean
  #head: Head | undefined
  /** Whether the answer ends with its head: what follows is neither passed on nor a failure. */
  #isEmpty = false
  #hints = 0
  #first: Buffer | undefined
  #received = 0

  constructor(forwarded: Forwarded, parts: RelayParts, hooks: RelayHooks) {
    const { exchange, stream } = forwarded
    this.client = exchange.client
    this.#exchange = exchange
    this.#forwarded = forwarded
    this.#parts = parts
    this.#hooks = hooks
    this.#stream = stream
    const { method } = exchange.request
    this.#mayRetry = !exchange.hasBody && (method === 'GET' || method === 'HEAD')
  }

  /** Takes a slot when there is something to send: a slow body holds no connection. */
  begin(): void {
    const exchange = this.#exchange
    const { slots, held, limits } = this.#parts
    if (exchange.ended) return
    exchange.origin = this
    if (!exchange.hasBody) {
      slots.take(this)
      return
    }
    exchange.wantBody(true)
    this.#body = new RequestBody(exchange, held, limits, {
      onReady: () => slots.take(this),
      onFault: (cause) => this.#refuse(cause),
    })
  }

  granted(): void {
    // Called by a timer, or as another request ends.
    const { members } = this.#parts
    const own = members.all.find(({ connections }) => connections.hasOwn(this.#forwarded.owner))
    this.#exchange.guard(() => this.#dispatchTo(own ?? (members.next() as Member)))
  }

  #dispatchTo(member: Member): void {
    this.#member = member
    this.#tried.add(member)
    const { connections } = member
    // A request that may not be sent twice goes over a used connection only where the origin is known to keep it.
    const take = this.#mayRetry || connections.isKept() ? connections.take : connections.takeFresh
    this.#dispatch(connections.takeOwn(this.#forwarded.owner) ?? take())
  }

  refused(): void {
    this.#exchange.guard(() => this.#refuse('origin_queue'))
  }

  #dispatch(connection: OriginConnection): void {
    const exchange = this.#exchange
    const { method = 'GET', url = '/' } = exchange.request
    this.#connection = connection
    // A complete body is sent with the head.
    if (this.#body?.isWhole === true) this.#whole = this.#body.read() as Buffer
    const body = this.#whole ?? this.#body ?? null
    const headers = fieldsFor(this.#forwarded, (this.#member as Member).address) as string[]
    this.#authenticates = hasConnectionAuth(headers, 'authorization')
    connection.send({ method: method as Dispatcher.HttpMethod, path: url, headers, body }, guarded(this, exchange))
  }

  release(): void {
    this.#released = true
    if (this.#controller?.paused) this.#controller.resume()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#authenticates && this.#connection) this.#connection.isAuthenticated = true
    // A connection that carried no other request did not close because it was used: this request made it fail.
    if (this.#connection?.answered === 0) this.#mayRetry = false
    if (this.#exchange.response.closed) controller.abort(new Error('the client left'))
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _: unknown, reason = ''): void {
    if (status < 200) {
      if (status === 103 && !this.#settled && this.#hints++ < MAX_HINTS)
        this.#hooks.onHints(this.#exchange, controller.rawHeaders as readonly Buffer[])
      return
    }
    this.#answering = true
    this.#member?.succeeded(this.#exchange.request.url ?? '/')
    const raw = controller.rawHeaders as readonly Buffer[]
    if (this.#connection && hasConnectionAuth(raw, 'www-authenticate')) this.#connection.isAuthenticated = true
    const level = askedLevel(raw)
    if (level !== undefined && !this.#settled && this.#hooks.onAsked(this.#exchange, level)) {
      this.#settled = true
      controller.abort(new Error('the client is asked'))
      return
    }
    try {
      this.#head = this.#makeHead(status, reason, raw)
    } catch (error) {
      if (!(error instanceof SallyportError)) throw error
      controller.abort(error)
      return
    }
    this.#isEmpty = isEmpty(status) || this.#exchange.request.method === 'HEAD'
    // An answer that came in one piece has ended by then.
    process.nextTick(Relay.#sendLater, this)
  }

  /** Builds the head; throws `bad_gateway` where no client could receive it. */
  #makeHead(status: number, reason: string, raw: readonly Buffer[]): Head {
    requireStatus(status, reason)
    const exchange = this.#exchange
    const { id, ownFields, isPrivate, request } = exchange
    const fields = responseFields(raw, { status, id, ownFields, isPrivate, onConflict: this.#hooks.onConflict })
    exchange.answered = readAnswered(fields)
    this.#stream ||= /^text\/event-stream\b/i.test(exchange.answered.contentType ?? '')
    // The client's next bytes would be the rest of its unfinished request.
    if (!request.complete) fields.push('Connection', 'close')
    return { status, fields }
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length
    if (this.#isEmpty) return
    if (this.#head && this.#first === undefined) {
      this.#first = chunk
      return
    }
    this.#sendPending()
    this.#write(chunk)
  }

  onResponseEnd({ rawTrailers }: Dispatcher.DispatchController): void {
    const { response } = this.#exchange
    const first = this.#first
    if (!this.#head || this.#sendHead()) {
      const { onConflict } = this.#hooks
      const isTrailed = rawTrailers?.length && !this.#isEmpty
      const trailers = isTrailed ? trailerFields(rawTrailers as readonly Buffer[], onConflict) : []
      if (trailers.length > 0) addTrailers(response, trailers)
      response.end(first)
    }
    this.#done()
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.#mayRetry && !this.#answering && !this.#settled && LOST_CONNECTION.has(errorCode(error))) {
      this.#mayRetry = false
      const { connections } = this.#member as Member
      connections.giveBack(this.#connection as OriginConnection, undefined)
      this.#dispatch(connections.takeFresh())
      return
    }
    if (this.#goOn(error)) return
    // undici fails at a length without a body, and closes: a body may follow that is not part of the answer.
    if (this.#isEmpty) this.#sendPending()
    this.#done()
    this.#fail(error)
  }

  /** Tries the next server where this one received nothing, and no part of a body is gone. */
  #goOn(error: Error): boolean {
    const isHere = this.#body === undefined || this.#whole !== undefined
    if (this.#settled || !isHere || !isUnreached(error)) return false
    const next = this.#parts.members.next(this.#tried)
    if (next === undefined) return false
    const { connections, failed } = this.#member as Member
    failed(error, this.#exchange.request.url ?? '/')
    connections.giveBack(this.#connection as OriginConnection, undefined)
    this.#dispatchTo(next)
    return true
  }

  static #sendLater(relay: Relay): void {
    relay.#exchange.guard(() => relay.#sendPending())
  }

  /** Sends the received part of an answer that did not come in one piece. */
  #sendPending(): void {
    const first = this.#first
    if (!this.#head || !this.#sendHead()) return
    this.#first = undefined
    const { response } = this.#exchange
    if (this.#isEmpty) response.end()
    else if (first) this.#write(first)
    else response.flushHeaders()
  }

  /** Returns false for a head that cannot be sent. */
  #sendHead(): boolean {
    const { status, fields } = this.#head as Head
    this.#head = undefined
    try {
      if (!this.#settled) this.#exchange.response.writeHead(status, fields)
      return !this.#settled
    } catch (error) {
      this.#fail(error as Error)
      this.#controller?.abort(error as Error)
      return false
    }
  }

  #write(chunk: Buffer): void {
    const exchange = this.#exchange
    const { response } = exchange
    if (response.writableEnded || response.write(chunk) || this.#released) return
    const controller = this.#controller
    controller?.pause()
    response.once('drain', () => exchange.guard(() => controller?.resume()))
  }

  #refuse(cause: RefusalCause): void {
    if (this.#settled) return
    this.#settled = true
    const { response } = this.#exchange
    this.#controller?.abort(new Error('refused'))
    if (response.headersSent) response.destroy()
    else this.#hooks.onRefused(this.#exchange, cause)
  }

  #fail(error: Error): void {
    const exchange = this.#exchange
    const { response } = exchange
    if (this.#settled || response.closed || response.writableEnded) return
    this.#settled = true
    this.#member?.failed(error, exchange.request.url ?? '/')
    if (response.headersSent) response.destroy()
    else this.#hooks.onFailure(exchange, 'code' in error && error.code ? error : makeBadAnswer(error))
  }

  /** Gives the connection back for other requests. */
  #done(): void {
    this.#head = undefined
    if (this.#connection) this.#member?.connections.giveBack(this.#connection, this.#forwarded.owner)
    this.#connection = undefined
    this.#parts.slots.leave(this)
  }

  /** The connection keeps its slot until another request takes it. */
  left(): void {
    // An end by the client is no failure of the origin.
    this.#settled = true
    if (this.#connection) this.#controller?.abort(new Error('the client left'))
    this.#body?.destroy()
    if (!this.#connection) this.#parts.slots.leave(this)
  }

  awaited(): 'upload' | 'head' | 'answer' | undefined {
    if (!this.#connection) return undefined
    if (this.#answering) return this.#stream ? undefined : 'answer'
    return this.#body?.backedUp ? 'upload' : 'head'
  }

  moved(side: Side): number {
    return side === 'upload' ? (this.#body?.sent ?? 0) : this.#received
  }

  late(): void {
    this.#controller?.abort(new OriginLate())
  }
}

/** Reads the fields of an answer (name, value, name, value …) that are reported at the end of its request. */
function readAnswered(fields: readonly string[]): AnsweredFields {
  let contentType: string | undefined
  const setCookies: string[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = fields[at] as string
    if (name.length === 12 && name.toLowerCase() === 'content-type') contentType ??= fields[at + 1]
    else if (name.length === 10 && name.toLowerCase() === 'set-cookie') setCookies.push(fields[at + 1] as string)
  }
  return { contentType, setCookies }
}

/** Gives an invalid answer a code: undici has none, and an error without a code would look like a bug of ours. */
function makeBadAnswer({ message }: Error): Error {
  return new SallyportError('bad_gateway', `the origin's response is not valid: ${message.trim().split('\n', 1)[0]}`)
}
