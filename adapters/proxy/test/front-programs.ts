import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { certificateFolder } from './certificate.ts'
import { freePort, missing, runServer } from './programs.ts'

/* These real servers run in front of the proxy, and each is private to a test. */

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

/** Starts HAProxy with these sections after `defaults` of TCP. */
export async function startHaproxy(t: Test, sections: (place: Place) => string): Promise<string> {
  const place = { port: await freePort(), folder: certificateFolder(t) }
  const file = join(place.folder, 'haproxy.cfg')
  const times = 'timeout connect 5s\n timeout client 1m\n timeout server 1m\n timeout check 5s'
  writeFileSync(file, `global\n maxconn 1000\ndefaults\n mode tcp\n ${times}\n${sections(place)}\n`)
  return runServer(t, 'haproxy', ['-db', '-f', file], place.port)
}

/** Starts nginx with these servers of its stream module. */
export async function startNginxStream(t: Test, servers: (place: Place) => string): Promise<string> {
  const place = { port: await freePort(), folder: certificateFolder(t) }
  const file = join(place.folder, 'nginx.conf')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  writeFileSync(
    file,
    `load_module ${NGINX_STREAM}; ${user} daemon off; worker_processes 1; pid ${join(place.folder, 'pid')};
      error_log stderr crit; events { worker_connections 512; } stream { ${servers(place)} }`,
  )
  return runServer(t, 'nginx', ['-e', 'stderr', '-c', file], place.port)
}

/** Starts nginx with these sections of its `http` block. */
export async function startNginxWith(t: Test, sections: (place: Place) => string): Promise<string> {
  const place = { port: await freePort(), folder: certificateFolder(t) }
  const { folder } = place
  mkdirSync(join(folder, 'logs'))
  const file = join(folder, 'nginx.conf')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const parts = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  writeFileSync(
    file,
    `daemon off; pid ${folder}/pid; error_log stderr crit; ${user} events {}
      http { access_log off; ${parts.join(' ')} ${sections(place)} }`,
  )
  return runServer(t, 'nginx', ['-e', 'stderr', '-p', folder, '-c', file], place.port)
}

/** nginx that forwards requests to a URL over connections that it keeps, with these lines of its own. */
export function startNginx(
  t: Test,
  url: string,
  more = 'proxy_set_header Connection "";',
  client = '$remote_addr',
): Promise<string> {
  return startNginxWith(
    t,
    ({ port }) => `upstream gate { server ${new URL(url).host}; keepalive 4; }
      server { listen 127.0.0.1:${port}; location / {
        proxy_pass http://gate; proxy_http_version 1.1; ${more}
        proxy_set_header X-Forwarded-For ${client}; } }`,
  )
}

/** Starts Caddy with these sites, without its API and certificates. */
export async function startCaddy(t: Test, sites: (port: number) => string): Promise<string> {
  const port = await freePort()
  const file = join(certificateFolder(t), 'Caddyfile')
  writeFileSync(file, `{\n\tadmin off\n\tauto_https off\n}\n${sites(port)}\n`)
  return runServer(t, 'caddy', ['run', '--config', file, '--adapter', 'caddyfile'], port)
}
