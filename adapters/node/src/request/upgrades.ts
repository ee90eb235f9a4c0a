import { nominated } from './head-fault.ts'
import type { HeadFields } from './head-fields.ts'
import { hearHeads, type ParsedConnection, type ParsedRequest, STOPPED } from './parsed-heads.ts'
import { readBehind } from './read-behind.ts'

/** Has the fields by which a client requests another protocol. */
type AskingFields = Partial<Pick<HeadFields, 'upgrade' | 'connection'>>

/** Reports whether a request asks for a WebSocket and for nothing else. HTTP/1.0 has no upgrades (RFC 9110 7.8). */
export function asksForWebSocket(httpVersion: string, { upgrade, connection = '' }: AskingFields): boolean {
  if (upgrade?.trim().toLowerCase() !== 'websocket' || httpVersion === '1.0') return false
  return nominated(connection).includes('upgrade')
}

/**
 * Makes Node treat a request for another protocol as an ordinary request. Otherwise Node passes the socket to `upgrade` listeners, with a
 * body that no code reads. Requests pipelined after such a request are read too; their upgrades are all ignored, because Node no longer has
 * the bytes that it would hand over.
 */
export function ignoreOtherUpgrades(connection: ParsedConnection): void {
  let ignored: ParsedRequest | undefined
  const isBehind = readBehind(connection, () => ignored?.complete === true)
  hearHeads(connection, (request, go) => {
    const ignores = request.upgrade === true && (isBehind() || asksForAnother(request))
    if (ignores) request.upgrade = false
    const parsing = go()
    ignored = ignores && parsing !== STOPPED ? request : undefined
    return parsing
  })
}

function asksForAnother({ method, httpVersion, headers }: ParsedRequest): boolean {
  return method !== 'CONNECT' && !asksForWebSocket(httpVersion, headers)
}
