import { type Address, formatAddress, parseTrust, TRUST_PRESETS } from '@sallyport/core'

/** Above this share the addresses of a log count as a proxy's. */
const SHARE = 0.5

/** Counts requests from addresses of proxies: in private networks, and in delivery networks as they publish them. */
export function createProxied() {
  const { proxies } = parseTrust(TRUST_PRESETS)
  let found = 0
  let first: Address | undefined
  return {
    add(address: Address): void {
      if (!proxies.has(address)) return
      found++
      first ??= address
    },
    /** Names one such address; returns `undefined` where so few of `requests` came from proxies that these may be visitors. */
    result: (requests: number) =>
      first === undefined || found < requests * SHARE ? undefined : { requests: found, address: formatAddress(first) },
  }
}

type Proxied = NonNullable<ReturnType<ReturnType<typeof createProxied>['result']>>

export function proxiedNote({ requests, address }: Proxied, all: number): string {
  const [some, of] = [requests, all].map((count) => count.toLocaleString('en-US'))
  return (
    `${some} of ${of} requests come from a proxy or a private network (${address}). If the log has an X-Forwarded-For column, add the ` +
    "proxy to trustProxy. Otherwise, log the client's address: real_ip_header in nginx, RemoteIPHeader in Apache, trusted_proxies in Caddy."
  )
}
