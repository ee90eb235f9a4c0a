import { once } from 'node:events'
import { type RequestOptions, request } from 'node:https'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate } from './certificate.ts'
import { fakeSallyport } from './sallyport.ts'
import { OK, readUntil } from './wire.ts'

/** A proxy with TLS for `site.example` in front of a raw origin; `notices` collects what it says. */
export async function withTls(
  t: Test,
  options: ProxyOptions & { readonly trust?: readonly string[] | undefined } = {},
) {
  const folder = certificateFolder(t)
  const notices: string[] = []
  const refused: string[] = []
  const { trust = [], tls, ...others } = options
  const sallyport = fakeSallyport({ trust, ja4Header: others.ja4Header })
  const before = await proxyBefore(t, OK, {
    sallyport,
    onNotice: (message) => notices.push(message),
    onRefused: (cause) => refused.push(cause),
    tls: { certificates: [makeCertificate(folder, ['site.example'])], ...tls },
    ...others,
  })
  return { ...before, folder, notices, refused, sallyport }
}

/** A connection as a client opens it; whose certificate it is, is looked at by the test. */
export async function secured(url: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', rejectUnauthorized: false, ...options })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

/** The bytes that answer `bytes`. */
export function askedOver(socket: TLSSocket, bytes: string): Promise<string> {
  socket.write(bytes)
  return readUntil(socket)
}

/** Returns the status and the fields of one request. */
export function fetched(url: string, options: RequestOptions = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    const asked = request(url, { rejectUnauthorized: false, agent: false, ...options }, (response) => {
      response.resume().once('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers }))
    })
    asked.once('error', reject).end()
  })
}
