import { styleText } from 'node:util'
import type { AuditLine, LogLine } from '@sallyport/engine'
import { printableValue } from '../terminal/printable.ts'
import { bold, dim } from '../terminal/terminal.ts'
import { isRequest, type LogEntry } from './entry.ts'

/** Writes an entry for people: one line, in the machine's time zone. */
export function entryText(entry: LogEntry): string {
  const line = printableValue(entry)
  // Sweden writes ISO 8601 with a space.
  const time = new Date(line.time).toLocaleString('sv-SE')
  return `[${time}]: ${isRequest(line) ? requestText(line) : auditText(line)}`
}

function auditText({ audit, who, error, details }: AuditLine): string {
  const rest = details === undefined ? '' : dim(` ${JSON.stringify(details)}`)
  return `${bold(audit)} by ${who}${error === undefined ? '' : `, refused: ${error}`}${rest}`
}

function requestText(entry: LogLine): string {
  const { method, host, path, client, requestId } = entry
  const who = [client, whoText(entry)].filter(Boolean).join(' ')
  const parts = [
    actionText(entry),
    `${method} ${host}${path}`,
    statusText(entry),
    who,
    reasonText(entry),
    dim(requestId),
  ]
  return parts.filter(Boolean).join('  ')
}

function actionText({ action, enforced, trial, refusedFor }: LogLine): string {
  if (action === undefined) return refusedFor === undefined ? '-' : styleText('yellow', 'refused')
  const colour = action === 'allow' ? 'dim' : ['flag', 'challenge', 'offer'].includes(action) ? 'yellow' : 'red'
  const not = enforced === false && action !== 'allow' ? ' (not enforced)' : ''
  return `${styleText(colour, action)}${not}${trial === undefined ? '' : ` (${trial} in a dry run)`}`
}

function statusText({ answeredBy, status }: LogLine): string {
  if (answeredBy === 'check') return 'API lookup'
  if (answeredBy === 'event') return 'account event'
  return status === 0 ? 'left' : String(status)
}

/** Writes `tor, AS64502 Made Networks, NL, impostor (Googlebot: spoofed), program 0.99`. */
function whoText(entry: LogLine): string {
  const { networkClass, asn, asName, country, region, crawler, crawlerOutcome, identity, botProbability } = entry
  const system = asn === undefined ? undefined : `AS${asn}${asName === undefined ? '' : ` ${asName}`}`
  const named = crawler === undefined ? identity : `${crawler}: ${crawlerOutcome}`
  const who = entry.class === undefined ? undefined : `${entry.class}${named === undefined ? '' : ` (${named})`}`
  const program = botProbability === undefined ? undefined : `program ${botProbability}`
  const parts = [networkClass, system, region ?? country, who, program].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `(${parts.join(', ')})`
}

function reasonText({ rule, trialRule, refusedFor }: LogLine): string {
  const reasons = [rule && `rule ${rule}`, trialRule && `trial ${trialRule}`, refusedFor && `for ${refusedFor}`]
  return reasons.filter(Boolean).join(', ')
}
