import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { dial } from './wire.ts'

/* Real servers before the proxy, each of them private to a test. */

export const NO_HAPROXY = spawnSync('haproxy', ['-v']).error === undefined ? false : 'HAProxy is not installed'

const NGINX_STREAM = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules', '/usr/share/nginx/modules']
  .map((folder) => join(folder, 'ngx_stream_module.so'))
  .find((file) => existsSync(file))
export const NO_NGINX_STREAM =
  spawnSync('nginx', ['-v']).error === undefined && NGINX_STREAM !== undefined
    ? false
    : 'nginx with its stream module is not installed'

/** A program in front: where clients connect, and a folder of its own, for sockets. */
export interface Front {
  readonly url: string
}

/** Where it listens and what it may use, from which its configuration is made. */
interface Place {
  readonly port: number
  readonly folder: string
}

/** HAProxy with these sections after `defaults` of TCP. */
export function startHaproxy(t: Test, sections: (place: Place) => string): Promise<Front> {
  return startFront(t, (place) => {
    const file = join(place.folder, 'haproxy.cfg')
    const times = 'timeout connect 5s\n timeout client 1m\n timeout server 1m\n timeout check 5s'
    writeFileSync(file, `global\n maxconn 1000\ndefaults\n mode tcp\n ${times}\n${sections(place)}\n`)
    return spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  })
}

/** nginx with these servers of its stream module. */
export function startNginxStream(t: Test, servers: (place: Place) => string): Promise<Front> {
  return startFront(t, (place) => {
    const file = join(place.folder, 'nginx.conf')
    const user = process.getuid?.() === 0 ? 'user root;' : ''
    writeFileSync(
      file,
      `load_module ${NGINX_STREAM}; ${user} daemon off; worker_processes 1; pid ${join(place.folder, 'pid')};
      error_log stderr crit; events { worker_connections 512; } stream { ${servers(place)} }`,
    )
    return spawn('nginx', ['-e', 'stderr', '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  })
}

async function startFront(t: Test, start: (place: Place) => ChildProcess): Promise<Front> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-front-'))
  const port = await freePort()
  const child = start({ port, folder })
  let said = ''
  child.stderr?.on('data', (bytes) => {
    said += bytes
  })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  })
  const url = `http://127.0.0.1:${port}`
  while (!(await isListening(url))) {
    if (child.exitCode !== null) throw new Error(`it did not start: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { url }
}

async function isListening(url: string): Promise<boolean> {
  try {
    ;(await dial(url)).destroy()
    return true
  } catch {
    return false
  }
}

/** A port that nobody listens on, below those that systems give to clients. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 30_000)
    const server = createServer().listen(port, '127.0.0.1')
    const taken = await once(server, 'listening').then(
      () => false,
      () => true,
    )
    if (taken) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
