import type { BanList, StrikesOptions } from '@sallyport/core'
import { BAN_LINE } from '#log'
import type { LogHolder, RaiseEvent } from '#service'
import type { Settings } from '#settings'
import { banEvent } from './ban-event.ts'
import { exportedBan, exportedBans } from './exported-ban.ts'

/** Parts of a service that learn of its bans. */
export interface ServiceBanPorts {
  readonly bans: Pick<BanList, 'list'>
  readonly log: Pick<LogHolder, 'audit' | 'addressOf'>
  readonly raise: RaiseEvent
  /** The configuration in force. */
  readonly inspection: { readonly config: Pick<Settings, 'mode' | 'policy' | 'trustProxy' | 'limits'> }
}

/** The bans of a service, as others learn of them. */
export interface ServiceBans {
  /** Addresses and networks, one each. */
  list(): Promise<readonly string[]>
  readonly onBanned: NonNullable<StrikesOptions['onBanned']>
}

export function createServiceBans({ bans, log, raise, inspection }: ServiceBanPorts): ServiceBans {
  return {
    list: async () => [...exportedBans(await bans.list(), inspection.config)],
    onBanned(ban, rule, inspected) {
      raise(banEvent(ban, rule, inspected, log.addressOf(inspected.client.address, ban.since)))
      const target = exportedBan(ban, inspection.config)
      // A part or a hash of an address is not to be banned by who reads the log.
      if (target === undefined || log.addressOf(target, ban.since) !== target) return
      const seconds = Math.ceil((ban.until - ban.since) / 1_000)
      log.audit({ what: BAN_LINE, who: 'service', details: { address: target, seconds, rule, reason: ban.on } })
    },
  }
}
