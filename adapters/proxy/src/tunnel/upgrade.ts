import { createHash, randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { SallyportError } from '@sallyport/core'
import type { Timeouts } from '@sallyport/engine/limits'
import httpProxy from 'http-proxy'
import type { Exchange, Upgrade } from '../exchange/exchange.ts'
import { isEmpty, requireStatus, responseFields } from '../fields/response-fields.ts'
import type { OriginAddress } from '../origin/address.ts'
import { isUnreached, OriginLate } from '../origin/faults.ts'
import type { Member } from '../origin/members.ts'
import type { Origin } from '../origin/origin.ts'
import { fieldsFor, type HandedFields } from '../origin/own-host.ts'
import { type OriginTrust, readServerName } from '../origin/trust.ts'
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

/**
 * Tunnels one WebSocket to the origin. `http-proxy` throws on a client that resets its connection, leaves the origin's connection open when
 * the client leaves, relays an answer other than 101 with broken framing, and tunnels after any 101; each such event is handled here first.
 * The handshake moves to the next server where one cannot be reached.
 */
export function openTunnel({ members, trust, headBytes }: Origin, handshake: Handshake, timeouts: Timeouts): void {
  const { exchange, onFailure, onConflict } = handshake
  const { request, response, socket, head } = exchange.upgrade as Upgrade
  // The client may have left while it waited for its turn.
  if (socket.destroyed) return
  const accept = computeAccept(request)
  const tried = new Set<Member>()
  let member = members.next() as Member
  const putBack = readEarly(socket, head)
  let settled = false
  const fail = (error: Error): void => {
    if (settled || socket.destroyed) {
      socket.destroy()
      return
    }
    member.failed(error, request.url ?? '/')
    const next = isUnreached(error) ? members.next(tried) : undefined
    if (next !== undefined) {
      ask(next)
      return
    }
    settled = true
    onFailure(error)
  }

  const answerFields = (status: number, { rawHeaders }: IncomingMessage): string[] =>
    responseFields(rawHeaders, { status, id: exchange.id, told: exchange.told, onConflict })

  const open = (answer: IncomingMessage, tunnel: Socket): void => {
    if (answer.headers['sec-websocket-accept'] !== accept) {
      throw makeBadAnswer("the origin's handshake response has a wrong Sec-WebSocket-Accept")
    }
    answer.headers = groupFields(answerFields(101, answer))
    member.succeeded(request.url ?? '/')
    settled = true
    exchange.observation.status = 101
    response.detachSocket(socket)
    // http-proxy writes the head of the answer as text, where bytes beyond ASCII are single bytes.
    socket.setDefaultEncoding('latin1')
    endTogether(socket, tunnel)
    putBack()
  }

  const begin = (outgoing: ClientRequest): void => {
    const late = setTimeout(() => outgoing.destroy(new OriginLate()), timeouts.originHeaders)
    socket.once('close', () => outgoing.destroy())
    takeOver(outgoing, {
      late,
      guard: (go) => exchange.guard(go),
      failed: fail,
      relay: (answer) =>
        orFail(answer, fail, () => {
          // Reading the answer failed.
          if (settled) return
          member.succeeded(request.url ?? '/')
          relayAnswer(answer, response, answerFields)
          settled = true
        }),
      opened: (answer, tunnel, pipe) =>
        orFail(tunnel, fail, () => {
          open(answer, tunnel)
          pipe()
          // This comes after http-proxy has its pipes: the first listener for data starts the flow.
          const end = watchEnd(socket, tunnel)
          exchange.endTunnel = () => exchange.guard(end)
        }),
    })
  }
  // http-proxy needs these fields.
  request.headers = { connection: 'Upgrade', upgrade: 'websocket' }
  const ask = (next: Member): void => {
    member = next
    tried.add(member)
    const sent = keepReceived(request, fieldsFor(handshake, member.address))
    const { target, ssl } = describeOrigin(member.address, trust, headBytes)
    askOrigin(exchange, { target, ssl: Object.defineProperties(ssl, sent) }, { begin, fail })
    socket.setTimeout(timeouts.tunnelIdle)
  }
  socket.on('timeout', () => socket.destroy())
  ask(member)
}

interface AskHooks {
  /** Receives the request before it is sent. */
  begin(outgoing: ClientRequest): void
  fail(error: Error): void
}

/** Makes http-proxy send the handshake of an exchange to one server. */
function askOrigin(exchange: Exchange, origin: httpProxy.ServerOptions, { begin, fail }: AskHooks): void {
  const { request, socket } = exchange.upgrade as Upgrade
  const proxy = httpProxy.createProxyServer({ ...origin, toProxy: true })
  proxy.on('error', (error) => exchange.guard(() => fail(error)))
  proxy.on('proxyReqWs', (outgoing) => exchange.guard(() => begin(outgoing)))
  try {
    proxy.ws(request, socket, Buffer.alloc(0))
  } catch (error) {
    fail(error as Error)
  }
}

interface HandshakeHooks {
  /** Ends when the origin answers. */
  readonly late: NodeJS.Timeout
  /** Calls a function that may not throw at the origin's connection. */
  guard(go: () => void): void
  /** Called on a failure, before the answer or within the tunnel. */
  failed(error: Error): void
  relay(answer: IncomingMessage): void
  /** Called when the origin opens a tunnel; `pipe` makes http-proxy tunnel. */
  opened(answer: IncomingMessage, tunnel: Socket, pipe: () => void): void
}

/**
 * Handles the origin's answer in place of http-proxy: the tunnel opens after our checks, http-proxy's relay never runs, and a failure does
 * not end the client's socket.
 */
function takeOver(outgoing: ClientRequest, { late, guard, failed, relay, opened }: HandshakeHooks): void {
  const take = (): void => {
    const tunnelling = outgoing.listeners('upgrade')
    outgoing.removeAllListeners('response').removeAllListeners('upgrade').removeAllListeners('error')
    outgoing.on('error', (error) => guard(() => failed(error)))
    for (const event of ['response', 'upgrade', 'close']) outgoing.once(event, () => clearTimeout(late))
    // Bytes that came with the head may not be HTTP: then they fail first.
    outgoing.once('response', (answer) => setImmediate(() => guard(() => relay(answer))))
    outgoing.once('upgrade', (answer, tunnel, first) => {
      const pipe = (): void => {
        for (const listener of tunnelling) Reflect.apply(listener, outgoing, [answer, tunnel, first])
      }
      guard(() => opened(answer, tunnel as Socket, pipe))
    })
  }
  // http-proxy adds its listeners when its event returns.
  process.nextTick(() => guard(take))
}

/** Treats an answer that cannot be sent as a failure of the origin. */
function orFail(answer: IncomingMessage | Socket, fail: (error: Error) => void, go: () => void): void {
  try {
    go()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    answer.destroy()
    fail(error)
  }
}

/** Passes on an answer other than 101; throws `bad_gateway`. */
function relayAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  fieldsOf: (status: number, answer: IncomingMessage) => string[],
): void {
  const { statusCode: status = 0, statusMessage = '' } = answer
  if (answer.destroyed) throw makeBadAnswer("the origin's handshake response was cut off")
  requireStatus(status, statusMessage)
  response.writeHead(status, fieldsOf(status, answer))
  if (isEmpty(status)) response.end()
  else pipeline(answer, response, () => {})
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
function describeOrigin(address: OriginAddress, { ca }: OriginTrust, maxHeaderSize: number) {
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

function groupFields(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = Object.create(null)
  Object.assign(headers, { connection: 'Upgrade', upgrade: 'websocket' })
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    const value = fields[i + 1] as string
    const known = headers[name]
    headers[name] = known === undefined ? value : [known, value].flat()
  }
  return headers
}
