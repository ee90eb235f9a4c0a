import { type Ban, banRule, isLed } from '@sallyport/core'
import type { Config } from '../config/schema.ts'

/** A ban of a whole address or network, which others can carry out too. */
export interface ExportedBan {
  readonly ban: Ban
  /** The id of the rule that it shows as. */
  readonly rule: string
  /** An address, or a network of IPv6; canonical. */
  readonly target: string
}

/**
 * A ban as others may carry it out; `undefined` for one that they would get wrong: a user's, that of one browser among many
 * at an address, one that asks instead of refusing, and every ban where nothing is enforced (D573).
 */
export function exportedBan(ban: Ban, { mode, policy }: Pick<Config, 'mode' | 'policy'>): ExportedBan | undefined {
  const rule = banRule(ban)
  if (mode !== 'enforce' || isLed(ban) || (rule === 'strikes' && policy.strikes?.then === 'challenge')) return undefined
  // The key of a client is canonical, and 100,000 of them are looked at again and again.
  const [, target] = CLIENT.exec(ban.key) ?? []
  return target === undefined ? undefined : { ban, rule, target }
}

/** The key of a whole address, or of a network of IPv6; one of a single address has no length. */
const CLIENT = /^client (\d[\d.]*|[\da-f:]+:[\da-f:]*(?:\/(?!128$)\d+)?)(?:\/128)?$/

/** Bans that others may carry out, by what is banned, of those of a list: the soonest to end first. Of several the last counts. */
export function exportedBans(
  bans: readonly Ban[],
  config: Pick<Config, 'mode' | 'policy'>,
): ReadonlyMap<string, ExportedBan> {
  const found = new Map<string, ExportedBan>()
  for (const ban of bans) {
    const exported = exportedBan(ban, config)
    if (exported !== undefined) found.set(exported.target, exported)
  }
  return found
}
