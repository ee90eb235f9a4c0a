import { type Decision, formatAddress, isNamed, parseAddress } from '@sallyport/core'
import { addVerdict, foldedName, isReserved } from '@sallyport/node/internal'
import { CLIENT_FIELDS, frontName } from './client-fields.ts'
import { HOP_FIELDS, madeHopByHop, withoutNamed } from './hop-fields.ts'
import { createSpellings } from './spellings.ts'
import { viaOf } from './via.ts'

/** Fields that end here beside those of the hop: we answer or write them ourselves. */
const ENDING = ['http2-settings', 'expect', 'content-length', 'proxy']

const readName = createSpellings([...HOP_FIELDS, ...ENDING, ...CLIENT_FIELDS, 'host', 'cookie'])

/** The session of the console, which a browser sends to every port of its host. */
const CONSOLE_COOKIE = 'sallyport-console='

/** Fields for the origin beside the client's own. */
export interface Forwarding {
  readonly decision: Decision
  /** The scheme by which the client came. */
  readonly scheme: 'http' | 'https' | 'unknown'
  /** Version of the request as received: `1.1`. */
  readonly httpVersion: string
  /** The header in which trusted proxies name the client, as `foldedName` writes it. */
  readonly clientHeader: string
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
  const all: string[] = []
  const named: string[] = []
  let length: string | undefined
  let host: string | undefined
  /** HTTP/2 splits them, and HTTP/1 has them in one field (RFC 9113 8.2.3). */
  let cookies: string | undefined
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    const value = fields[i + 1] as string
    const read = readName(name)
    if (read === undefined) {
      if (name.charCodeAt(0) === COLON) {
        if (name !== ':authority') continue
        host = value
        all.push('Host', value)
      } else if (!endsHere(name, forwarding) && !isReserved(name)) all.push(name, value)
    } else if (read === 'cookie') {
      const cookie = withoutConsole(value)
      if (cookie === undefined) continue
      if (forwarding.httpVersion === '2.0') cookies = cookies === undefined ? cookie : `${cookies}; ${cookie}`
      else all.push(name, cookie)
    } else if (read === 'host') {
      // The same site as the one that `:authority` names, or the request was refused.
      if (host !== undefined) continue
      host = value
      all.push(name, value)
    } else if (read === 'connection') named.push(...madeHopByHop(value))
    else if (name.toLowerCase() === 'content-length') length = value
  }

  const kept = withoutNamed(all, named)
  if (cookies !== undefined) kept.push('Cookie', cookies)
  if (length !== undefined) kept.push('Content-Length', String(Number(length)))
  addForwarding(kept, forwarding, host)
  addVerdict(forwarding.decision, kept)
  return kept
}

const COLON = 58

/** Cookies without the console's, byte for byte where it is not among them; `undefined` where it is the only one. */
function withoutConsole(cookies: string): string | undefined {
  if (!cookies.includes(CONSOLE_COOKIE)) return cookies
  const kept = cookies.split(';').filter((pair) => !pair.trimStart().startsWith(CONSOLE_COOKIE))
  return kept.length === 0 ? undefined : kept.join(';').trimStart()
}

/** Whether a field whose name is none of those above ends here too. */
function endsHere(name: string, { clientHeader, decision }: Forwarding): boolean {
  if (name.length === clientHeader.length && foldedName(name) === clientHeader) return true
  const front = frontName(name)
  if (front !== undefined) return decision.inspection.client.via !== 'header' || !isNamed(name, front)
  return (name.charCodeAt(0) | 0x20) === 0x70 && foldedName(name).startsWith('proxy-')
}

function addForwarding(kept: string[], { decision, scheme, httpVersion }: Forwarding, host: string | undefined): void {
  const { client, peer } = decision.inspection
  if (client.via === 'header') kept.push('X-Forwarded-For', `${client.address}, ${canonical(peer)}`)
  if (client.via === 'peer') kept.push('X-Forwarded-For', client.address)
  if (scheme !== 'unknown') kept.push('X-Forwarded-Proto', scheme)
  if (host !== undefined) kept.push('X-Forwarded-Host', host)
  kept.push('Via', viaOf(httpVersion))
}

/** The peer as addresses are written; one of IPv4 is already. */
function canonical(peer: string): string {
  if (peer !== '' && !peer.includes(':')) return peer
  const address = parseAddress(peer)
  return address === undefined ? 'unknown' : formatAddress(address)
}
