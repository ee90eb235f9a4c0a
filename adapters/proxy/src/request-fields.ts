import { type Decision, FORWARDING_HEADERS, formatAddress, parseAddress } from '@sallyport/core'
import { foldedName, withVerdict } from '@sallyport/node'
import { nominated } from './prechecks.ts'

/** Hop-by-hop fields (RFC 9110 7.6.1), and those that we answer or write ourselves. */
const HOP = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings', 'expect'],
  ...['content-length', 'proxy'],
])

/** The fields by which proxies, CDNs and platforms name the client or its request: the origin must get only ours. */
const CLIENT = new Set<string>([
  ...FORWARDING_HEADERS,
  ...['forwarded-for', 'x-forwarded', 'x-forwarded-by', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto'],
  ...['x-forwarded-server', 'client-ip', 'x-remote-ip', 'x-remote-addr', 'x-originating-ip', 'x-proxyuser-ip'],
  ...['cf-pseudo-ipv4', 'x-nf-client-connection-ip', 'x-vercel-forwarded-for'],
  // These name another site or another path than the one that was judged.
  ...['x-host', 'x-original-host', 'x-http-host-override', 'x-original-url', 'x-rewrite-url'],
])

/** What the origin gets beside the client's own fields. */
export interface Forwarding {
  readonly decision: Decision
  /** The scheme of this connection, unless a trusted proxy names another. */
  readonly scheme: 'http' | 'https' | 'unknown'
  /** The header in which trusted proxies name the client, as `foldedName` writes it. */
  readonly clientHeader: string
}

/**
 * The fields of a request as the origin gets them, name, value, name, value …: the client's own, in order and case,
 * without those of the hop and without any claim about who the client is; then ours, the verdict last.
 *
 * `X-Forwarded-For` is the resolved client, followed by the peer where that is a trusted proxy; the rest of a received
 * chain is dropped, so that its first element is the client however the origin reads it. `X-Forwarded-Proto` is a trusted
 * proxy's value, else the scheme of this connection; `X-Forwarded-Host` is the received Host, which is forwarded too.
 */
export function requestFields(fields: readonly string[], forwarding: Forwarding): string[] {
  const named = new Set<string>()
  let length: string | undefined
  let host: string | undefined
  const protocols: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const value = fields[i + 1] as string
    switch ((fields[i] as string).toLowerCase()) {
      case 'connection':
        for (const name of nominated([value])) named.add(name)
        break
      case 'content-length':
        length = value
        break
      case 'host':
        host = value
        break
      case 'x-forwarded-proto':
        protocols.push(value.toLowerCase())
    }
  }

  const kept: string[] = []
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string
    if (!dropped(name, named, forwarding.clientHeader)) kept.push(name, fields[i + 1] as string)
  }
  if (length !== undefined) kept.push('Content-Length', String(Number(length)))
  kept.push(...forwardingFields(forwarding, protocols, host))
  return [...withVerdict(kept, forwarding.decision)]
}

function dropped(name: string, named: ReadonlySet<string>, clientHeader: string): boolean {
  const folded = foldedName(name)
  if (HOP.has(folded) || CLIENT.has(folded) || folded.startsWith('proxy-') || folded === clientHeader) return true
  return named.has(name.toLowerCase())
}

function forwardingFields(forwarding: Forwarding, protocols: readonly string[], host: string | undefined): string[] {
  const { client, peer } = forwarding.decision.inspection
  const written: string[] = []
  if (client.via === 'header') written.push('X-Forwarded-For', `${client.address}, ${canonical(peer)}`)
  if (client.via === 'peer') written.push('X-Forwarded-For', client.address)
  const given = client.via === 'header' && protocols.length === 1 ? protocols[0] : undefined
  const protocol = given === 'http' || given === 'https' ? given : forwarding.scheme
  if (protocol !== 'unknown') written.push('X-Forwarded-Proto', protocol)
  if (host !== undefined) written.push('X-Forwarded-Host', host)
  return written
}

function canonical(peer: string): string {
  const address = parseAddress(peer)
  return address === undefined ? 'unknown' : formatAddress(address)
}
