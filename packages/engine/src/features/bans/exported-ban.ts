import { type Ban, banRule, isLed } from '@sallyport/core'
import type { Settings } from '#settings'

/**
 * The address or the IPv6 network of a ban, canonical, as others may refuse it too; `undefined` for a ban that they would get wrong:
 * a user's, that of one browser among many at an address, one that asks instead of refusing, and every ban where nothing is
 * enforced.
 */
export function exportedBan(ban: Ban, { mode, policy }: Pick<Settings, 'mode' | 'policy'>): string | undefined {
  const asks = banRule(ban) === 'strikes' && policy.strikes?.then === 'challenge'
  // The key of a client is canonical, and 100,000 of them are looked at again and again.
  return mode !== 'enforce' || isLed(ban) || asks ? undefined : CLIENT.exec(ban.key)?.[1]
}

/** The key of a whole address, or of a network of IPv6; one of a single address has no length. */
const CLIENT = /^client (\d[\d.]*|[\da-f:]+:[\da-f:]*(?:\/(?!128$)\d+)?)(?:\/128)?$/

/** Addresses and networks that others may refuse, each once, of the bans of a list. */
export function exportedBans(bans: readonly Ban[], config: Pick<Settings, 'mode' | 'policy'>): ReadonlySet<string> {
  return new Set(bans.flatMap((ban) => exportedBan(ban, config) ?? []))
}
