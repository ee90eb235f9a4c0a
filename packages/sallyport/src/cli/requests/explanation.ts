import {
  BASIS_TEXTS,
  type ChallengeTerms,
  type CountingRule,
  counted,
  type Decision,
  formatDuration,
  type LimitUse,
  type Reason,
} from '@sallyport/core'
import { printable } from '../terminal/printable.ts'
import { bold, columns, dim } from '../terminal/terminal.ts'

/** A decision as text: the action, its rule, the agent with its reasons, and the network. */
export function explanation(
  decision: Decision,
  trapOf: (request: Decision['inspection']['request']) => string | undefined = () => undefined,
): string {
  const { action, enforced, challenge, trial, counting, limits, reasons, inspection, unjudged = [] } = decision
  const { agent, network, client, request, country, countryFrom, degraded, pass } = inspection
  const [rule] = reasons
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['request', `${request.method} ${request.path}${otherReadings(request)}`],
    ['path', trapOf(request)],
    ['because', rule?.text],
    ['flag', action === 'flag' ? FLAG : undefined],
    ['asks', challenge && termsText(challenge)],
    ['weights', reasons.find(({ id }) => id === 'policy:weight')?.text],
    ...unjudged.map(({ rule, words }) => ['not judged', unjudgedText(rule, words)] as const),
    ['on trial', trial && `${trial.action} by the rule "${trial.rule}"`],
    ...(counting?.rules ?? []).map(({ rule, cost }) => ['counted by', countText(rule, cost)] as const),
    ...(limits ?? []).map((use) => ['limit', useText(use)] as const),
    ['who', `${agent.class}, confidence ${agent.confidence}${agent.headless ? ', headless' : ''}`],
    ['a program', `with probability ${agent.botProbability}`],
    ['known by', BASIS_TEXTS[agent.basis]],
    ['identity', agent.identity && `${agent.identity.name} (${agent.identity.verified ? 'verified' : 'only said'})`],
    ['AI', agent.ai && `${agent.ai.name} of ${agent.ai.vendor}`],
    ['pass', passText(pass)],
    ['headers', agent.headerConsistency === undefined ? 'not known' : `consistency ${agent.headerConsistency}`],
    ['from', [client.address, network.verdict.classification, network.asName, country].filter(isSaid).join(', ')],
    ['network', networkGrounds(reasons)],
    ['country', countryFrom && `${country} by ${countryFrom.source}, confidence ${countryFrom.confidence}`],
    ['not known', degraded.join(', ')],
  ]
  const known = rows.flatMap(([name, text]) => (isSaid(text) ? [[dim(name), printable(text)] as const] : []))
  const head = `${bold(action)}${enforced ? '' : '  (recorded, not carried out)'}`
  return [head, columns(known), ...weighed(agent.reasons)].join('\n')
}

/** The effect of a flag. */
export const FLAG = 'stops nothing: behind the proxy the origin reads sallyport-action, and a rule of yours refuses'

/** `rule session: cookie is not known` */
export function unjudgedText(rule: string, words: readonly string[]): string {
  return `rule ${rule}: ${words.join(', ')} ${words.length === 1 ? 'is' : 'are'} not known`
}

/** `level 2, for a pass of 12h` */
function termsText({ level, passMs, script }: ChallengeTerms): string {
  return `level ${level}, for a pass of ${formatDuration(passMs)}${script ? '; nobody without script' : ''}`
}

/** `level 2, 5 minutes old`; `age` is in seconds. */
export function passText(pass: { readonly level: number; readonly age: number } | undefined): string {
  return pass === undefined ? 'none' : `level ${pass.level}, ${ageText(pass.age)} old`
}

function ageText(seconds: number): string {
  if (seconds < 120) return counted(seconds, 'second')
  if (seconds < 7_200) return counted(Math.floor(seconds / 60), 'minute')
  return seconds < 172_800 ? counted(Math.floor(seconds / 3_600), 'hour') : counted(Math.floor(seconds / 86_400), 'day')
}

/** `rule login: 10 in 1h by client, else throttle; taken as within` */
function countText({ id, action, onTrial, limit, concurrent }: CountingRule, cost: number): string {
  const bounds: string[] = []
  if (limit !== undefined)
    bounds.push(
      `${limit.max}${limit.counts ? ` ${limit.counts}s` : ''}${limit.failures ? ` (${limit.failures.join(', ')})` : ''} in ${formatDuration(limit.windowMs)} by ${limit.keys.join(' and ')}`,
    )
  if (concurrent !== undefined) {
    const by = concurrent.keys.length === 0 ? '' : ` by ${concurrent.keys.join(' and ')}`
    bounds.push(`${concurrent.max} in flight${by}`)
  }
  const costs = cost === 1 ? '' : `, costs ${cost}`
  return `rule ${id}: ${bounds.join(', ')}, else ${action}${onTrial ? ' (on trial)' : ''}${costs}; taken as within`
}

/** `17th of 20 in 1m, rule search` */
export function useText({
  rule,
  used,
  max,
  counts,
  windowMs,
  exceeded,
}: Omit<LimitUse, 'action' | 'onTrial' | 'resetMs'>): string {
  const span = windowMs === undefined ? 'in flight' : `in ${formatDuration(windowMs)}`
  if (counts !== undefined) {
    return exceeded
      ? `beyond ${max} ${counts}s ${span}, rule ${rule}`
      : `${used} of ${max} ${counts}s ${span}, rule ${rule}`
  }
  return exceeded
    ? `beyond ${max} ${span}, rule ${rule}`
    : `${used === 0 ? 'none' : ordinal(used)} of ${max} ${span}, rule ${rule}`
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }

function ordinal(number: number): string {
  return `${number}${SUFFIXES[ORDINALS.select(number)]}`
}

/** Other targets that an origin may read. */
function otherReadings({ path, readings }: Decision['inspection']['request']): string {
  if (readings === undefined) return ''
  const others = readings.filter((reading) => reading !== path)
  return others.length === 0 ? '  (or many others)' : `  (or ${others.join(', ')})`
}

/** The basis of the network verdict, with the source and its date. */
function networkGrounds(reasons: readonly Reason[]): string | undefined {
  const reason = reasons.find(({ id }) => id.startsWith('network:'))
  if (reason?.source === undefined) return reason?.text
  // Some grounds are a sentence, and it goes on here.
  return `${reason.text.replace(/\.$/, '')}; ${sourceText(reason.source, reason.date)}`
}

/** A source with its date. */
export function sourceText(source: string, date: string | undefined): string {
  const name = source === 'reserved' ? "IANA's registries" : source
  return date === undefined ? name : `${name} of ${date}`
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}

/** The signals by weight, the heaviest first: `+` for automation, `-` for a person. */
function weighed(reasons: readonly Reason[]): readonly string[] {
  const sorted = reasons.toSorted((x, y) => Math.abs(y.weight ?? 99) - Math.abs(x.weight ?? 99))
  return sorted.map(({ weight, text }) => {
    const sign = weight === undefined ? '' : `${weight > 0 ? '+' : ''}${weight}`
    return `  ${sign.padStart(5)}  ${printable(text)}`
  })
}
