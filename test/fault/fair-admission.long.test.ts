import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { certificate } from '../certificate.ts'
import { NO_OPENSSL } from '../hosts/protocols.ts'
import { requestBytes, WEBSOCKET } from '../hosts/wire.ts'
import { openOrigin, startGate } from './gate.ts'

/* Twelve clients hold all that they can: another one is served, each time. */
const CLIENTS = 12
const TRIES = 25
/** A little more than one client may have in flight, so that some are refused once all is held. */
const EACH = 110
const OTHER = '127.0.3.1'
const TUNNELS = 400

const PAGE = requestBytes('GET', '/', [])
const TUNNEL = requestBytes('GET', '/ws', WEBSOCKET)

/** Bytes that hold something, and those that another client sends. */
const KINDS: Readonly<Record<string, readonly [held: string, asked: string]>> = {
  'slow pages': [requestBytes('GET', '/slow', []), PAGE],
  'slow bodies': [`${requestBytes('POST', '/', ['Content-Length', '9000000'])}x`, PAGE],
  WebSockets: [TUNNEL, TUNNEL],
}

/** Clients that hold, at a port: one of them is `refused` when all is held, and another client asks. */
type Hold = (port: number) => Promise<{ readonly refused: Promise<unknown>; ask(): Promise<number>; end(): void }>

function dial(port: number, localAddress: string): Socket {
  return connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
}

/** Resolves with the status of the first answer; 0 where the connection ends without one. */
function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    socket.once('data', (bytes) => resolve(Number(bytes.toString('latin1', 9, 12))))
    socket.once('close', () => resolve(0))
  })
}

function firstRefusal(statuses: readonly Promise<number>[]): Promise<unknown> {
  const refusals = statuses.map(async (status) => {
    if ((await status) < 500) throw new Error('it is no refusal')
  })
  return Promise.any(refusals)
}

function holdSockets(held: string, asked: string): Hold {
  return async (port) => {
    const sockets = Array.from({ length: CLIENTS * EACH }, (_, at) => dial(port, `127.0.2.${1 + (at % CLIENTS)}`))
    for (const socket of sockets) socket.write(held)
    return {
      refused: firstRefusal(sockets.map(readStatus)),
      async ask() {
        const socket = dial(port, OTHER)
        socket.write(asked)
        const status = await readStatus(socket)
        socket.destroy()
        return status
      },
      end() {
        for (const socket of sockets) socket.destroy()
      },
    }
  }
}

async function openSession(port: number, address: string): Promise<ClientHttp2Session> {
  const options = { socket: dial(port, address), ALPNProtocols: ['h2'], rejectUnauthorized: false }
  const secure = connectTls(options).on('error', () => {})
  const session = connectHttp2('https://site.example', { createConnection: () => secure }).on('error', () => {})
  await once(session, 'remoteSettings')
  return session
}

function askOver(session: ClientHttp2Session, path: string): Promise<number> {
  const stream = session.request({ ':path': path, ':authority': 'site.example' }).on('error', () => {})
  return new Promise((resolve) => {
    stream.once('response', (fields) => resolve(Number(fields[':status']))).once('close', () => resolve(0))
    stream.resume()
  })
}

const holdStreams: Hold = async (port) => {
  const addresses = Array.from({ length: CLIENTS }, (_, client) => `127.0.2.${client + 1}`)
  const [other, ...sessions] = await Promise.all([OTHER, ...addresses].map((address) => openSession(port, address)))
  const statuses = sessions.flatMap((session) => Array.from({ length: EACH }, () => askOver(session, '/slow')))
  return {
    refused: firstRefusal(statuses),
    ask: () => askOver(other as ClientHttp2Session, '/'),
    end() {
      for (const session of [other, ...sessions]) session?.destroy()
    },
  }
}

async function serveAnother(t: Test, hold: Hold, files?: ReturnType<typeof certificate>): Promise<void> {
  const tls = files && { tls: { certificates: [files] } }
  const limits = { limits: { tunnels: TUNNELS }, timeouts: { queue: '1s' } } as const
  const { port } = await startGate(t, await openOrigin(t), { ...limits, ...tls })
  const held = await hold(port)
  await held.refused
  for (let turn = 1; turn <= TRIES; turn++) t.ok([101, 200].includes(await held.ask()), `turn ${turn}`)
  held.end()
}

for (const [name, bytes] of Object.entries(KINDS)) {
  t.test(`${CLIENTS} clients and ${name}: another one is served`, (t) => serveAnother(t, holdSockets(...bytes)))
}

t.test(`${CLIENTS} connections of HTTP/2 and slow pages: another one is served`, { skip: NO_OPENSSL }, async (t) => {
  await serveAnother(t, holdStreams, certificate(t.testdir()))
})
