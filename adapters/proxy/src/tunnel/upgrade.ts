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
import { type OriginTrust, serverNameOf } from '../origin/trust.ts'
import { readEarly } from './early-bytes.ts'
import { closeFrame, Frames } from './frames.ts'

/** One WebSocket handshake to forward, without `Connection` and `Upgrade`, and the response for where the origin does not answer. */
export interface Handshake extends HandedFields {
  readonly exchange: Exchange
  /** Called at most once, before anything was sent to the client; a late origin has the code `ETIMEDOUT`. */
  readonly onFailure: (error: Error) => void
  /** A field that may stand once came with two values. */
  readonly onConflict: (name: string) => void
}

/**
 * Tunnels one WebSocket to the origin. `http-proxy` throws on a client that resets its connection, leaves the origin's
 * connection open when the client leaves, relays an answer other than 101 with broken framing, and tunnels after any 101;
 * each such event is handled here first. A server that cannot be reached leaves the handshake to the next one.
 */
export function openTunnel({ members, trust, headBytes }: Origin, handshake: Handshake, timeouts: Timeouts): void {
  const { exchange, onFailure, onConflict } = handshake
  const { request, response, socket, head } = exchange.upgrade as Upgrade
  // It may have left while it waited for its turn.
  if (socket.destroyed) return
  const accept = acceptOf(request)
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

  const fieldsOf = (status: number, { rawHeaders }: IncomingMessage): string[] =>
    responseFields(rawHeaders, { status, id: exchange.id, told: exchange.told, onConflict })

  const open = (answer: IncomingMessage, tunnel: Socket): void => {
    if (answer.headers['sec-websocket-accept'] !== accept) {
      throw badAnswer("the origin's answer to the handshake has a wrong accept")
    }
    answer.headers = headersOf(fieldsOf(101, answer))
    member.succeeded(request.url ?? '/')
    settled = true
    exchange.observation.status = 101
    response.detachSocket(socket)
    // http-proxy writes the head of the answer as text, and bytes beyond ASCII are single ones there.
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
          // It failed as it was read.
          if (settled) return
          member.succeeded(request.url ?? '/')
          relayAnswer(answer, response, fieldsOf)
          settled = true
        }),
      opened: (answer, tunnel, pipe) =>
        orFail(tunnel, fail, () => {
          open(answer, tunnel)
          pipe()
          // After http-proxy has its pipes: the first listener for data makes it flow.
          const end = endingOf(socket, tunnel)
          exchange.endTunnel = () => exchange.guard(end)
        }),
    })
  }
  // http-proxy looks for them.
  request.headers = { connection: 'Upgrade', upgrade: 'websocket' }
  const ask = (next: Member): void => {
    member = next
    tried.add(member)
    const sent = asReceived(request.url ?? '/', fieldsFor(handshake, member.address))
    const { target, ssl } = originOf(member.address, trust, headBytes)
    askOrigin(exchange, { target, ssl: Object.defineProperties(ssl, sent) }, { begin, fail })
    socket.setTimeout(timeouts.tunnelIdle)
  }
  socket.on('timeout', () => socket.destroy())
  ask(member)
}

interface AskHooks {
  /** Gets the request before it is sent. */
  begin(outgoing: ClientRequest): void
  fail(error: Error): void
}

/** Has http-proxy send the handshake of an exchange to one server. */
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
  /** Ends where the origin answers. */
  readonly late: NodeJS.Timeout
  /** Does something that may not throw at the origin's connection. */
  guard(go: () => void): void
  /** It failed, before its answer or within the tunnel. */
  failed(error: Error): void
  relay(answer: IncomingMessage): void
  /** `pipe` has http-proxy tunnel. */
  opened(answer: IncomingMessage, tunnel: Socket, pipe: () => void): void
}

/**
 * Hears the origin's answer in place of http-proxy: its tunnel opens after the checks, its relay never runs, and a failure does not
 * end the client's socket.
 */
function takeOver(outgoing: ClientRequest, { late, guard, failed, relay, opened }: HandshakeHooks): void {
  const take = (): void => {
    const tunnelling = outgoing.listeners('upgrade')
    outgoing.removeAllListeners('response').removeAllListeners('upgrade').removeAllListeners('error')
    outgoing.on('error', (error) => guard(() => failed(error)))
    for (const event of ['response', 'upgrade', 'close']) outgoing.once(event, () => clearTimeout(late))
    // Bytes that came with the head may not be HTTP: then it fails first.
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

/** An answer that cannot be sent is a failure of the origin. */
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
  if (answer.destroyed) throw badAnswer("the origin's answer to the handshake was cut")
  requireStatus(status, statusMessage)
  response.writeHead(status, fieldsOf(status, answer))
  if (isEmpty(status)) response.end()
  else pipeline(answer, response, () => {})
}

/** How long the two ends have to close what was ended. */
const CLOSING_MS = 1_000

/** Has either end of a tunnel end with the other. */
function endTogether(socket: Socket, tunnel: Socket): void {
  tunnel.on('error', () => socket.destroy())
  tunnel.once('close', () => socket.destroySoon())
  socket.once('close', () => tunnel.destroy())
  // A client that has ended its half has left: once the origin has all of that, nobody waits for it long.
  const leave = (): unknown => setTimeout(() => socket.destroy(), CLOSING_MS).unref()
  socket.once('end', () => tunnel.once('finish', leave))
}

/** Follows both directions of a tunnel, and ends it with close frames where no frame is under way; else cuts it. */
function endingOf(socket: Socket, tunnel: Socket): () => void {
  const [toClient, toOrigin] = [new Frames(), new Frames()]
  const follow = (bytes: Buffer): void => toOrigin.push(bytes)
  // Listeners of the streams that http-proxy pipes: they see what it writes, in the same order.
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
    // Bytes that still come are read, so that the ends are seen.
    socket.resume()
    tunnel.resume()
    setTimeout(() => socket.destroy(), CLOSING_MS).unref()
  }
}

/** The answer of an origin that read the key; one that did not speaks no WebSocket (RFC 6455 4.1). */
function acceptOf({ headers }: IncomingMessage): string {
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  return createHash('sha1').update(key).digest('base64')
}

function badAnswer(message: string): SallyportError {
  return new SallyportError('bad_gateway', message)
}

/**
 * Holds the target and the fields of a request as they were inspected, in the order received: http-proxy, which would merge
 * slashes and sort names, sets them in vain.
 */
function asReceived(path: string, [name = '', value = '', ...others]: readonly string[]): PropertyDescriptorMap {
  const headers = [name, value, 'Connection', 'Upgrade', 'Upgrade', 'websocket', ...others]
  const fix = (fact: unknown): PropertyDescriptor => ({ enumerable: true, get: () => fact, set: () => {} })
  return { path: fix(path), headers: fix(headers) }
}

/** Returns the target of http-proxy. The certificate must be the origin's own, whatever Host the client asked for. */
function originOf(address: OriginAddress, { ca }: OriginTrust, maxHeaderSize: number) {
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
  // It gives these to each request, with TLS or without.
  return { target, ssl: { servername: serverNameOf(address), maxHeaderSize } }
}

function headersOf(fields: readonly string[]): Record<string, string | string[]> {
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
