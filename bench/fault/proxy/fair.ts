import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { makeCertificate } from '../../proxy/certificate.ts'
import { isInstalled, type Program } from '../../proxy/program.ts'
import { startSallyport } from '../../proxy/sallyport.ts'
import { startNginxBound } from '../../proxy/servers.ts'
import { scratch } from '../scratch.ts'
import { startChild } from './child.ts'
import { KINDS } from './kinds.ts'
import type { Place } from './scene.ts'
import { dial, headOf, portOf } from './wire.ts'

const CLIENTS = numberFlag('fair-clients', 12)
const REQUESTS = numberFlag('fair-requests', 100)
const TRIES = 25
/** A client that waits longer has no answer. */
const PATIENCE_MS = 3_000
/** Until all that can be held is held, and what waits beyond it was refused. */
const SETTLE_MS = 6_000
/** Fewer than the clients ask for together. */
const TUNNELS = 400
const OTHER = '127.0.3.1'

interface Side {
  readonly name: string
  readonly program: Program
}

/** Holds a shared resource. Resolves to the number of tries in which another client was served. */
type Hold = (port: number) => Promise<{ readonly served: number; readonly worstMs: number }>

const firstOf = (kind: string): string => KINDS[kind]?.first(0) ?? ''
const PAGE = headOf('GET', '/')
const TUNNEL = KINDS['WebSockets, unanswered or idle']?.first(1) ?? ''

const HOLDS: Readonly<Record<string, Hold>> = {
  'slow pages': (port) => holdSockets(port, headOf('GET', '/slow'), PAGE),
  'slow bodies': (port) => holdSockets(port, `${firstOf('a slow body of 9 MB')}x`, PAGE),
  WebSockets: (port) => holdSockets(port, TUNNEL, TUNNEL),
}

/** Twelve clients that hold all that they can: another one is served, beside an nginx with as many connections to the origin. */
export async function faultFair({ folder, dataDir }: Place): Promise<Measured> {
  const rows: Record<string, Record<string, string>> = {}
  const broken: string[] = []
  let least = TRIES
  const note = (kind: string, { name, program }: Side, { served, worstMs }: Awaited<ReturnType<Hold>>): void => {
    rows[kind] = { ...rows[kind], [name]: `${served} of ${TRIES}, ${Math.round(worstMs)} ms at the most` }
    if (name !== 'Sallyport') return
    least = Math.min(least, served)
    if (served < TRIES) broken.push(`${kind}: ${TRIES - served} of ${TRIES} refused`)
    if (!program.running()) broken.push(`${kind}: the proxy ended`)
  }
  for (const [kind, hold] of Object.entries(HOLDS)) await onEachSide(false, (side) => holdOn(kind, side, hold))
  if (isInstalled('openssl')) await onEachSide(true, (side) => holdOn('slow pages over HTTP/2', side, holdStreams))

  async function holdOn(kind: string, side: Side, hold: Hold): Promise<void> {
    note(kind, side, await hold(portOf(side.program.url)))
  }

  /** Runs beside one program after the other, each before an origin of its own. */
  async function onEachSide(overTls: boolean, work: (side: Side) => Promise<void>): Promise<void> {
    for (const name of ['Sallyport', 'nginx'].filter((name) => name === 'Sallyport' || isInstalled('nginx'))) {
      await scratch(async (own, cleanup) => {
        const origin = await startChild<number>('origin.js')
        cleanup.teardown(() => origin.stop())
        const upstream = `http://127.0.0.1:${origin.ready}`
        const certificate = overTls ? await makeCertificate(own) : undefined
        const raised = {
          limits: { tunnels: TUNNELS },
          ...(certificate === undefined ? {} : { tls: { certificates: [certificate] } }),
        }
        const program =
          name === 'nginx'
            ? await startNginxBound(own, upstream, certificate)
            : await startSallyport({ folder, dataDir, upstream, raised })
        cleanup.teardown(() => program.stop())
        await work({ name, program })
      })
    }
  }

  console.log(`\n${CLIENTS} clients with ${REQUESTS} requests each: how often another client is served`)
  console.table(rows)
  return { measured: `${CLIENTS} clients hold what they can: another is served ${least} of ${TRIES} times`, broken }
}

const addressOf = (client: number): string => `127.0.2.${client + 1}`

async function holdSockets(port: number, held: string, asked: string) {
  const sockets = Array.from({ length: CLIENTS * REQUESTS }, (_, at) => {
    const socket = dial(port, addressOf(at % CLIENTS))
    return socket.once('connect', () => socket.write(held)).resume()
  })
  await delay(SETTLE_MS)
  const taken = await tryOften(async () => {
    const socket = dial(port, OTHER)
    const answered = new Promise<number>((resolve) => {
      socket.once('data', (bytes) => resolve(Number(bytes.toString('latin1', 9, 12))))
      socket.once('close', () => resolve(0))
      setTimeout(resolve, PATIENCE_MS, 0)
    })
    socket.write(asked)
    const status = await answered
    socket.destroy()
    return status
  })
  for (const socket of sockets) socket.destroy()
  return taken
}

async function holdStreams(port: number) {
  const sessions = await Promise.all(
    Array.from({ length: CLIENTS }, (_, client) => openSession(port, addressOf(client))),
  )
  for (const session of sessions) for (let turn = 0; turn < REQUESTS; turn++) void statusOf(session, '/slow')
  await delay(SETTLE_MS)
  const other = await openSession(port, OTHER)
  const taken = await tryOften(() => statusOf(other, '/'))
  for (const session of [...sessions, other]) session.destroy()
  return taken
}

async function openSession(port: number, address: string): Promise<ClientHttp2Session> {
  const socket = dial(port, address)
  const secure = tlsConnect({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false }).on('error', () => {})
  const session = connect('https://site.example', { createConnection: () => secure }).on('error', () => {})
  await once(session, 'remoteSettings')
  return session
}

function statusOf(session: ClientHttp2Session, path: string): Promise<number> {
  const stream = session.request({ ':path': path, ':authority': 'site.example' }).on('error', () => {})
  return new Promise((resolve) => {
    stream.once('response', (fields) => resolve(Number(fields[':status']))).once('close', () => resolve(0))
    stream.resume()
    setTimeout(resolve, PATIENCE_MS, 0)
  })
}

async function tryOften(ask: () => Promise<number>): ReturnType<Hold> {
  let [served, worstMs] = [0, 0]
  for (let turn = 0; turn < TRIES; turn++) {
    const start = performance.now()
    const status = await ask()
    worstMs = Math.max(worstMs, performance.now() - start)
    if (status === 200 || status === 101) served++
  }
  return { served, worstMs }
}
