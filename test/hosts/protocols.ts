import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as http2 from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { Server } from 'node:net'
import type { Test } from 'tap'
import { certificate } from '../certificate.ts'
import { makeFolder } from '../started.ts'

export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** A protocol that a host is asked over. */
export interface Protocol {
  readonly name: string
  readonly http2?: true | undefined
  /** Absent: in the clear. */
  readonly certificate?: CertificateFiles | undefined
}

export const HTTP1: Protocol = { name: 'HTTP/1.1' }
export const CLEAR_HTTP2: Protocol = { name: 'HTTP/2 in the clear', http2: true }

/** Certificates are made by the openssl of the machine. */
export const NO_OPENSSL = spawnSync('openssl', ['version']).status !== 0 && 'no openssl on this machine'

/** A certificate for the length of a test, and what is asked over it. */
export function protocolsOverTls(t: Test): readonly Protocol[] {
  const files = certificate(makeFolder(t))
  return [
    { name: 'HTTP/1.1 over TLS', certificate: files },
    { name: 'HTTP/2', http2: true, certificate: files },
  ]
}

/** A server of Node's own; over HTTP/2 a listener gets the compatibility API. */
export function createTestServer(
  { http2: second, certificate }: Protocol,
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
): Server {
  // Node's compatibility API of HTTP/2 has what is used here; its types do not say so.
  const either = listener as unknown as (req: http2.Http2ServerRequest, res: http2.Http2ServerResponse) => void
  if (certificate === undefined) return second ? (http2.createServer(either) as Server) : createServer(listener)
  const files = tlsFiles(certificate)
  return second ? http2.createSecureServer(files, either) : createTlsServer(files, listener)
}

/** Reads the texts of a certificate and its key. */
export function tlsFiles({ cert, key }: CertificateFiles): { readonly cert: string; readonly key: string } {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
}
