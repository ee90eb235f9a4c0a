import type { IncomingMessage } from 'node:http'
import { type Decision, formatAddress, isNamed, parseAddress, type TrustedHeaders } from '@sallyport/core'
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

/** Fields that end here beside the hop-by-hop fields: we answer or write them ourselves. */
const ENDING = ['http2-settings', 'expect', 'proxy']

/** Says what happens to a field: `front` passes from a trusted proxy that names the client, `ja4` if we believed the proxy. */
type Action = 'keep' | 'drop' | 'front' | 'ja4' | 'cookie' | 'host' | 'authority' | 'connection' | 'length'

/**
 * Creates the table for fields of requests. The header in which trusted proxies name the client ends here; the header of the JA4 passes
 * where we believed it.
 */
export function createRequestTable({
  clientHeader = 'x-forwarded-for',
  ja4Header,
}: TrustedHeaders): FieldTable<Action> {
  const dropped = [...HOP_FIELDS, ...ENDING, ...CLIENT_FIELDS, foldedName(clientHeader)]
  const known = new Map<string, Action>(dropped.map((name) => [name, 'drop']))
  known.set('connection', 'connection').set('content-length', 'length').set('host', 'host').set('cookie', 'cookie')
  const ja4 = ja4Header?.toLowerCase()
  if (ja4 !== undefined) known.set(foldedName(ja4), foldedName(ja4) === ja4 ? 'ja4' : 'drop')
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
    find(lower) {
      // No HTTP/1 parser accepts a name that begins with a colon.
      if (lower.startsWith(':')) return lower === ':authority' ? 'authority' : 'drop'
      return lower === ja4 ? 'ja4' : table.find(lower)
    },
  }
}

const PSEUDONYM = 'sallyport'
/** Limits how many Sallyports a request may have passed: one before another is usual, five in a row are not. */
const MAX_PASSED = 4

/** Our value of the `Via` field, by the version of the request (RFC 9110 7.6.3); it names no host and no process. */
export const VIA: Readonly<Record<string, string>> & { readonly '1.1': string } = {
  '1.0': `1.0 ${PSEUDONYM}`,
  '1.1': `1.1 ${PSEUDONYM}`,
  // HTTP/2 has no minor version (RFC 9113 8.8.3).
  '2.0': `2 ${PSEUDONYM}`,
}

/**
 * Reports whether a request with these `Via` fields is in a loop: it has passed more Sallyports than anyone puts in a row. All Sallyports
 * share one name, so that a loop through several workers or machines is found too, after a few rounds.
 */
export function isLoop(via: string | undefined): boolean {
  if (via === undefined) return false
  return via.split(',').filter((element) => element.trim().endsWith(` ${PSEUDONYM}`)).length > MAX_PASSED
}

/** Names the session of the console, which a browser sends to every port of its host. */
const CONSOLE_COOKIE = 'sallyport-console='

/** Adds fields for the origin to the client's own. */
export interface Forwarding {
  readonly decision: Decision
  /** Fields which carry the verdict. */
  readonly verdict: readonly string[]
  /** The scheme by which the client came. */
  readonly scheme: 'http' | 'https' | 'unknown'
  /** The HTTP version of the received request, such as `1.1`. */
  readonly httpVersion: string
  readonly table: FieldTable<Action>
}

/**
 * Returns the fields of a request for the origin, name, value, name, value …: the client's own, in order and case, without hop-by-hop
 * fields and without any claim about the client; then ours, the verdict last.
 *
 * `X-Forwarded-For` is the resolved client, followed by the peer where that is a trusted proxy; the rest of a received chain is dropped, so
 * that its first element is the client however the origin reads it. Every other `X-Forwarded-*` passes only from a trusted proxy that names
 * the client. `X-Forwarded-Proto` is the scheme that a trusted proxy names, else the scheme of this connection; `X-Forwarded-Host` is the
 * received Host, which is forwarded too. `:authority` of HTTP/2 becomes Host, and no other pseudo field is sent (RFC 9113 8.3.1). Our `Via`
 * follows the client's own, so that `isLoop` finds a loop. A session of the console stays here.
 */
export function requestFields(fields: readonly string[], forwarding: Forwarding): string[] {
  const { table, decision, httpVersion } = forwarding
  const all: string[] = []
  let named: readonly string[] = []
  let length: string | undefined
  let host: string | undefined
  /** HTTP/2 splits cookies, and HTTP/1 has them in one field (RFC 9113 8.2.3). */
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
      case 'ja4':
        if (decision.inspection.ja4Header !== undefined) all.push(name, value)
        break
      case 'authority':
        host = value
        all.push('Host', value)
        break
      case 'host':
        // Host names the same site as `:authority`, or the request was refused.
        if (host !== undefined) break
        host = value
        all.push(name, value)
        break
      case 'cookie': {
        const cookie = value.includes(CONSOLE_COOKIE) ? dropConsole(value) : value
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

/** Removes the console's cookie, and leaves a list without it byte for byte; `undefined` where no cookie is left. */
function dropConsole(cookies: string): string | undefined {
  const kept = cookies.split(';').filter((pair) => !pair.trimStart().startsWith(CONSOLE_COOKIE))
  return kept.length === 0 ? undefined : kept.join(';').trimStart()
}

function addForwarding(kept: string[], { decision, scheme, httpVersion }: Forwarding, host: string | undefined): void {
  const { client, peer } = decision.inspection
  if (client.via === 'header') kept.push('X-Forwarded-For', `${client.address}, ${formatPeer(peer)}`)
  if (client.via === 'peer') kept.push('X-Forwarded-For', client.address)
  if (scheme !== 'unknown') kept.push('X-Forwarded-Proto', scheme)
  if (host !== undefined) kept.push('X-Forwarded-Host', host)
  kept.push('Via', VIA[httpVersion] ?? VIA['1.1'])
}

/** Writes the peer in canonical form; an IPv4 address has it already. */
function formatPeer(peer: string): string {
  if (peer !== '' && !peer.includes(':')) return peer
  const address = parseAddress(peer)
  return address === undefined ? 'unknown' : formatAddress(address)
}

const MAX_FORWARDS = 'max-forwards'

/** Returns how often an OPTIONS may still be forwarded (RFC 9110 7.6.2); `undefined` where the request gives no number. */
export function forwardsLeft({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): number | undefined {
  const value = method === 'OPTIONS' ? headers[MAX_FORWARDS] : undefined
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

/** Writes into fields (name, value, name, value …) how many forwards are left. */
export function withForwards(fields: readonly string[], left: number): string[] {
  return fields.map((text, at) =>
    at % 2 === 1 && isNamed(fields[at - 1] as string, MAX_FORWARDS) ? String(left) : text,
  )
}
