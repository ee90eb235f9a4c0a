import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { siteTls } from './certificate.ts'
import { securedOver } from './tls-client.ts'
import { type Answer, dial, OK } from './wire.ts'

/** Opens a proxy with TLS in front of a raw origin, and a session of HTTP/2 with it. */
export async function openHttp2(t: Test, answer: Answer | string = OK, options: BeforeOptions = {}) {
  const before = await proxyBefore(t, answer, { tls: siteTls(t), ...options })
  const session = connect(before.url, { rejectUnauthorized: false, maxHeaderListPairs: 1_000 })
  session.on('error', () => {})
  t.teardown(() => session.destroy())
  await once(session, 'connect')
  return { ...before, session }
}

/** Opens a connection of HTTP/2 whose client writes bytes; `socket` is the connection below TLS. */
export async function openRaw(t: Test, url: string): Promise<{ readonly socket: Socket; readonly secured: TLSSocket }> {
  const socket = await dial(url)
  t.teardown(() => socket.destroy())
  return { socket, secured: await securedOver(socket, { ALPNProtocols: ['h2'] }) }
}

/** Returns the status of one request over a TLS connection that has agreed on HTTP/2. */
export async function askedHttp2(client: TLSSocket): Promise<number> {
  const session = connect('https://site.example', { createConnection: () => client })
  const { status } = await ask(session)
  session.destroy()
  client.destroy()
  return status
}

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  /** The code that the stream was reset with, or 0. */
  readonly code: number
}

export function ask(session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}, body?: string): Promise<Answered> {
  return answered(begin(session, headers, body))
}

/** Begins a request; `endStream` is false for a body that the test writes. */
export function begin(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string,
  endStream = body === undefined,
): ClientHttp2Stream {
  const stream = session.request({ ':path': '/', ':authority': 'site.example', ...headers }, { endStream })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  return stream
}

export function answered(stream: ClientHttp2Stream): Promise<Answered> {
  return new Promise((resolve) => {
    let [status, body] = [0, '']
    let headers: Answered['headers'] = {}
    stream.on('response', (fields) => {
      status = Number(fields[':status'])
      headers = fields as Answered['headers']
    })
    stream.on('data', (bytes) => (body += bytes))
    stream.once('close', () => resolve({ status, headers, body, code: stream.rstCode }))
  })
}
