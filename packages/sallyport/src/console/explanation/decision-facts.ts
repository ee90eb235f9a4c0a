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

/** A fact by its name, as the terminal and the page show it. */
export type Fact = readonly [name: string, text: string]

/** The facts behind a decision: the rule with its limits, the agent, and the network. */
export function listFacts(decision: Decision): readonly Fact[] {
  const { action, challenge, trial, counting, limits, reasons, inspection, unjudged = [], attestation } = decision
  const { agent, network, client, country, countryFrom, crawler, degraded, pass, user, plan } = inspection
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['because', reasons[0]?.text],
    ['flag', action === 'flag' ? FLAG : undefined],
    ['asks', challenge && termsText(challenge)],
    ['weights', reasons.find(({ id }) => id === 'policy:weight')?.text],
    ...unjudged.map(({ rule, words }) => ['not judged', unjudgedText(rule, words)] as const),
    ['on trial', trial && `${trial.action} by the rule "${trial.rule}"`],
    ...(counting?.rules ?? []).map(({ rule, cost }) => ['counted by', countText(rule, cost)] as const),
    ...(limits ?? []).map((use) => ['limit', useText(use)] as const),
    ['attested', attestation && `claim ${attestation.claim}: ${attestation.action} (${attestation.reason})`],
    ['who', `${agent.class}, confidence ${agent.confidence}${agent.headless ? ', headless' : ''}`],
    ['a program', `with probability ${agent.botProbability}`],
    ['known by', BASIS_TEXTS[agent.basis]],
    ['identity', agent.identity && `${agent.identity.name} (${agent.identity.verified ? 'verified' : 'only said'})`],
    ['AI', agent.ai && `${agent.ai.name} of ${agent.ai.vendor}`],
    ['claims to be', crawler && `${crawler.name} of ${crawler.operator}: ${crawler.outcome}. ${crawler.summary}`],
    ['user', user],
    ['plan', plan],
    ['pass', passText(pass)],
    ['headers', agent.headerConsistency === undefined ? 'not known' : `consistency ${agent.headerConsistency}`],
    ['from', [client.address, network.verdict.classification, systemText(network), country].filter(isSaid).join(', ')],
    ['address by', `${VIA[client.via]}${client.malformed ? '; a part of the header could not be read' : ''}`],
    ['this machine', isOwn(inspection) ? OWN : undefined],
    ['network', networkGrounds(reasons)],
    ['country', countryFrom && `${country} by ${countryFrom.source}, confidence ${countryFrom.confidence}`],
    ['not known', degraded.join(', ')],
  ]
  return rows.flatMap(([name, text]) => (isSaid(text) ? [[name, text] as const] : []))
}

/** Whether a client has an address of this machine although no header was read: mostly a developer's first request. */
function isOwn({ client, network }: Decision['inspection']): boolean {
  return client.via === 'peer' && network.reserved.reserved && network.reserved.label === 'loopback'
}

const OWN = "is taken for a person. To try other visitors, set trustProxy: ['loopback'] and send X-Forwarded-For"

const VIA: Readonly<Record<Decision['inspection']['client']['via'], string>> = {
  peer: 'the address of the connection',
  header: 'the client header, from a trusted proxy',
  none: 'none could be found',
}

function systemText({ asn, asName }: Decision['inspection']['network']): string | undefined {
  return asn === undefined ? asName : `AS${asn} ${asName ?? ''}`.trim()
}

/** The signals by weight, the heaviest first: `+` for automation, `-` for a person; none: it decides alone. */
export function listSignals(reasons: readonly Reason[]): readonly Fact[] {
  const sorted = reasons.toSorted((x, y) => Math.abs(y.weight ?? 99) - Math.abs(x.weight ?? 99))
  return sorted.map(({ weight, text }) => [weight === undefined ? '' : `${weight > 0 ? '+' : ''}${weight}`, text])
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
