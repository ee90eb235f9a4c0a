import { styleText } from 'node:util'
import { printableValue } from '../terminal/printable.ts'
import { bold, dim } from '../terminal/terminal.ts'
import { isRequest, type LogEntry } from './entry.ts'

/** An entry for people: one line, in the time of the machine. */
export function entryText(entry: LogEntry): string {
  const line = printableValue(entry)
  // ISO 8601 with a space, as Sweden writes it.
  const time = new Date(line.time).toLocaleString('sv-SE')
  return `[${time}]: ${isRequest(line) ? requestText(line) : auditText(line)}`
}

function auditText({ audit, who, error, details }: Exclude<LogEntry, { path: string }>): string {
  const rest = details === undefined ? '' : dim(` ${JSON.stringify(details)}`)
  return `${bold(audit)} by ${who}${error === undefined ? '' : `, refused: ${error}`}${rest}`
}

function requestText(entry: Extract<LogEntry, { path: string }>): string {
  const { method, host, path, status, client = '', requestId } = entry
  const parts = [
    actionText(entry),
    `${method} ${host}${path}`,
    statusText(entry.answeredBy, status),
    [client, whoText(entry)].filter(Boolean).join(' '),
    reasonText(entry),
    dim(requestId),
  ]
  return parts.filter((part) => part !== '').join('  ')
}

function actionText({ action, enforced, trial, refusedFor }: Extract<LogEntry, { path: string }>): string {
  if (action === undefined) return refusedFor === undefined ? '-' : styleText('yellow', 'refused')
  const colour = action === 'allow' ? 'dim' : action === 'flag' || action === 'challenge' ? 'yellow' : 'red'
  const not = enforced === false && action !== 'allow' ? ' (not carried out)' : ''
  return `${styleText(colour, action)}${not}${trial === undefined ? '' : ` (${trial} on trial)`}`
}

function statusText(answeredBy: string, status: number): string {
  if (answeredBy === 'check') return 'asked of the API'
  return status === 0 ? 'left' : String(status)
}

/** `tor, AS64502 Made Networks, NL, impostor (Googlebot: spoofed), program 0.99` */
function whoText(entry: Extract<LogEntry, { path: string }>): string {
  const { networkClass, asn, asName, country, crawler, crawlerOutcome, identity, botProbability } = entry
  const system = asn === undefined ? undefined : `AS${asn}${asName === undefined ? '' : ` ${asName}`}`
  const named = crawler === undefined ? identity : `${crawler}: ${crawlerOutcome}`
  const who = entry.class === undefined ? undefined : `${entry.class}${named === undefined ? '' : ` (${named})`}`
  const program = botProbability === undefined ? undefined : `program ${botProbability}`
  const parts = [networkClass, system, country, who, program].filter((part) => part !== undefined)
  return parts.length === 0 ? '' : `(${parts.join(', ')})`
}

function reasonText({ rule, trialRule, refusedFor }: Extract<LogEntry, { path: string }>): string {
  const reasons = [
    rule === undefined ? '' : `rule ${rule}`,
    trialRule === undefined ? '' : `trial ${trialRule}`,
    refusedFor === undefined ? '' : `for ${refusedFor}`,
  ]
  return reasons.filter((reason) => reason !== '').join(', ')
}
