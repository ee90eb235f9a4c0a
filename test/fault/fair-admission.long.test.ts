import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { freePort } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { certificate } from '../certificate.ts'
import { noFront, run } from '../hosts/fronts.ts'
import { NO_OPENSSL } from '../hosts/protocols.ts'
import { openOrigin, pickLength, startGate } from './gate.ts'

/* Twelve clients hold all that they can: another one is served, each time. At full length an nginx shows how often it serves the other. */
const CLIENTS = 12
const TRIES = 25
/** A little more than one client may have in flight, so that some are refused once all is held. */
const EACH = 110
const OTHER = '127.0.3.1'
/** Fewer than the clients ask for together. */
const TUNNELS = 400
const IS_NGINX_BESIDE = pickLength(noFront('nginx') === false, false)
const NGINX_HOLDS_MS = 6_000

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
]
const PAGE = writeHead('GET / HTTP/1.1')
const TUNNEL = writeHead('GET /ws HTTP/1.1', ...HANDSHAKE)

function writeHead(...lines: readonly string[]): string {
  return [...lines, 'Host: site.example', '', ''].join('\r\n')
}

/** Bytes that hold something, and those that another client sends. */
const KINDS: Readonly<Record<string, readonly [held: string, asked: string]>> = {
  'slow pages': [writeHead('GET /slow HTTP/1.1'), PAGE],
  'slow bodies': [`${writeHead('POST / HTTP/1.1', 'Content-Length: 9000000')}x`, PAGE],
  WebSockets: [TUNNEL, TUNNEL],
}

/** A client that holds; `port` is where it is served. */
type Hold = (port: number) => Promise<Held>

interface Held {
  /** Resolves when all is held, so that one of these clients is refused. */
  readonly refused: Promise<unknown>
  /** Sends what another client asks for. */
  ask(): Promise<number>
  end(): void
}

function clientAddress(client: number): string {
  return `127.0.2.${client + 1}`
}

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

/** Resolves when one of these statuses is a refusal. */
function firstRefusal(statuses: readonly Promise<number>[]): Promise<unknown> {
  return new Promise((resolve) => {
    for (const status of statuses) void status.then((is) => is >= 500 && resolve(is))
  })
}

function holdSockets(held: string, asked: string): Hold {
  return async (port) => {
    const sockets = Array.from({ length: CLIENTS * EACH }, (_, at) => dial(port, clientAddress(at % CLIENTS)))
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
  const addresses = Array.from({ length: CLIENTS }, (_, client) => clientAddress(client))
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

async function countServed({ ask }: Held): Promise<number> {
  let served = 0
  for (let turn = 0; turn < TRIES; turn++) if ([101, 200].includes(await ask())) served++
  return served
}

/** Starts an nginx with as many connections to the origin as the proxy opens, and counts how often it serves the other client. */
async function besideNginx(t: Test, hold: Hold, files?: ReturnType<typeof certificate>): Promise<void> {
  const upstream = new URL(await openOrigin(t)).host
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-fair-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const port = await freePort()
  const tls = files ? `ssl_certificate ${files.cert}; ssl_certificate_key ${files.key};` : ''
  const fields = 'proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection $upgrade;'
  const config = `daemon off; pid ${folder}/pid; error_log stderr; ${process.getuid?.() === 0 ? 'user root;' : ''}
    events { worker_connections 16384; }
    http { access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
      map $http_upgrade $upgrade { default upgrade; '' ''; }
      upstream origin { zone origin 64k; server ${upstream} max_conns=128; keepalive 128; }
      server { listen 127.0.0.1:${port} ${files ? 'ssl http2' : ''}; ${tls}
        location / { proxy_pass http://origin; proxy_http_version 1.1; ${fields} } } }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  await run(t, 'nginx', ['-p', folder, '-c', 'nginx.conf'], port)
  const held = await hold(port)
  // It may hold all of them.
  await Promise.race([held.refused, delay(NGINX_HOLDS_MS)])
  t.comment(`nginx: ${await countServed(held)} of ${TRIES}`)
  held.end()
}

async function serveAnother(t: Test, hold: Hold, files?: ReturnType<typeof certificate>): Promise<void> {
  const tls = files && { tls: { certificates: [files] } }
  const { port } = await startGate(t, await openOrigin(t), {
    limits: { tunnels: TUNNELS },
    timeouts: { queue: '1s' },
    ...tls,
  })
  const held = await hold(port)
  await held.refused
  t.equal(await countServed(held), TRIES)
  held.end()
  if (IS_NGINX_BESIDE) await besideNginx(t, hold, files)
}

for (const [name, bytes] of Object.entries(KINDS)) {
  t.test(`${CLIENTS} clients and ${name}: another one is served`, (t) => serveAnother(t, holdSockets(...bytes)))
}

t.test(`${CLIENTS} connections of HTTP/2 and slow pages: another one is served`, { skip: NO_OPENSSL }, async (t) => {
  await serveAnother(t, holdStreams, certificate(t.testdir()))
})
