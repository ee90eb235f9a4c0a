import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { certificateFolder } from './certificate.ts'
import { freePort, missing, runServer } from './programs.ts'

/* Real servers that speak the PROXY protocol to the proxy, each of them private to a test. */

export const NO_HAPROXY = missing('haproxy')

const NGINX_STREAM = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules', '/usr/share/nginx/modules']
  .map((folder) => join(folder, 'ngx_stream_module.so'))
  .find((file) => existsSync(file))
export const NO_NGINX_STREAM = missing('nginx') || (NGINX_STREAM === undefined && 'nginx has no stream module here')

/** The port on which a server listens and the folder that it may use, from which its configuration is made. */
interface Place {
  readonly port: number
  readonly folder: string
}

/** HAProxy with these sections after `defaults` of TCP. */
export async function startHaproxy(t: Test, sections: (place: Place) => string): Promise<string> {
  const place = { port: await freePort(), folder: certificateFolder(t) }
  const file = join(place.folder, 'haproxy.cfg')
  const times = 'timeout connect 5s\n timeout client 1m\n timeout server 1m\n timeout check 5s'
  writeFileSync(file, `global\n maxconn 1000\ndefaults\n mode tcp\n ${times}\n${sections(place)}\n`)
  return runServer(t, 'haproxy', ['-db', '-f', file], place.port)
}

/** nginx with these servers of its stream module. */
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
