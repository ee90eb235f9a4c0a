import type { Socket } from 'node:net'
import { carriesForwarding } from '@sallyport/core/host'
import type { RequestHost } from '@sallyport/node/internal'
import { StreamRequest } from '../edge/stream-request.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Schemes that authenticate a connection and with it all later requests on it (RFC 4559 6, MS-NTHT). */
const SCHEMES = /(?:^|[\s,])(?:ntlm|negotiate|kerberos|nego2)(?=$|[\s,;])/i

/** Reports whether fields (name, value, name, value …) hold such a scheme in the field `name`, which is in lower case. */
export function hasConnectionAuth(fields: readonly string[] | readonly Buffer[], name: string): boolean {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string | Buffer
    if (field.length !== name.length || readText(field).toLowerCase() !== name) continue
    if (SCHEMES.test(readText(fields[at + 1] as string | Buffer))) return true
  }
  return false
}

function readText(value: string | Buffer): string {
  return typeof value === 'string' ? value : value.toString('latin1')
}

/**
 * Returns the connection of a client that uses it alone, over HTTP/1. Requests of one HTTP/2 session come at the same time, and a proxy,
 * named or not, sends requests of several visitors over one connection.
 */
export function ownConnection({ request, head, facts, decision }: Exchange, host: RequestHost): Socket | undefined {
  // A trusted proxy has named the client.
  if (request instanceof StreamRequest || decision?.inspection.client.via === 'header') return undefined
  if (facts.via !== undefined || carriesForwarding(head.fields)) return undefined
  return host.isTrusted?.(head.peer) === true ? undefined : request.socket
}
