import {
  type Address,
  createPrefixSet,
  type Dns,
  formatAddress,
  parseAddress,
  parsePrefix,
  reservedRow,
  SallyportError,
} from '@sallyport/core'

/** Permits targets of outbound connections. */
export interface GuardOptions {
  readonly dns: Dns
  /** CIDRs that may be dialled although they are not public (`net.allowPrivate`). */
  readonly allowPrivate?: readonly string[] | undefined
}

/** A host whose every address may be dialled. */
export interface CheckedHost {
  readonly host: string
  readonly addresses: readonly Address[]
  /** True if every address is in `net.allowPrivate`. */
  readonly allowed: boolean
}

/** Our DNS does not know the addresses of a name. */
export class UnresolvedName extends Error {}

/**
 * Returns the addresses of a host (a name, or an address without brackets) that may be dialled; rejects with an Error whose message is the
 * reason.
 */
export type Guard = (host: string) => Promise<CheckedHost>

/**
 * Decides, in this one place, where the process may connect. A host is an address, or a name that our own DNS resolves; one address that is
 * neither public nor allowed refuses the whole host, so that a name cannot add a private address to a public one. Throws `invalid_config`
 * if `allowPrivate` holds anything but a CIDR.
 */
export function createGuard({ dns, allowPrivate = [] }: GuardOptions): Guard {
  const permitted = createPrefixSet(
    allowPrivate.map((text) => {
      const prefix = parsePrefix(text)
      if (prefix !== undefined) return prefix
      throw new SallyportError('invalid_config', `configuration: net.allowPrivate: "${text}" is not a CIDR`)
    }),
  )
  return async (host) => {
    const literal = parseAddress(host)
    const addresses = literal === undefined ? await resolve(host, dns) : [literal]
    const inside = addresses.find((address) => reservedRow(address) !== undefined && !permitted.has(address))
    if (inside !== undefined) {
      const address = formatAddress(inside)
      const named = literal === undefined ? `${host} resolves to ${address}, which` : address
      throw new Error(`${named} is not a public address`)
    }
    return { host, addresses, allowed: addresses.every((address) => permitted.has(address)) }
  }
}

async function resolve(name: string, dns: Dns): Promise<readonly Address[]> {
  const answer = await dns.resolve(name)
  if (answer.state === 'found' && answer.addresses.length > 0) return answer.addresses
  throw new UnresolvedName(`${name}: ${answer.state === 'failed' ? answer.reason : 'the name does not exist'}`)
}
