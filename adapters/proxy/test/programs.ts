import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_NEIGHBOURS } from '@sallyport/engine/testing'
import type { Test } from 'tap'

/* Servers and languages of this machine, each started for a test on a free port, and ended with it. */

/** Why a test that needs a program is skipped; `false` where it is there. */
export function missing(command: string): string | false {
  return NO_NEIGHBOURS || (spawnSync(command, ['-v']).error !== undefined && `no ${command} on this machine`)
}

const FPM = existsSync('/usr/sbin') ? readdirSync('/usr/sbin').find((name) => /^php-fpm\d/.test(name)) : undefined
export const NO_LIGHTTPD = missing('lighttpd')
export const NO_FPM = NO_NEIGHBOURS || (FPM === undefined && 'no PHP-FPM on this machine')

/** Finds a port on which no program listens, below the ports that systems give to clients. */
export async function freePort(): Promise<number> {
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

/** Runs a server until the test ends; resolves when its port takes connections. */
export async function runServer(t: Test, command: string, args: readonly string[], port: number): Promise<string> {
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
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (open) return `http://127.0.0.1:${port}`
    await delay(20)
  }
}

async function lighttpd(t: Test, folder: string, lines: readonly string[]): Promise<string> {
  const port = await freePort()
  const file = join(folder, 'lighttpd.conf')
  const base = [`server.document-root = "${folder}"`, `server.port = ${port}`, 'server.bind = "127.0.0.1"']
  writeFileSync(file, [...base, ...lines].join('\n'))
  return runServer(t, 'lighttpd', ['-D', '-f', file], port)
}

/** Starts lighttpd with a CGI program, `/show.cgi`, that answers with its environment. */
export async function cgiOrigin(t: Test): Promise<string> {
  const folder = t.testdir({
    'show.cgi': "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nexec env\n",
  })
  chmodSync(join(folder, 'show.cgi'), 0o755)
  return lighttpd(t, folder, ['server.modules = ("mod_cgi")', 'cgi.assign = (".cgi" => "")'])
}

/** Starts a PHP-FPM. Its script `show.php` answers with its variables of request headers. */
export async function phpFpm(t: Test): Promise<{ readonly port: number; readonly folder: string }> {
  const show = "<?php foreach ($_SERVER as $k => $v) if (strpos($k, 'HTTP_') === 0) echo $k, '=', $v, \"\\n\";"
  const folder = t.testdir({ 'show.php': show })
  const port = await freePort()
  const file = join(folder, 'fpm.conf')
  const user = process.getuid?.() === 0 ? ['user = nobody', 'group = nogroup'] : []
  const pool = [`listen = 127.0.0.1:${port}`, ...user, 'pm = static', 'pm.max_children = 2']
  writeFileSync(file, ['[global]', `error_log = ${join(folder, 'log')}`, '[www]', ...pool, ''].join('\n'))
  chmodSync(folder, 0o755)
  const asRoot = process.getuid?.() === 0 ? ['--allow-to-run-as-root'] : []
  await runServer(t, join('/usr/sbin', FPM as string), ['--nodaemonize', ...asRoot, '--fpm-config', file], port)
  return { port, folder }
}

/** Starts a PHP-FPM behind lighttpd, which serves its script as `/show.php`. */
export async function phpOrigin(t: Test): Promise<string> {
  const { port, folder } = await phpFpm(t)
  const backend = `fastcgi.server = (".php" => (("host" => "127.0.0.1", "port" => ${port})))`
  return lighttpd(t, folder, ['server.modules = ("mod_fastcgi")', backend])
}

/** Characters that HTTP allows in a name beside letters and digits (RFC 9110 5.6.2). */
const SEPARATORS = [..."!#$%&'*+-.^_`|~"]

/** Returns a name with each separator in the place of each hyphen, and of all hyphens. */
export function spellings(name: string, separators = SEPARATORS): readonly string[] {
  const words = name.split('-')
  const all = separators.map((separator) => words.join(separator))
  const mixed = separators.flatMap((separator) =>
    words.slice(1).map((_, at) => `${words.slice(0, at + 1).join('-')}${separator}${words.slice(at + 1).join('-')}`),
  )
  return [...new Set([...all, ...mixed, name.toLowerCase(), name.toUpperCase()])]
}
