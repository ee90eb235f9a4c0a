import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort, NO_NEIGHBOURS } from '@sallyport/engine/testing'
import type { Test } from 'tap'
import { certificateFolder } from './certificate.ts'

/* Servers and languages of this machine, each started for a test on a free port, and ended with it. */

/** Why a test that needs a program is skipped; `false` where it is there. */
export function missing(command: string): string | false {
  return NO_NEIGHBOURS || (spawnSync(command, ['-v']).error !== undefined && `no ${command} on this machine`)
}

const FPM = existsSync('/usr/sbin') ? readdirSync('/usr/sbin').find((name) => /^php-fpm\d/.test(name)) : undefined
export const NO_LIGHTTPD = missing('lighttpd')
export const NO_FPM = NO_NEIGHBOURS || (FPM === undefined && 'no PHP-FPM on this machine')

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

/** Starts lighttpd with a CGI program, `/show.cgi`, that answers with its environment. */
export async function cgiOrigin(t: Test): Promise<string> {
  const folder = t.testdir({ 'show.cgi': "#!/bin/sh\nprintf 'Content-Type: text/plain\\r\\n\\r\\n'\nexec env\n" })
  chmodSync(join(folder, 'show.cgi'), 0o755)
  const port = await freePort()
  const file = join(folder, 'lighttpd.conf')
  const base = [`server.document-root = "${folder}"`, `server.port = ${port}`, 'server.bind = "127.0.0.1"']
  writeFileSync(file, [...base, 'server.modules = ("mod_cgi")', 'cgi.assign = (".cgi" => "")'].join('\n'))
  return runServer(t, 'lighttpd', ['-D', '-f', file], port)
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

export const NO_HAPROXY = missing('haproxy')
export const NO_NGINX = missing('nginx')

const NGINX_STREAM = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules', '/usr/share/nginx/modules']
  .map((folder) => join(folder, 'ngx_stream_module.so'))
  .find((file) => existsSync(file))
export const NO_NGINX_STREAM = NO_NGINX || (NGINX_STREAM === undefined && 'nginx has no stream module here')

/** The port on which a server listens and the folder that it may use, from which its configuration is made. */
interface Place {
  readonly port: number
  readonly folder: string
}

/** Runs a server with a configuration that is made for its place. */
async function startIn(t: Test, command: string, write: (place: Place) => string, ...args: readonly string[]) {
  const place = { port: await freePort(), folder: certificateFolder(t) }
  const file = join(place.folder, 'server.conf')
  writeFileSync(file, write(place))
  return runServer(t, command, [...args, file], place.port)
}

const USER = process.getuid?.() === 0 ? 'user root;' : ''
const TIMES = 'timeout connect 5s\n timeout client 1m\n timeout server 1m\n timeout check 5s'

/** Starts HAProxy with these sections after `defaults` of TCP. */
export function startHaproxy(t: Test, sections: (place: Place) => string): Promise<string> {
  const head = `global\n maxconn 1000\ndefaults\n mode tcp\n ${TIMES}\n`
  return startIn(t, 'haproxy', (place) => `${head}${sections(place)}\n`, '-db', '-f')
}

/** Starts nginx with these servers of its stream module. */
export function startNginxStream(t: Test, servers: (place: Place) => string): Promise<string> {
  const write = (place: Place): string => `load_module ${NGINX_STREAM}; ${USER} daemon off; worker_processes 1;
    pid ${place.folder}/pid; error_log stderr crit; events { worker_connections 512; } stream { ${servers(place)} }`
  return startIn(t, 'nginx', write, '-e', 'stderr', '-c')
}

/** Starts nginx with these sections of its `http` block. */
export function startNginxWith(t: Test, sections: (place: Place) => string): Promise<string> {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const write = (place: Place): string => {
    const paths = kinds.map((name) => `${name}_temp_path ${place.folder}/${name};`)
    return `daemon off; pid ${place.folder}/pid; error_log stderr crit; ${USER} events {}
      http { access_log off; ${paths.join(' ')} ${sections(place)} }`
  }
  return startIn(t, 'nginx', write, '-e', 'stderr', '-c')
}

/** Starts Caddy with these sites, without its API and certificates. */
export function startCaddy(t: Test, sites: (port: number) => string): Promise<string> {
  const write = ({ port }: Place): string => `{\n\tadmin off\n\tauto_https off\n}\n${sites(port)}\n`
  return startIn(t, 'caddy', write, 'run', '--adapter', 'caddyfile', '--config')
}
