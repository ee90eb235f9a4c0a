import { type Ban, banRule, clientKey, formatAddress, isLed, parseAddress, parsePrefix } from '@sallyport/core'
import type { Settings } from '#settings'

type ExportSettings = Pick<Settings, 'mode' | 'policy' | 'trustProxy'>

/**
 * The address or the IPv6 network of a ban, canonical, as others may refuse it too; `undefined` for a ban that they would get wrong:
 * a user's, that of one browser among many at an address, one that asks instead of refusing, one of a network that holds one of
 * `proxies`, and every ban where nothing is enforced.
 */
export function exportedBan(ban: Ban, config: ExportSettings, proxies = proxyNetworks(config)): string | undefined {
  const { mode, policy } = config
  const asks = banRule(ban) === 'strikes' && policy.strikes?.then === 'challenge'
  // The key of a client is canonical, and 100,000 of them are looked at again and again.
  const client = mode !== 'enforce' || isLed(ban) || asks ? undefined : CLIENT.exec(ban.key)?.[1]
  return client === undefined || proxies.has(client) ? undefined : client
}

/** The key of a whole address, or of a network of IPv6; one of a single address has no length. */
const CLIENT = /^client (\d[\d.]*|[\da-f:]+:[\da-f:]*(?:\/(?!128$)\d+)?)(?:\/128)?$/

/** Addresses and networks that others may refuse, each once, of the bans of a list. */
export function exportedBans(bans: readonly Ban[], config: ExportSettings): ReadonlySet<string> {
  const proxies = proxyNetworks(config)
  return new Set(bans.flatMap((ban) => exportedBan(ban, config, proxies) ?? []))
}

/** Networks of one client each that hold a trusted proxy: a firewall that shuts one of them shuts the proxy out. */
function proxyNetworks({ trustProxy }: ExportSettings): ReadonlySet<string> {
  const addresses = trustProxy.flatMap((entry) => parseAddress(entry) ?? parsePrefix(entry)?.address ?? [])
  return new Set(addresses.map((address) => clientKey(formatAddress(address)).narrow))
}
