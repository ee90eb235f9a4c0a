import { type Address, formatAddress, parseTrust, TRUST_PRESETS } from '@sallyport/core'

/** The requests of a log that have the address of a proxy, and one such address. */
export interface Proxied {
  readonly requests: number
  readonly address: string
}

/** Counts requests from addresses that proxies have: of private networks, and of delivery networks as they publish them. */
export interface ProxiedCounter {
  add(address: Address): void
  /** Absent where so few have one that visitors themselves may. */
  result(requests: number): Proxied | undefined
}

/** The share of a log from which on its addresses are taken for a proxy's. */
const SHARE = 0.5

export function createProxied(): ProxiedCounter {
  const { proxies } = parseTrust(TRUST_PRESETS)
  let found = 0
  let first: Address | undefined
  return {
    add(address) {
      if (!proxies.has(address)) return
      found++
      first ??= address
    },
    result: (requests) =>
      first === undefined || found < requests * SHARE ? undefined : { requests: found, address: formatAddress(first) },
  }
}

export function proxiedNote({ requests, address }: Proxied, all: number): string {
  const [some, of] = [requests, all].map((count) => count.toLocaleString('en-US'))
  return (
    `${some} of ${of} requests come from a proxy or a private network (${address}). If the log has a column of X-Forwarded-For, name the ` +
    "proxy in trustProxy. Otherwise log the client's address, with real_ip_header in nginx, RemoteIPHeader in Apache, trusted_proxies in Caddy."
  )
}
