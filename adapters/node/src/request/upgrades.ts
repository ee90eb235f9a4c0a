import { hearHeads, type ParsedConnection, type ParsedRequest, STOPPED } from './parsed-heads.ts'
import { readBehind } from './read-behind.ts'

/** Fields by which a client asks for another protocol; the values of one name are a list. */
interface AskingFields {
  readonly upgrade?: string | undefined
  readonly connection?: string | undefined
}

/**
 * Whether a request asks for a WebSocket and for nothing else: the one protocol that connections change to here. Any other
 * wish is ignored, and so is every wish of HTTP/1.0 (RFC 9110 7.8).
 */
export function asksForWebSocket(httpVersion: string, { upgrade, connection = '' }: AskingFields): boolean {
  if (upgrade?.trim().toLowerCase() !== 'websocket' || httpVersion === '1.0') return false
  return connection.split(',').some((name) => name.trim().toLowerCase() === 'upgrade')
}

/**
 * Has Node take requests of a connection that ask for another protocol as what they are without that wish. Else it hands
 * their socket to listeners for `upgrade`, with a body that nobody reads. What is pipelined behind such a request is read too;
 * in it every wish is ignored, because Node has no longer the bytes that it would hand over.
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
