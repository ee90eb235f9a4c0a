import { type Ban, type BanList, counted, type Decision, type Inspection } from '@sallyport/core'
import { BAN_LINE } from '#log'
import type { Feature, LogHolder, RaiseEvent, ServiceEvent } from '#service'
import type { Settings } from '#settings'
import { exportedBan, exportedBans } from './exported-ban.ts'

/** Bans for others to carry out. */
export const feature: Feature<Record<never, never>> = { keys: {}, command: 'bans' }

/** Lists the parts of a service that learn of its bans. */
export interface ServiceBanPorts {
  readonly bans: Pick<BanList, 'list'>
  readonly log: Pick<LogHolder, 'audit' | 'writeAddress'>
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
      raise(banEvent(ban, rule, inspected, log.writeAddress(inspected.client.address, ban.since)))
      const target = exportedBan(ban, inspection.config)
      // Readers of the log must not ban a truncated or hashed address.
      if (target === undefined || log.writeAddress(target, ban.since) !== target) return
      const seconds = Math.ceil((ban.until - ban.since) / 1_000)
      log.audit({ what: BAN_LINE, who: 'service', details: { address: target, seconds, rule, reason: ban.on } })
    },
  }
}

/** A ban that was made by a rule; `client` is the address as the log writes it. */
function banEvent(ban: Ban, rule: string, { network }: Inspection, client: string | undefined): ServiceEvent {
  const networkClass = network.verdict.classification
  const kind = ban.key.startsWith('user ') ? 'A user' : 'A client'
  const who = `${kind} in a network of class ${networkClass}${client === undefined ? '' : ` (${client})`}`
  const until = new Date(ban.until).toISOString()
  const text = `${who} is banned until ${until} by ${rule}: ${counted(ban.count, 'strike')}, the last ${ban.on}.`
  const details = { rule, reason: ban.on, strikes: ban.count, networkClass, until, ban: ban.id }
  return { kind: 'ban', about: rule, text, details: client === undefined ? details : { ...details, client } }
}
