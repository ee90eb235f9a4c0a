import { createHash, randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { SallyportError } from '@sallyport/core'
import type { Timeouts } from '@sallyport/engine/limits'
import httpProxy from 'http-proxy'
import { grouped } from '../edge/stream-response.ts'
import type { Exchange, Upgrade } from '../exchange/exchange.ts'
import { isEmpty, requireStatus, responseFields } from '../fields/response-fields.ts'
import { type OriginAddress, readServerName } from '../origin/address.ts'
import { isUnreached, OriginLate } from '../origin/faults.ts'
import { fieldsFor, type HandedFields } from '../origin/handed-fields.ts'
import type { Member } from '../origin/members.ts'
import type { Origin } from '../origin/origin.ts'
import { readEarly } from './early-bytes.ts'
import { closeFrame, Frames } from './frames.ts'

/** A WebSocket handshake to forward, without `Connection` and `Upgrade`, with hooks for an origin that fails. */
export interface Handshake extends HandedFields {
  readonly exchange: Exchange
  /** Called at most once, before anything was sent to the client; a late origin has the code `ETIMEDOUT`. */
  readonly onFailure: (error: Error) => void
  /** Called when a field that may occur once came with two values. */
  readonly onConflict: (name: string) => void
}

/** Tunnels one WebSocket to the origin; the handshake moves to the next server where one cannot be reached. */
export function openTunnel(origin: Origin, handshake: Handshake, timeouts: Timeouts): void {
  const { socket } = handshake.exchange.upgrade as Upgrade
  // The client may have left while it waited for its turn.
  if (socket.destroyed) return
  socket.on('timeout', () => socket.destroy())
  new Tunnel(origin, handshake, timeouts).ask(origin.members.next() as Member)
}

/**
 * Carries one handshake, and opens its tunnel. `http-proxy` throws on a client that resets its connection, leaves the origin's connection
 * open when the client leaves, relays an answer other than 101 with broken framing, and tunnels after any 101; each such event is handled
 * here first.
 */
class Tunnel {
  readonly #origin: Origin
  readonly #handshake: Handshake
  readonly #timeouts: Timeouts
  readonly #upgrade: Upgrade
  readonly #accept: string
  readonly #putBack: () => void
  readonly #tried = new Set<Member>()
  #member: Member | undefined
  #settled = false

  constructor(origin: Origin, handshake: Handshake, timeouts: Timeouts) {
    const upgrade = handshake.exchange.upgrade as Upgrade
    this.#origin = origin
    this.#handshake = handshake
    this.#timeouts = timeouts
    this.#upgrade = upgrade
    this.#accept = computeAccept(upgrade.request)
    this.#putBack = readEarly(upgrade.socket, upgrade.head)
    // http-proxy needs these fields.
    upgrade.request.headers = { connection: 'Upgrade', upgrade: 'websocket' }
  }

  /** Makes http-proxy send the handshake to one server. */
  ask(member: Member): void {
    this.#member = member
    this.#tried.add(member)
    const { request, socket } = this.#upgrade
    const sent = keepReceived(request, fieldsFor(this.#handshake, member.address))
    const { target, ssl } = describeOrigin(member.address, this.#origin)
    const proxy = httpProxy.createProxyServer({ target, ssl: Object.defineProperties(ssl, sent), toProxy: true })
    proxy.on('error', (error) => this.#guard(() => this.#fail(error)))
    proxy.on('proxyReqWs', (outgoing) => this.#guard(() => this.#begin(outgoing)))
    try {
      proxy.ws(request, socket, Buffer.alloc(0))
    } catch (error) {
      this.#fail(error as Error)
    }
    socket.setTimeout(this.#timeouts.tunnelIdle)
  }

  /** Calls a function that may not throw at the origin's connection. */
  #guard(go: () => void): void {
    this.#handshake.exchange.guard(go)
  }

  /** Takes a failure, before the answer or within the tunnel. */
  #fail(error: Error): void {
    const { request, socket } = this.#upgrade
    if (this.#settled || socket.destroyed) {
      socket.destroy()
      return
    }
    this.#member?.failed(error, request.url ?? '/')
    const next = isUnreached(error) ? this.#origin.members.next(this.#tried) : undefined
    if (next !== undefined) {
      this.ask(next)
      return
    }
    this.#settled = true
    this.#handshake.onFailure(error)
  }

  /**
   * Handles the origin's answer in place of http-proxy: the tunnel opens after our checks, http-proxy's relay never runs, and a failure
   * does not end the client's socket.
   */
  #begin(outgoing: ClientRequest): void {
    const late = setTimeout(() => outgoing.destroy(new OriginLate()), this.#timeouts.originHeaders)
    this.#upgrade.socket.once('close', () => outgoing.destroy())
    const take = (): void => {
      const tunnelling = outgoing.listeners('upgrade')
      outgoing.removeAllListeners('response').removeAllListeners('upgrade').removeAllListeners('error')
      outgoing.on('error', (error) => this.#guard(() => this.#fail(error)))
      for (const event of ['response', 'upgrade', 'close']) outgoing.once(event, () => clearTimeout(late))
      // Bytes that came with the head may not be HTTP: then they fail first.
      outgoing.once('response', (answer) => setImmediate(() => this.#accepting(answer, () => this.#relay(answer))))
      outgoing.once('upgrade', (answer, tunnel, first) => {
        const pipe = (): void => {
          for (const listener of tunnelling) Reflect.apply(listener, outgoing, [answer, tunnel, first])
        }
        this.#accepting(tunnel, () => this.#open(answer, tunnel as Socket, pipe))
      })
    }
    // http-proxy adds its listeners when its event returns.
    process.nextTick(() => this.#guard(take))
  }

  /** Treats an answer that cannot be sent as a failure of the origin. */
  #accepting(answer: { destroy(): unknown }, go: () => void): void {
    this.#guard(() => {
      try {
        go()
      } catch (error) {
        if (!(error instanceof SallyportError)) throw error
        answer.destroy()
        this.#fail(error)
      }
    })
  }

  #answerFields(status: number, { rawHeaders }: IncomingMessage): string[] {
    const { exchange, onConflict } = this.#handshake
    const raw = rawHeaders.map((text) => Buffer.from(text, 'latin1'))
    return responseFields(raw, { status, id: exchange.id, ownFields: exchange.ownFields, onConflict })
  }

  /** Passes on an answer other than 101; throws `bad_gateway`. */
  #relay(answer: IncomingMessage): void {
    // Reading the answer failed.
    if (this.#settled) return
    const { request, response } = this.#upgrade
    this.#member?.succeeded(request.url ?? '/')
    const { statusCode: status = 0, statusMessage = '' } = answer
    if (answer.destroyed) throw makeBadAnswer("the origin's handshake response was cut off")
    requireStatus(status, statusMessage)
    response.writeHead(status, this.#answerFields(status, answer))
    if (isEmpty(status)) response.end()
    else pipeline(answer, response, () => {})
    this.#settled = true
  }

  /** Opens the tunnel; throws `bad_gateway`. `pipe` makes http-proxy tunnel. */
  #open(answer: IncomingMessage, tunnel: Socket, pipe: () => void): void {
    const { request, response, socket } = this.#upgrade
    const { exchange } = this.#handshake
    if (answer.headers['sec-websocket-accept'] !== this.#accept) {
      throw makeBadAnswer("the origin's handshake response has a wrong Sec-WebSocket-Accept")
    }
    const fields = grouped(this.#answerFields(101, answer))
    answer.headers = { connection: 'Upgrade', upgrade: 'websocket', ...fields } as IncomingHttpHeaders
    this.#member?.succeeded(request.url ?? '/')
    this.#settled = true
    exchange.observation.status = 101
    response.detachSocket(socket)
    // http-proxy writes the head of the answer as text, where bytes beyond ASCII are single bytes.
    socket.setDefaultEncoding('latin1')
    endTogether(socket, tunnel)
    this.#putBack()
    pipe()
    // This comes after http-proxy has its pipes: the first listener for data starts the flow.
    const end = watchEnd(socket, tunnel)
    exchange.endTunnel = () => exchange.guard(end)
  }
}

/** Limits how long the two ends may take to close. */
const CLOSING_MS = 1_000

/** Ends either side of a tunnel with the other. */
function endTogether(socket: Socket, tunnel: Socket): void {
  tunnel.on('error', () => socket.destroy())
  tunnel.once('close', () => socket.destroySoon())
  socket.once('close', () => tunnel.destroy())
  // A client that has ended its half has left: once the origin has all its bytes, the socket closes soon.
  const leave = (): unknown => setTimeout(() => socket.destroy(), CLOSING_MS).unref()
  socket.once('end', () => tunnel.once('finish', leave))
}

/** Follows both directions of a tunnel, and returns a function that ends it with close frames between frames, or else cuts it. */
function watchEnd(socket: Socket, tunnel: Socket): () => void {
  const [toClient, toOrigin] = [new Frames(), new Frames()]
  const follow = (bytes: Buffer): void => toOrigin.push(bytes)
  // http-proxy pipes these streams: listeners see what it writes, in the same order.
  socket.on('data', follow)
  tunnel.on('data', (bytes: Buffer) => toClient.push(bytes))
  return () => {
    if (!toClient.areWhole) {
      socket.destroy()
      return
    }
    tunnel.unpipe(socket)
    socket.unpipe(tunnel)
    socket.end(closeFrame())
    if (toOrigin.areWhole) tunnel.end(closeFrame(randomBytes(4)))
    else tunnel.destroy()
    // Later bytes are read, so that both ends are seen.
    socket.resume()
    tunnel.resume()
    setTimeout(() => socket.destroy(), CLOSING_MS).unref()
  }
}

/** Computes the answer of an origin that read the key; an origin with another answer does not speak WebSocket (RFC 6455 4.1). */
function computeAccept({ headers }: IncomingMessage): string {
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  return createHash('sha1').update(key).digest('base64')
}

function makeBadAnswer(message: string): SallyportError {
  return new SallyportError('bad_gateway', message)
}

/**
 * Keeps the target and the fields of a request as inspected, in the received order: http-proxy, which would merge slashes and sort names,
 * cannot change them.
 */
function keepReceived({ url = '/', rawHeaders }: IncomingMessage, sent: readonly string[]): PropertyDescriptorMap {
  const fix = (fact: unknown): PropertyDescriptor => ({ enumerable: true, get: () => fact, set: () => {} })
  return { path: fix(url), headers: fix(insertUpgrade(rawHeaders, sent)) }
}

const UPGRADE = new Map([
  ['connection', ['Connection', 'Upgrade']],
  ['upgrade', ['Upgrade', 'websocket']],
])

/** Inserts `Connection` and `Upgrade` into the sent fields, where the client had them. */
function insertUpgrade(received: readonly string[], sent: readonly string[]): readonly string[] {
  const all: string[] = []
  const missing = new Map(UPGRADE)
  let next = 0
  for (let at = 0; at < received.length; at += 2) {
    const lower = (received[at] as string).toLowerCase()
    all.push(...(missing.get(lower) ?? []))
    missing.delete(lower)
    if (received[at] !== sent[next]) continue
    all.push(...sent.slice(next, next + 2))
    next += 2
  }
  return [...all, ...sent.slice(next)]
}

/** Returns the target of http-proxy. The certificate must name the origin itself, whatever Host the client sent. */
function describeOrigin(address: OriginAddress, { trust: { ca }, headBytes: maxHeaderSize }: Origin) {
  const { protocol, hostname, port } = address.url
  const host = hostname.replace(/^\[|\]$/g, '')
  const target = {
    protocol,
    host,
    hostname: host,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
    ...(address.socketPath === undefined ? {} : { socketPath: address.socketPath }),
    ...(ca === undefined ? {} : { ca }),
  }
  // http-proxy gives these to each request, with or without TLS.
  return { target, ssl: { servername: readServerName(address), maxHeaderSize } }
}
