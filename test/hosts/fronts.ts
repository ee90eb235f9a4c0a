import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, NO_NEIGHBOURS } from '@sallyport/engine/testing'
import type { Test } from 'tap'
import { ROOT } from '../workspaces.ts'
import { ADDRESS } from './challenge-client.ts'

/* nginx and Caddy in front of a gate, which they ask at /.sallyport/check as the examples configure them, and HAProxy before one. */
export type Front = 'nginx' | 'caddy' | 'haproxy'

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

/** Starts a server in front; `changed`: parts of its configuration that are otherwise than in the example. */
export async function startFront(
  t: Test,
  front: Front,
  { gate, origin }: { readonly gate: string; readonly origin: string },
  changed: readonly (readonly [string, string])[] = [],
): Promise<{ readonly port: number }> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-fronts-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'config')
  if (front === 'caddy') {
    const up = `header_up X-Forwarded-For ${ADDRESS}`
    const site = example('caddy/Caddyfile', [
      ['reverse_proxy 127.0.0.1:8080', `reverse_proxy ${gate} {\n${up}\n}`],
      ['forward_auth 127.0.0.1:8080 {', `forward_auth ${gate} {\n${up}`],
      ['127.0.0.1:3000', origin],
      ['site.example {', `http://site.example:${port} {\n\tbind 127.0.0.1`],
      ...changed,
    ])
    writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${site}`)
    await run(t, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], port)
    return { port }
  }
  if (front === 'haproxy') {
    const site = example('haproxy/haproxy.cfg', [
      ['127.0.0.1:8080', gate],
      [':80\n', `127.0.0.1:${port}\n`],
      ['%[src]', ADDRESS],
      ...changed,
    ])
    writeFileSync(file, site)
    await run(t, 'haproxy', ['-db', '-f', file], port)
    return { port }
  }
  mkdirSync(join(folder, 'logs'))
  const site = example('nginx/site.conf', [
    ['127.0.0.1:8080', gate],
    ['127.0.0.1:3000', origin],
    ['listen 80;', `listen 127.0.0.1:${port};`],
    ['$remote_addr', ADDRESS],
    ...changed,
  ])
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((of) => `${of}_temp_path ${folder}/${of};`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const main = `daemon off; pid ${folder}/pid; error_log stderr; ${user} events {}`
  writeFileSync(file, `${main} http { access_log off; ${temporary.join(' ')} ${site} }`)
  await run(t, 'nginx', ['-p', folder, '-c', file], port)
  return { port }
}

/** Runs a server until the test ends; resolves when its port takes connections. */
export async function run(t: Test, command: string, args: readonly string[], port: number): Promise<void> {
  const child: ChildProcess = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: '/tmp' },
  })
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
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await delay(20)
  }
}
