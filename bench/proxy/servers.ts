import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import { type Program, startProgram } from './program.ts'

/* nginx, one process that serves, with a configuration written for the run. */

const NO_END = 1_000_000_000
const MAX_OPEN = 16_384

/** The static origin serves files of 100 B and 100 kB. */
const SIZES = { '100 B': 100, '100 kB': 100_000 } as const
export type Size = keyof typeof SIZES
export const sizePath = (size: Size): string => `/${SIZES[size]}.txt`

export async function startOrigin(folder: string, processor?: number): Promise<Program> {
  const root = join(folder, 'www')
  await mkdir(root, { recursive: true })
  for (const size of Object.values(SIZES)) await writeFile(join(root, `${size}.txt`), 'x'.repeat(size))
  return startNginx(join(folder, 'origin'), processor, `root ${root}; sendfile on; tcp_nopush on;`)
}

/** Starts nginx as a proxy that forwards and does nothing else. */
export function startNginxProxy(folder: string, upstream: string, processor?: number): Promise<Program> {
  return startNginx(join(folder, 'nginx'), processor, FORWARD, upstreamOrigin(upstream))
}

/** Starts the same proxy over TLS, with HTTP/2 for clients that request it. Like our proxy, it resumes no session. */
export function startNginxTls(
  folder: string,
  upstream: string,
  { cert, key }: { readonly cert: string; readonly key: string },
  processor?: number,
): Promise<Program> {
  const tls = `ssl_certificate ${cert}; ssl_certificate_key ${key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache off;`
  return startNginx(join(folder, 'nginx-tls'), processor, `${tls} ${FORWARD}`, upstreamOrigin(upstream), 'ssl http2')
}

const FORWARD = 'location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }'

function upstreamOrigin(upstream: string): string {
  return `upstream origin { server ${new URL(upstream).host}; keepalive 128; keepalive_requests ${NO_END}; }`
}

async function startNginx(
  folder: string,
  processor: number | undefined,
  server: string,
  http = '',
  listening = '',
): Promise<Program> {
  const port = await freePort()
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'nginx.conf')
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(folder, kind)};`,
  )
  await writeFile(
    file,
    [
      // Only the user who runs the bench can read the folder of a run.
      process.getuid?.() === 0 ? 'user root;' : '',
      `daemon off; worker_processes 1; pid ${join(folder, 'pid')}; error_log stderr warn;`,
      `events { worker_connections ${MAX_OPEN}; }`,
      `http { access_log off; keepalive_requests ${NO_END}; ${temporary.join(' ')}`,
      http,
      `server { listen 127.0.0.1:${port} ${listening} backlog=4096; ${server} } }`,
    ].join('\n'),
  )
  return startProgram({ command: 'nginx', args: ['-e', 'stderr', '-c', file], port, processor })
}
