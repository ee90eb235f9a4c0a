import { type Decision, formatAddress, parseAddress } from '@sallyport/core'
import { foldedName, isReserved } from '@sallyport/node/internal'
import { CLIENT_FIELDS, isFrontName } from './client-fields.ts'
import {
  createFieldTable,
  type FieldTable,
  HOP_FIELDS,
  madeHopByHop,
  PLAIN_CONNECTIONS,
  withoutNamed,
} from './field-table.ts'
import { VIA } from './via.ts'

/** Fields that end here beside those of the hop: we answer or write them ourselves. */
const ENDING = ['http2-settings', 'expect', 'proxy']

/** What is done with a field of a request; `front` passes from a trusted proxy that names the client. */
type Action = 'keep' | 'drop' | 'front' | 'cookie' | 'host' | 'authority' | 'connection' | 'length'

/** The fields of requests; `clientHeader`: the header in which trusted proxies name the client. */
export function createRequestTable(clientHeader: string): FieldTable<Action> {
  const dropped = [...HOP_FIELDS, ...ENDING, ...CLIENT_FIELDS, foldedName(clientHeader)]
  const known = new Map<string, Action>(dropped.map((name) => [name, 'drop']))
  known.set('connection', 'connection').set('content-length', 'length').set('host', 'host').set('cookie', 'cookie')
  const table = createFieldTable<Action>(
    known,
    () => 'drop',
    (folded, isExact) => {
      if (isFrontName(folded)) return isExact ? 'front' : 'drop'
      return folded.startsWith('proxy-') || isReserved(folded) ? 'drop' : 'keep'
    },
  )
  return {
    get: table.get,
    // No parser of HTTP/1 takes a name that begins with a colon.
    find: (lower) => (lower.startsWith(':') ? (lower === ':authority' ? 'authority' : 'drop') : table.find(lower)),
  }
}

/** The session of the console, which a browser sends to every port of its host. */
const CONSOLE_COOKIE = 'sallyport-console='

/** Fields for the origin beside the client's own. */
export interface Forwarding {
  readonly decision: Decision
  /** The fields of the verdict. */
  readonly verdict: readonly string[]
  /** The scheme by which the client came. */
  readonly scheme: 'http' | 'https' | 'unknown'
  /** Version of the request as received: `1.1`. */
  readonly httpVersion: string
  readonly table: FieldTable<Action>
}

/**
 * The fields of a request as the origin gets them, name, value, name, value …: the client's own, in order and case,
 * without those of the hop and without any claim about who the client is; then ours, the verdict last.
 *
 * `X-Forwarded-For` is the resolved client, followed by the peer where that is a trusted proxy; the rest of a received
 * chain is dropped, so that its first element is the client however the origin reads it. Every other `X-Forwarded-*` passes
 * from a trusted proxy that names the client, and from nobody else. `X-Forwarded-Proto` is the
 * scheme that a trusted proxy names, else that of this connection; `X-Forwarded-Host` is the received Host, which is forwarded too.
 * `:authority` of HTTP/2 is the Host, and no other pseudo field is sent (RFC 9113 8.3.1).
 * `Via` is added to the client's own, so that a circle is found (`isLoop`). A session of the console stays here.
 */
export function requestFields(fields: readonly string[], forwarding: Forwarding): string[] {
  const { table, decision, httpVersion } = forwarding
  const all: string[] = []
  let named: readonly string[] = []
  let length: string | undefined
  let host: string | undefined
  /** HTTP/2 splits them, and HTTP/1 has them in one field (RFC 9113 8.2.3). */
  let cookies: string | undefined
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    const value = fields[i + 1] as string
    const lower = name.toLowerCase()
    switch (table.get(lower) ?? table.find(lower)) {
      case 'keep':
        all.push(name, value)
        break
      case 'front':
        if (decision.inspection.client.via === 'header') all.push(name, value)
        break
      case 'authority':
        host = value
        all.push('Host', value)
        break
      case 'host':
        // The same site as the one that `:authority` names, or the request was refused.
        if (host !== undefined) break
        host = value
        all.push(name, value)
        break
      case 'cookie': {
        const cookie = value.includes(CONSOLE_COOKIE) ? withoutConsole(value) : value
        if (cookie === undefined) break
        if (httpVersion === '2.0') cookies = cookies === undefined ? cookie : `${cookies}; ${cookie}`
        else all.push(name, cookie)
        break
      }
      case 'connection':
        if (!PLAIN_CONNECTIONS.has(value.toLowerCase())) named = named.concat(madeHopByHop(value))
        break
      case 'length':
        length = value
    }
  }

  const kept = named.length === 0 ? all : withoutNamed(all, named)
  if (cookies !== undefined) kept.push('Cookie', cookies)
  if (length !== undefined) kept.push('Content-Length', String(Number(length)))
  addForwarding(kept, forwarding, host)
  kept.push(...forwarding.verdict)
  return kept
}

/** Cookies without the console's, byte for byte where it is not among them; `undefined` where it is the only one. */
function withoutConsole(cookies: string): string | undefined {
  const kept = cookies.split(';').filter((pair) => !pair.trimStart().startsWith(CONSOLE_COOKIE))
  return kept.length === 0 ? undefined : kept.join(';').trimStart()
}

function addForwarding(kept: string[], { decision, scheme, httpVersion }: Forwarding, host: string | undefined): void {
  const { client, peer } = decision.inspection
  if (client.via === 'header') kept.push('X-Forwarded-For', `${client.address}, ${canonical(peer)}`)
  if (client.via === 'peer') kept.push('X-Forwarded-For', client.address)
  if (scheme !== 'unknown') kept.push('X-Forwarded-Proto', scheme)
  if (host !== undefined) kept.push('X-Forwarded-Host', host)
  kept.push('Via', VIA[httpVersion] ?? VIA['1.1'])
}

/** The peer as addresses are written; one of IPv4 is already. */
function canonical(peer: string): string {
  if (peer !== '' && !peer.includes(':')) return peer
  const address = parseAddress(peer)
  return address === undefined ? 'unknown' : formatAddress(address)
}
