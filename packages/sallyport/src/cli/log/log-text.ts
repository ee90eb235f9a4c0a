import { prettyFactory } from 'pino-pretty'
import { printableValue } from '../terminal/printable.ts'
import { isRequest, type LogEntry } from './entry.ts'

/** The color functions of pino-pretty that are used here. */
interface Colors {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
}

/** Writes entries for people, a line each, in the time of the machine; `color` as the terminal can show it. */
export function entryWriter(color: boolean): (entry: LogEntry) => string {
  const pretty = prettyFactory({
    colorize: color,
    timestampKey: 'time',
    translateTime: 'SYS:yyyy-mm-dd HH:MM:ss',
    include: 'time',
    messageKey: 'requestId',
    messageFormat: (entry, _key, _level, { colors }) =>
      formatEntry(entry as unknown as LogEntry, colors as unknown as Colors),
  })
  return (entry) => pretty(printableValue(entry)).trimEnd()
}

function formatEntry(entry: LogEntry, colors: Colors): string {
  if (!isRequest(entry)) {
    const { audit, who, error, details } = entry
    const rest = details === undefined ? '' : colors.dim(` ${JSON.stringify(details)}`)
    return `${colors.bold(audit)} by ${who}${error === undefined ? '' : `, refused: ${error}`}${rest}`
  }
  const { method, host, path, status, client = '', requestId } = entry
  const parts = [
    actionText(entry, colors),
    `${method} ${host}${path}`,
    statusText(entry.answeredBy, status),
    [client, whoText(entry)].filter(Boolean).join(' '),
    reasonText(entry),
    colors.dim(requestId),
  ]
  return parts.filter((part) => part !== '').join('  ')
}

function actionText(entry: Extract<LogEntry, { path: string }>, colors: Colors): string {
  const { action, enforced, trial, refusedFor } = entry
  if (action === undefined) return refusedFor === undefined ? '-' : colors.yellow('refused')
  const paint =
    action === 'allow' ? colors.dim : action === 'flag' || action === 'challenge' ? colors.yellow : colors.red
  const not = enforced === false && action !== 'allow' ? ' (not carried out)' : ''
  return `${paint(action)}${not}${trial === undefined ? '' : ` (${trial} on trial)`}`
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
