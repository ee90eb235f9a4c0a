import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, NO_NEIGHBOURS } from '@sallyport/engine/testing'
import type { Test } from 'tap'
import { openRelay } from '../relay.ts'
import { makeFolder, writeIn } from '../started.ts'
import { ROOT } from '../workspaces.ts'
import { ADDRESS } from './challenge-client.ts'

/* nginx, Caddy, Traefik and Envoy ask a gate at /.sallyport/check as the examples configure them; HAProxy stands before one. */
export type Front = 'nginx' | 'caddy' | 'haproxy' | 'traefik' | 'envoy'

export const noFront = (command: string): string | false =>
  NO_NEIGHBOURS || (spawnSync(command, ['-v']).error !== undefined && `no ${command} on this machine`)

/** An example's text with parts replaced; a client on loopback is one of a public address here. */
function example(name: string, replaced: readonly (readonly [string, string])[]): string {
  const text = readFileSync(join(ROOT, 'examples', name), 'utf8')
  return replaced.reduce((made, [from, to]) => {
    if (!made.includes(from)) throw new Error(`${name} has no ${from}`)
    return made.replaceAll(from, to)
  }, text)
}

type Changes = readonly (readonly [string, string])[]

/** Names where a front server and the servers behind it listen. */
interface Place {
  readonly folder: string
  readonly port: number
  readonly gate: string
  readonly origin: string
}

/** Writes the configuration of an example, and starts its server; resolves with the port that visitors use. */
type Starter = (t: Test, place: Place, changed: Changes) => Promise<number>

/** Starts a server in front; `changed`: parts of its configuration that are otherwise than in the example. */
export async function startFront(
  t: Test,
  front: Front,
  behind: Pick<Place, 'gate' | 'origin'>,
  changed: Changes = [],
): Promise<{ readonly port: number }> {
  return { port: await STARTERS[front](t, { ...behind, folder: makeFolder(t), port: await freePort() }, changed) }
}

const STARTERS: Readonly<Record<Front, Starter>> = {
  async caddy(t, { folder, port, gate, origin }, changed) {
    const up = `header_up X-Forwarded-For ${ADDRESS}`
    const site = example('caddy/Caddyfile', [
      ['reverse_proxy 127.0.0.1:8080', `reverse_proxy ${gate} {\n${up}\n}`],
      ['forward_auth 127.0.0.1:8080 {', `forward_auth ${gate} {\n${up}`],
      ['127.0.0.1:3000', origin],
      ['site.example {', `http://site.example:${port}, http://127.0.0.1:${port} {\n\tbind 127.0.0.1`],
      ...changed,
    ])
    const file = writeIn(folder, 'config', `{\n\tadmin off\n\tauto_https off\n}\n${site}`)
    await run(t, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], port)
    return port
  },
  async haproxy(t, { folder, port, gate }, changed) {
    const site = example('haproxy/haproxy.cfg', [
      ['127.0.0.1:8080', gate],
      [':80\n', `127.0.0.1:${port}\n`],
      ['%[src]', ADDRESS],
      ...changed,
    ])
    await run(t, 'haproxy', ['-db', '-f', writeIn(folder, 'config', site)], port)
    return port
  },
  async nginx(t, { folder, port, gate, origin }, changed) {
    mkdirSync(join(folder, 'logs'))
    const site = example('nginx/site.conf', [
      ['127.0.0.1:8080', gate],
      ['127.0.0.1:3000', origin],
      ['listen 80;', `listen 127.0.0.1:${port};`],
      ['$remote_addr', ADDRESS],
      ...changed,
    ])
    const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`)
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    const main = `daemon off; pid ${folder}/pid; error_log stderr; ${user} events {}`
    const file = writeIn(folder, 'config', `${main} http { access_log off; ${folders.join(' ')} ${site} }`)
    await run(t, 'nginx', ['-p', folder, '-c', file], port)
    return port
  },
  // These two write the address of the connection: the PROXY protocol names it.
  async traefik(t, { folder, port, gate, origin }, changed) {
    const site = example('traefik/dynamic.yaml', [['127.0.0.1:8080', gate], ['127.0.0.1:3000', origin], ...changed])
    const admin = await freePort()
    const options = `entryPoints.web.address=127.0.0.1:${port} entryPoints.web.proxyProtocol.insecure=true
entryPoints.traefik.address=127.0.0.1:${admin} api.insecure=true global.checkNewVersion=false global.sendAnonymousUsage=false
providers.file.filename=${writeIn(folder, 'dynamic.yaml', site)}`
    const args = options.split(/\s/).map((option) => `--${option}`)
    await run(t, 'traefik', args, port)
    const loaded = () => fetch(`http://127.0.0.1:${admin}/api/http/routers/site@file`).catch(() => undefined)
    while ((await loaded())?.status !== 200) await delay(20)
    return relayTo(t, port)
  },
  async envoy(t, { folder, port, gate, origin }, changed) {
    const readPort = (place: string): string => new URL(`http://${place}`).port
    const type = 'type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol'
    const named = `{ name: envoy.filters.listener.proxy_protocol, typed_config: { "@type": ${type} } }`
    const site = example('envoy/envoy.yaml', [
      ['address: 0.0.0.0, port_value: 80 ', `address: 127.0.0.1, port_value: ${port} `],
      ['http://127.0.0.1:8080', `http://${gate}`],
      ['address: 127.0.0.1, port_value: 8080 ', `address: 127.0.0.1, port_value: ${readPort(gate)} `],
      ['address: 127.0.0.1, port_value: 3000 ', `address: 127.0.0.1, port_value: ${readPort(origin)} `],
      ['      filter_chains:\n', `      listener_filters: [${named}]\n      filter_chains:\n`],
      ...changed,
    ])
    const file = writeIn(folder, 'envoy.yaml', site)
    await run(t, 'envoy', ['-c', file, '--use-dynamic-base-id', '--concurrency', '1', '-l', 'error'], port)
    return relayTo(t, port)
  },
}

/** Opens a relay that names a public address to a server; resolves with its port. */
async function relayTo(t: Test, port: number): Promise<number> {
  const relay = await openRelay(`http://127.0.0.1:${port}`, ADDRESS)
  t.teardown(() => relay.close())
  return relay.port
}

/** Runs a server until the test ends; resolves when its port takes connections. */
export async function run(t: Test, command: string, args: readonly string[], port: number): Promise<void> {
  const env = { ...process.env, HOME: '/tmp' }
  const child: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
  t.teardown(async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'close')
  })
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`)
    const socket = connect(port, '127.0.0.1')
    const opened = await once(socket, 'connect').catch(() => undefined)
    socket.destroy()
    if (opened !== undefined) return
    await delay(20)
  }
}
