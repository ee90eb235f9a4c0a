import { type ClientTrust, isTrustedPeer } from '../address/client.ts'
import { listValues } from '../address/forwarding.ts'
import type { InspectionRequest } from '../values/request.ts'
import { isJa4 } from './ja4.ts'

/** A JA4 that a trusted proxy names, and the header that names it, in lower case. */
export interface NamedJa4 {
  readonly ja4: string
  readonly header: string
}

/**
 * Returns the JA4 that a trusted proxy measured where it ended the client's TLS. Returns `undefined` from any other peer, for a value that
 * is no JA4, and for a header that occurs twice: the client may have sent one of the two, and nothing says which.
 */
export function namedJa4({ peer, fields }: InspectionRequest, trust: ClientTrust): NamedJa4 | undefined {
  const { ja4Header: header } = trust
  if (header === undefined || !isTrustedPeer(peer, trust)) return undefined
  const [ja4, ...others] = listValues(fields, header)
  return ja4 !== undefined && others.length === 0 && isJa4(ja4) ? { ja4, header } : undefined
}
