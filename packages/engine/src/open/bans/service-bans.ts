import type { StrikesOptions } from '@sallyport/core'
import { BAN_LINE } from '#log'
import type { Metrics } from '#metrics'
import type { Config } from '../config/schema.ts'
import type { NoticeCode } from '../hooks.ts'
import type { LogHolder } from '../log.ts'
import { banEvent } from '../notify/ban-event.ts'
import type { Notifier } from '../notify/event.ts'
import { type BanExport, type BanExportPorts, openBanExport } from './ban-export.ts'

/** Parts of a service that learn of its bans, or say what became of them. */
export interface ServiceBanPorts extends Pick<BanExportPorts, 'clock' | 'bans' | 'outbound' | 'onFault' | 'leads'> {
  readonly notice: (code: NoticeCode, message: string) => void
  readonly log: Pick<LogHolder, 'audit' | 'addressOf'>
  readonly notifier: Pick<Notifier, 'raise'>
  readonly metrics: Pick<Metrics, 'add'>
  readonly inspection: { readonly config: Config }
  /** Requests were recorded or made up: their bans are nobody's. */
  readonly isTrial: boolean
}

/** The bans of a service, as others learn of them. */
export interface ServiceBans extends Pick<BanExport, 'list' | 'close'> {
  readonly onBanned: NonNullable<StrikesOptions['onBanned']>
}

export function openServiceBans(config: Config, ports: ServiceBanPorts): ServiceBans {
  const { notice, log, notifier, metrics, inspection, isTrial, ...others } = ports
  const exported = openBanExport(isTrial ? { export: { list: false } } : config.bans, {
    ...others,
    config: () => inspection.config,
    notice: (message) => notice('SALLYPORT_BAN_EXPORT', message),
    audit: (what, details) => log.audit({ what, who: 'service', details }),
    count: (to, outcome, by) => metrics.add('banExports', [to, outcome], by),
  })
  return {
    list: exported.list,
    close: exported.close,
    onBanned(ban, rule, inspected) {
      notifier.raise(banEvent(ban, rule, inspected, log.addressOf(inspected.client.address, ban.since)))
      const target = exported.made(ban)?.target
      // A part or a hash of an address is not to be banned by who reads the log.
      if (target === undefined || log.addressOf(target, ban.since) !== target) return
      const seconds = Math.ceil((ban.until - ban.since) / 1_000)
      log.audit({ what: BAN_LINE, who: 'service', details: { address: target, seconds, rule, reason: ban.on } })
    },
  }
}
