import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer } from 'node:http2'
import type { Writable } from 'node:stream'
import { type Dispatcher, Pool } from 'undici'

/* A hop that decides and records nothing, `node bare-proxy.js UPSTREAM PORT [CERTIFICATE KEY]`: undici's dispatch, over TLS between HTTP/2 streams. */
const [upstream = '', port, cert, key] = process.argv.slice(2)
const pool = new Pool(upstream, { connections: 64 })
const LOCAL = new Set(['connection', 'keep-alive', 'transfer-encoding'])

type Fields = Readonly<Record<string, string | string[] | undefined>>

type SendHead = (status: number, fields: Fields) => unknown

function passOn(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(':') && !LOCAL.has(name)))
}

function forward(path: string, method: string, fields: Fields, out: Writable, sendHead: SendHead): void {
  pool.dispatch(
    { path, method: method as Dispatcher.HttpMethod, headers: passOn(fields) },
    {
      onRequestStart() {},
      onResponseStart: (_controller, status, headers) => void sendHead(status, passOn(headers)),
      onResponseData: (_controller, bytes) => void out.write(bytes),
      onResponseEnd: () => void out.end(),
      onResponseError: () => void out.destroy(),
    },
  )
}

const server =
  cert === undefined || key === undefined
    ? createServer(({ url = '', method = '', headers }, response) =>
        forward(url, method, headers, response, (status, fields) => response.writeHead(status, fields)),
      )
    : createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }).on('stream', (stream, headers) => {
        const { ':path': path = '', ':method': method = '' } = headers
        forward(path, method, headers, stream, (status, fields) => stream.respond({ ':status': status, ...fields }))
      })
server.listen(Number(port), '127.0.0.1')
