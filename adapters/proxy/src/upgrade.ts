import { createHash } from 'node:crypto'
import { type ClientRequest, type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import httpProxy from 'http-proxy'
import { responseFields } from './response-fields.ts'
import type { Timeouts } from './timeouts.ts'

/** One WebSocket handshake to forward, and the response for where the origin does not answer. */
export interface Handshake {
  readonly request: IncomingMessage
  readonly socket: Socket
  /** What the client sent after its request's head. */
  readonly head: Buffer
  /** The response assigned to the socket; detached once the tunnel is open. */
  readonly response: ServerResponse
  /** The fields as the origin gets them, without `Connection` and `Upgrade`. */
  readonly fields: readonly string[]
  /** Called at most once, before anything was sent to the client; a late origin has the code `ETIMEDOUT`. */
  readonly onFailure: (error: Error) => void
}

/**
 * A response on the socket of an upgrade, for which Node makes none; the connection closes once it is sent. `undefined`,
 * and the socket destroyed, where an earlier request of this connection is still being answered.
 */
export function responseOn(socket: Socket, request: IncomingMessage): ServerResponse | undefined {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  try {
    response.assignSocket(socket)
  } catch {
    socket.destroy()
    return undefined
  }
  response.once('finish', () => {
    response.detachSocket(socket)
    socket.destroySoon()
  })
  return response
}

/**
 * Tunnels one WebSocket to the origin. `http-proxy` throws on a client that resets its connection, leaves the origin's
 * connection open when the client leaves, and relays an answer other than 101 with broken framing; each such event is
 * handled here first.
 */
export function openTunnel(upstream: URL, handshake: Handshake, timeouts: Timeouts): void {
  const { request, socket, head, response, fields, onFailure } = handshake
  let settled = false
  let late: NodeJS.Timeout | undefined
  const fail = (error: Error): void => {
    if (settled || socket.destroyed) {
      socket.destroy()
      return
    }
    settled = true
    onFailure(error)
  }

  const relay = (answer: IncomingMessage): void => {
    const status = answer.statusCode ?? 0
    try {
      if (settled || status < 200 || status > 599) throw new Error(`the origin's answer has status ${status}`)
      response.writeHead(status, responseFields(answer.rawHeaders))
      settled = true
      clearTimeout(late)
      pipeline(answer, response, () => {})
    } catch (error) {
      answer.destroy()
      fail(error as Error)
    }
  }

  const proxy = httpProxy.createProxyServer({ target: targetOf(upstream), toProxy: true, prependPath: false })
  proxy.on('error', fail)
  proxy.on('proxyReqWs', (outgoing) => {
    // The path that was inspected: http-proxy merges slashes.
    outgoing.path = request.url ?? '/'
    late = setTimeout(() => outgoing.destroy(new HandshakeTimeout()), timeouts.headers)
    for (const event of ['upgrade', 'close']) outgoing.once(event, () => clearTimeout(late))
    socket.once('close', () => outgoing.destroy())
    outgoing.once('upgrade', (answer, tunnel) => {
      settled = true
      response.detachSocket(socket)
      answer.headers = headersOf(responseFields(answer.rawHeaders))
      tunnel.on('error', () => socket.destroy())
      tunnel.once('close', () => socket.destroySoon())
      socket.once('close', () => tunnel.destroy())
    })
    // http-proxy adds its listeners when this returns: its own relay must not run, nor its tunnel without a check.
    process.nextTick(() => {
      outgoing.removeAllListeners('response').once('response', relay)
      acceptFirst(outgoing, request, () => fail(new Error("the origin's answer to the handshake has a wrong accept")))
    })
  })

  request.headers = headersOf(fields)
  try {
    proxy.ws(request, socket, head)
    socket.setTimeout(timeouts.tunnelIdle, () => socket.destroy())
  } catch (error) {
    fail(error as Error)
  }
}

/** Puts a check before all that opens a tunnel: an origin that did not read the key speaks no WebSocket (RFC 6455 4.1). */
function acceptFirst(outgoing: ClientRequest, { headers }: IncomingMessage, onWrong: () => void): void {
  const key = `${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const expected = createHash('sha1').update(key).digest('base64')
  const opening = outgoing.listeners('upgrade')
  outgoing.removeAllListeners('upgrade').once('upgrade', (answer, tunnel, head) => {
    if (answer.headers['sec-websocket-accept'] === expected) {
      for (const listener of opening) Reflect.apply(listener, outgoing, [answer, tunnel, head])
      return
    }
    tunnel.destroy()
    onWrong()
  })
}

class HandshakeTimeout extends Error {
  readonly code = 'ETIMEDOUT'
  constructor() {
    super('the origin did not answer the handshake')
  }
}

function targetOf({ protocol, hostname, port }: URL): {
  host: string
  hostname: string
  port: number
  protocol: string
} {
  const host = hostname.replace(/^\[|\]$/g, '')
  return { protocol, host, hostname: host, port: Number(port) || (protocol === 'https:' ? 443 : 80) }
}

function headersOf(fields: readonly string[]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = { connection: 'Upgrade', upgrade: 'websocket' }
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] as string).toLowerCase()
    const value = fields[i + 1] as string
    const known = headers[name]
    headers[name] = known === undefined ? value : [known, value].flat()
  }
  return headers
}
