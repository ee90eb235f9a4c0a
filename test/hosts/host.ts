import type { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { guardUpgrade, type InspectionOptions } from '@sallyport/node'
import type { ProxyHost } from '@sallyport/proxy'
import { createTestServer, type Protocol } from './protocols.ts'
import { agree, echo } from './site.ts'

/** Starts a server with inspection, the API under `base` and an upgrade guard, in front of the same site everywhere. */
export interface Host {
  readonly name: string
  /** A body parser of the host's own stands before the API: bodies that it refuses never reach us. */
  readonly parsesBodies?: boolean | undefined
  /** The host has no parser for forms, and refuses what it cannot parse. */
  readonly parsesNoForms?: boolean | undefined
  /** The API answers before the inspection; elsewhere the middleware has its own order. */
  readonly answersApiFirst?: boolean | undefined
  /** It has web requests alone: fields of one name are one, and what ends a connection is not for it to say. */
  readonly hidesWire?: boolean | undefined
  /** The runtime itself reads targets as URLs before any handler sees them. */
  readonly normalisesTargets?: boolean | undefined
  /** Methods that it does not know, and answers itself. */
  readonly unknownMethods?: readonly string[] | undefined
  /** The server in front reads a body to its end before Sallyport decides about the request. */
  readonly readsBodiesFirst?: boolean | undefined
  /** It has no connections of its own, and so no upgrades. */
  readonly hasNoUpgrades?: boolean | undefined
  /** It has no `inspection`: what decides is its configuration. */
  readonly hasNoOptions?: boolean | undefined
  /** Protocols that it speaks beside HTTP/1.1 in the clear. */
  readonly speaks: readonly Speech[]
  start(sallyport: ProxyHost, base: string, options?: AnyOptions, over?: Protocol): Promise<RunningHost>
}

/** TLS is HTTP/1.1 over it; h2 and h2c are HTTP/2 over TLS and in the clear. */
export type Speech = 'tls' | 'h2' | 'h2c'

/** Reports whether a host can be asked over this protocol. */
export function speaks(host: Host, { http2, certificate }: Protocol): boolean {
  if (!http2) return certificate === undefined || host.speaks.includes('tls')
  return host.speaks.includes(certificate === undefined ? 'h2c' : 'h2')
}

/** Every host accepts these options: their hooks do without its request. */
export type AnyOptions = InspectionOptions<unknown>

export interface RunningHost {
  readonly port: number
  close(): Promise<void>
}

export async function running(server: Server): Promise<RunningHost> {
  server.on('upgrade', agree)
  // An idle connection stays open: where the process stands still for seconds, a client would send into one that is just being closed.
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 0
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      // Servers of HTTP/2 have no such method; every client of theirs is gone.
      ;(server as Partial<ReturnType<typeof createServer>>).closeAllConnections?.()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts a server whose upgrades are guarded. */
export function serve(
  over: Protocol,
  listener: (req: IncomingMessage, res: ServerResponse) => unknown,
  sallyport: ProxyHost,
  options: AnyOptions,
): Promise<RunningHost> {
  const server = createTestServer(over, listener)
  guardUpgrade(server, sallyport, options)
  return running(server)
}

/** Answers with what the site sees of a request of Node. */
export async function answerEcho(req: IncomingMessage, res: ServerResponse): Promise<void> {
  // A client may leave in the middle of its body.
  const seen = JSON.stringify(await echo(req, req.url).catch(() => null))
  res.setHeader('content-type', 'application/json; charset=utf-8')
  // Over HTTP/2 Node adds no length of its own.
  res.setHeader('content-length', Buffer.byteLength(seen))
  res.end(seen)
}
