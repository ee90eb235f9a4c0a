import type { InspectionRequest } from '../values/request.ts'
import { type ClientTrust, isTrustedPeer } from './client.ts'
import { isNamed, readForwardedProto } from './forwarding.ts'

type Scheme = 'http' | 'https'

/** Proxies name the scheme of a WebSocket's URL for its handshake. */
const SCHEMES: ReadonlyMap<string, Scheme> = new Map([
  ['https', 'https'],
  ['wss', 'https'],
  ['http', 'http'],
  ['ws', 'http'],
])

/** Reads a value of `X-Forwarded-Proto`: the first member of a list is the client's. */
export function readScheme(value: string): Scheme | undefined {
  const [first = ''] = value.split(',', 1)
  return SCHEMES.get(first.trim().toLowerCase())
}

/** Returns the scheme that a trusted peer names: in `Forwarded` where that header names clients, else in `X-Forwarded-Proto`. */
export function namedScheme({ peer, fields }: InspectionRequest, trust: ClientTrust): Scheme | undefined {
  if (!isTrustedPeer(peer, trust)) return undefined
  let proto: string | undefined
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const field = fields[at] as string
    const value = fields[at + 1] as string
    if (trust.form === 'forwarded' && isNamed(field, 'forwarded')) {
      const scheme = readScheme(readForwardedProto(value) ?? '')
      if (scheme !== undefined) return scheme
    } else if (isNamed(field, 'x-forwarded-proto')) proto ??= value
  }
  return proto === undefined ? undefined : readScheme(proto)
}
