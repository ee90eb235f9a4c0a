import { type Ban, counted, type Inspection } from '@sallyport/core'
import type { ServiceEvent } from '#service'

/** A ban that was made by a rule; `client` is the address as the log writes it. */
export function banEvent(ban: Ban, rule: string, { network }: Inspection, client: string | undefined): ServiceEvent {
  const networkClass = network.verdict.classification
  const kind = ban.key.startsWith('user ') ? 'A user' : 'A client'
  const who = `${kind} in a network of class ${networkClass}${client === undefined ? '' : ` (${client})`}`
  const until = new Date(ban.until).toISOString()
  const text = `${who} is banned until ${until} by ${rule}: ${counted(ban.count, 'strike')}, the last ${ban.on}.`
  const details = { rule, reason: ban.on, strikes: ban.count, networkClass, until, ban: ban.id }
  return { kind: 'ban', about: rule, text, details: client === undefined ? details : { ...details, client } }
}
