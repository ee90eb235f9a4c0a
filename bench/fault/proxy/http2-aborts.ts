import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import type { Measured } from '../../promises.ts'
import { makeCertificate } from '../../proxy/certificate.ts'
import { type Leaver, leaveAt } from './leaving.ts'
import type { Place } from './scene.ts'
import { dial } from './wire.ts'

const STREAMS = 4
/** Until what was sent has come to the origin. */
const SETTLE_MS = 20
/** How long a client that has ended its half waits for the proxy to end the other one. */
const GOODBYE_MS = 2_000

/** Acts of a client on its session before it leaves. */
const ABORTS: Readonly<Record<string, (session: ClientHttp2Session) => Promise<unknown>>> = {
  'before a request': async () => {},
  'within its bodies': async (session) => {
    for (const stream of ask(session, 'POST', '/upload')) stream.write('x'.repeat(10_000))
    await delay(SETTLE_MS)
  },
  'before the answers': async (session) => {
    ask(session, 'GET', '/slow')
    await delay(SETTLE_MS)
  },
  'within the answers': async (session) => {
    await Promise.all(ask(session, 'GET', '/big').map((stream) => once(stream, 'response')))
  },
  'after it has cancelled half': async (session) => {
    const streams = ask(session, 'GET', '/slow')
    await delay(SETTLE_MS)
    for (const stream of streams.slice(STREAMS / 2)) stream.close(constants.NGHTTP2_CANCEL)
  },
}

/** Clients of HTTP/2 that leave at six moments, by an end of both halves, of one, or a reset: nothing stays behind. */
export async function faultHttp2Aborts(place: Place): Promise<Measured> {
  const raised = {
    tls: { certificates: [await makeCertificate(place.folder)] },
    timeouts: { keepAlive: '1s' },
  }
  const leavers = Object.entries(ABORTS).map(([name, way]): readonly [string, Leaver] => [name, leaver(way)])
  return leaveAt(place, raised, { 'within a ClientHello': leaveHello, ...Object.fromEntries(leavers) })
}

function ask(session: ClientHttp2Session, method: string, path: string): readonly ClientHttp2Stream[] {
  return Array.from({ length: STREAMS }, () => {
    const fields = { ':method': method, ':path': path, ':authority': 'site.example' }
    // Nobody reads the answers, so the windows of the streams fill.
    return session.request(fields, { endStream: method === 'GET' }).on('error', () => {})
  })
}

const leaveHello: Leaver = async (port, address, at) => {
  const socket = dial(port, address)
  await once(socket, 'connect')
  socket.write(Buffer.from('1603010200010001fc0303', 'hex'))
  await delay(SETTLE_MS)
  await leave(socket, socket, at)
}

function leaver(way: (session: ClientHttp2Session) => Promise<unknown>): Leaver {
  return async (port, address, at) => {
    const socket = dial(port, address)
    const secure = tlsConnect({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false }).on('error', () => {})
    const session = connect('https://site.example', { createConnection: () => secure }).on('error', () => {})
    const gone = once(session, 'close')
    await Promise.race([once(session, 'remoteSettings').then(() => way(session)), gone])
    await leave(socket, secure, at)
    session.destroy()
  }
}

/** Leaves in one of three ways. `top` is what the client ends politely, over the socket. */
async function leave(socket: Socket, top: Socket, at: number): Promise<void> {
  if (at % 3 === 0) {
    top.end()
    await Promise.race([once(socket, 'close'), delay(GOODBYE_MS, undefined, { ref: false })])
  }
  if (at % 3 === 1) socket.resetAndDestroy()
  else socket.destroy()
}
