import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import type { Test } from 'tap'
import { startOrigin } from '../hosts/proxy.ts'

/** The words of `/packed`, which the origin sends with gzip to clients that accept it. */
export const PACKED = 'packed words, again and again. '.repeat(200)
/** The bytes of `/file`, of which parts may be asked for. */
export const FILE = Buffer.from(Array.from({ length: 100_000 }, (_, at) => 65 + ((at * 7) % 26)))

/** A request as it arrived at the origin. */
export interface Arrived {
  readonly method: string
  readonly target: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface Origin {
  readonly url: string
  readonly arrived: readonly Arrived[]
}

/** Opens an origin for real clients: pages, redirects, packed answers, parts of a file, forms, a repository of git, and files. */
export async function openOrigin(t: Test, files: ReadonlyMap<string, Buffer>, repositories: string): Promise<Origin> {
  const arrived: Arrived[] = []
  const url = await startOrigin(t, (request, response) => {
    void buffer(request).then((body) => {
      const { method = '', url: target = '', headers } = request
      arrived.push({ method, target, headers, body })
      if (target.startsWith('/git/')) gitBackend(repositories, request, body, response)
      else answer(request, body, response, files)
    })
  })
  return { url, arrived }
}

function page(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${text}`
}

const FORM = '<form action="/form" method="post"><input name="word" value="grün"><button>Send</button></form>'

function answer(
  { method, url = '', headers }: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  files: ReadonlyMap<string, Buffer>,
): void {
  const path = url.replace(/\?.*/, '')
  const send = (status: number, fields: Readonly<Record<string, string>>, bytes: string | Buffer): void => {
    response.writeHead(status, { ...fields, 'Content-Length': Buffer.byteLength(bytes) })
    response.end(method === 'HEAD' ? undefined : bytes)
  }
  const html = { 'Content-Type': 'text/html; charset=utf-8' }
  const file = files.get(path)
  if (file !== undefined) send(200, { 'Content-Type': 'application/octet-stream' }, file)
  else if (path === '/page')
    send(200, html, page('A page', `<p>It says: grün, 日本. <a href="/second">On</a></p>${FORM}`))
  else if (path === '/moved') send(302, { Location: '/page' }, '')
  else if (path === '/packed') sendPacked(headers['accept-encoding'] ?? '', send)
  else if (path === '/file') sendPart(headers.range, send)
  else if (path === '/form')
    send(200, html, page('Received', `<p>${method} ${headers['content-type']} ${digest(body)}</p>`))
  else send(200, html, page('Another page', '<p>The second.</p>'))
}

type Send = (status: number, fields: Readonly<Record<string, string>>, bytes: string | Buffer) => void

function sendPacked(accepted: string, send: Send): void {
  const fields = { 'Content-Type': 'text/plain; charset=utf-8', Vary: 'Accept-Encoding' }
  if (/\bgzip\b/.test(accepted)) send(200, { ...fields, 'Content-Encoding': 'gzip' }, gzipSync(PACKED))
  else send(200, fields, PACKED)
}

function sendPart(range: string | undefined, send: Send): void {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range ?? '') ?? []
  const fields = { 'Content-Type': 'text/plain', 'Accept-Ranges': 'bytes' }
  if (from === undefined) {
    send(200, fields, FILE)
    return
  }
  const end = Math.min(to === '' ? FILE.length : Number(to) + 1, FILE.length)
  const part = FILE.subarray(Number(from), end)
  send(206, { ...fields, 'Content-Range': `bytes ${from}-${end - 1}/${FILE.length}` }, part)
}

/** Returns the length of some bytes and the beginning of their SHA-256. */
export function digest(bytes: Buffer | string): string {
  return `${Buffer.byteLength(bytes)} ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`
}

/** Git's own server, as CGI (RFC 3875): everybody may push. */
function gitBackend(root: string, request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const { method = '', url = '', headers } = request
  const [path = '', query = ''] = url.split('?')
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: path.slice('/git'.length),
      QUERY_STRING: query,
      REQUEST_METHOD: method,
      CONTENT_TYPE: headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
      REMOTE_USER: 'test',
    },
  })
  child.stdin.on('error', () => {})
  child.stdin.end(body)
  void buffer(child.stdout).then((out) => {
    const end = out.indexOf('\r\n\r\n')
    const fields = out
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ', 2) as [string, string])
    const status = fields.find(([name]) => name === 'Status')?.[1] ?? '200'
    response.writeHead(Number.parseInt(status, 10), Object.fromEntries(fields.filter(([name]) => name !== 'Status')))
    response.end(out.subarray(end + 4))
  })
}
