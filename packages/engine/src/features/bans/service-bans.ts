import type { Ban, BanList, Decision } from '@sallyport/core'
import { BAN_LINE } from '#log'
import type { LogHolder, RaiseEvent } from '#service'
import type { Settings } from '#settings'
import { banEvent } from './ban-event.ts'
import { exportedBan, exportedBans } from './exported-ban.ts'

/** Lists the parts of a service that learn of its bans. */
export interface ServiceBanPorts {
  readonly bans: Pick<BanList, 'list'>
  readonly log: Pick<LogHolder, 'audit' | 'addressOf'>
  readonly raise: RaiseEvent
  /** Holds the configuration in force. */
  readonly inspection: { readonly config: Pick<Settings, 'mode' | 'policy' | 'trustProxy' | 'limits'> }
}

/** Publishes the bans of a service to other systems. */
export function createServiceBans({ bans, log, raise, inspection }: ServiceBanPorts) {
  return {
    /** Lists addresses and networks, each on its own. */
    list: async (): Promise<readonly string[]> => [...exportedBans(await bans.list(), inspection.config)],
    onBanned(ban: Ban, rule: string, inspected: Decision['inspection']): void {
      raise(banEvent(ban, rule, inspected, log.addressOf(inspected.client.address, ban.since)))
      const target = exportedBan(ban, inspection.config)
      // Readers of the log must not ban a truncated or hashed address.
      if (target === undefined || log.addressOf(target, ban.since) !== target) return
      const seconds = Math.ceil((ban.until - ban.since) / 1_000)
      log.audit({ what: BAN_LINE, who: 'service', details: { address: target, seconds, rule, reason: ban.on } })
    },
  }
}
