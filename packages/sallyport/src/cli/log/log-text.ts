import { styleText } from 'node:util'
import { counted } from '@sallyport/core'
import type { AuditLine, LogLine } from '@sallyport/engine'
import { FLAG, ja4Text, passText, sourceText, useText } from '#console'
import { printableValue } from '../terminal/printable.ts'
import { bold, columns, dim } from '../terminal/terminal.ts'
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

/** Explains a logged request for people: its entry, and a row for each fact. */
export function logExplanation(logged: LogLine): string {
  const line = printableValue(logged)
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['because', line.rule && `rule ${line.rule}`],
    ['behaviour', line.behaviourPages === undefined ? undefined : visitText(line)],
    ['a program', line.botProbability === undefined ? undefined : `probability ${line.botProbability}`],
    ['banned', banText(line)],
    ['to lift it', line.ban && `sallyport bans lift ${line.ban}`],
    ['refusal reason', line.refusedFor],
    ['flag', line.action === 'flag' ? FLAG : undefined],
    ['dry run', line.trial && `${line.trial} by rule ${line.trialRule}`],
    ['limit', limitText(line)],
    ['challenge', challengeText(line)],
    ['pass', line.action && passText(readPass(line))],
    ['reasons', line.reasons?.join(', ')],
    ['network', line.source && sourceText(line.source, line.sourceDate)],
    ['region', line.region ?? (line.regionUnknown && `unknown: ${line.regionUnknown}`)],
    ['oldest source', line.oldestSource && sourceText(line.oldestSource, line.oldestDate)],
    ['calls', line.mcp?.join(', ')],
    ['JA4', ja4Text(line, line.answeredBy === 'check' ? undefined : 'from TLS terminated here')],
    ['unknown', line.degraded?.join(', ')],
    ['answered', `by ${line.answeredBy} in ${line.milliseconds} ms${formatInspected(line)}${formatTransferred(line)}`],
  ]
  const known = rows.flatMap(([name, text]) => (text ? [[dim(name), text] as const] : []))
  return [entryText(line), columns(known)].join('\n')
}

/** Says what the visitor did: `24 pages before it; pages-without-files; alike 5f0c91b3`. */
function visitText({ behaviourPages = 0, behaviour = [], likeness }: LogLine): string {
  const parts = [`${counted(behaviourPages, 'earlier page')}`, behaviour.join(', '), likeness && `alike ${likeness}`]
  return parts.filter((part) => part !== undefined && part !== '').join('; ')
}

/** Writes `until 2026-11-25T03:40:00.000Z: 2 status:404, 1 blocked`. */
function banText({ ban, banUntil = '', banStrikes = [] }: LogLine): string | undefined {
  return ban === undefined ? undefined : `until ${banUntil}: ${banStrikes.join(', ')}`
}

function limitText({ limitRule, limitUsed: used = 0, limitMax: max = 0, limitWindow: windowMs, ...line }: LogLine) {
  if (limitRule === undefined) return undefined
  const exceeded = limitRule === line.rule && line.action !== 'allow'
  return useText({ rule: limitRule, used, max, exceeded, windowMs })
}

/** Writes `solved, level 2, after 412 ms`. */
function challengeText({ challenge, challengeLevel: level, challengeMilliseconds: taken }: LogLine) {
  const parts = [level === undefined ? '' : `, level ${level}`, taken === undefined ? '' : `, after ${taken} ms`]
  return challenge && challenge.replace('_', ' ') + parts.join('')
}

function readPass({ passLevel: level, passAge: age = 0 }: LogLine) {
  return level === undefined ? undefined : { level, age }
}

function formatInspected({ inspectionMilliseconds }: LogLine): string {
  return inspectionMilliseconds === undefined ? '' : `, decided after ${inspectionMilliseconds} ms`
}

function formatTransferred({ bytesReceived = 0, bytesSent }: LogLine): string {
  if (bytesSent === undefined) return ''
  return `; ${counted(bytesReceived, 'byte')} received, ${counted(bytesSent, 'byte')} sent`
}
