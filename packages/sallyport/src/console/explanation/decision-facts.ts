import {
  BASIS_TEXTS,
  type ChallengeTerms,
  type CountingRule,
  counted,
  type Decision,
  formatCall,
  formatDuration,
  type InspectedBehaviour,
  type InspectedRegion,
  type LimitUse,
  nameRegion,
  type Reason,
  type RegionDoubt,
} from '@sallyport/core'

/** A fact with its name, as the terminal and the page show it. */
export type Fact = readonly [name: string, text: string]

/** Lists the facts behind a decision: the rule with its limits, the agent, and the network. */
export function listFacts(decision: Decision): readonly Fact[] {
  const { challenge, offer, trial, counting, limits = [], reasons, inspection, unjudged = [], attestation } = decision
  const { agent, network, client, country, countryFrom, crawler, oldest, event } = inspection
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['event', event && [event.event.replace('_', ' '), event.outcome].filter(isSaid).join(': ')],
    ['because', reasons[0]?.text],
    ['flag', decision.action === 'flag' ? FLAG : undefined],
    ['status', decision.status && (decision.status === 451 ? '451, for legal reasons' : String(decision.status))],
    ['asks', challenge && termsText(challenge)],
    ['offers', offer && [offer.price, offer.licence].filter(isSaid).join(', ')],
    ['paid', reasons.find(({ id }) => id === 'payment')?.text],
    ['weights', reasons.find(({ id }) => id === 'policy:weight')?.text],
    ...unjudged.map(({ rule, words }) => ['not judged', unjudgedText(rule, words)] as const),
    ['dry run', trial && `${trial.action} by the rule "${trial.rule}"`],
    ...(counting?.rules ?? []).map(
      ({ rule, cost }) => ['counted by', countText(rule, cost, event !== undefined)] as const,
    ),
    ...limits.map((use) => ['limit', useText(use)] as const),
    ['attested', attestation && `claim ${attestation.claim}: ${attestation.action} (${attestation.reason})`],
    ['who', `${agent.class}, confidence ${agent.confidence}${agent.headless ? ', headless' : ''}`],
    ['a program', `probability ${agent.botProbability}`],
    ['behaviour', behaviourText(inspection.behaviour)],
    ['basis', BASIS_TEXTS[agent.basis]],
    ['identity', agent.identity && `${agent.identity.name} (${agent.identity.verified ? 'verified' : 'unverified'})`],
    ['AI', agent.ai && `${agent.ai.name} of ${agent.ai.vendor}`],
    ['claims to be', crawler && `${crawler.name} of ${crawler.operator}: ${crawler.outcome}. ${crawler.summary}`],
    ['calls', inspection.mcp?.calls.map(formatCall).join(', ')],
    ['user', inspection.user],
    ['plan', inspection.plan],
    ['pass', passText(inspection.pass)],
    ['headers', agent.headerConsistency === undefined ? 'unknown' : `consistency ${agent.headerConsistency}`],
    ['from', [client.address, network.verdict.classification, systemText(network), country].filter(isSaid).join(', ')],
    ['address by', `${VIA[client.via]}${client.malformed ? '; part of the header is malformed' : ''}`],
    ['this machine', isOwn(inspection) ? OWN : undefined],
    ['JA4', ja4Text(inspection)],
    ['network', networkGrounds(reasons)],
    ['country', countryFrom && `${country} by ${countryFrom.source}, confidence ${countryFrom.confidence}`],
    ['region', inspection.region && regionText(inspection.region)],
    ['oldest source', oldest && sourceText(oldest.source, oldest.date)],
    ['unknown', inspection.degraded.join(', ')],
  ]
  return rows.flatMap(([name, text]) => (isSaid(text) ? [[name, text] as const] : []))
}

/** Says what the visitor did in this visit: `24 pages, 24 without files, 3 different; alike: 5f0c91b3`. */
function behaviourText(behaviour: InspectedBehaviour | undefined): string | undefined {
  if (behaviour === undefined) return undefined
  const { pages, pagesWithoutFiles, cookiesNotReturned, differentPages, likeness, isMixed } = behaviour
  const group = likeness && `likeness ${likeness}${isMixed ? ', whose members include a pass holder' : ''}`
  const parts = [
    counted(pages, 'page'),
    `${differentPages} different`,
    pagesWithoutFiles > 0 ? `${pagesWithoutFiles} since the last file` : undefined,
    cookiesNotReturned > 0 ? `${cookiesNotReturned} without the cookie that was set` : undefined,
    group,
  ]
  return parts.filter(isSaid).join(', ')
}

/** Writes `t13d1516h2_8daaf6152771_02713d6af862, by the header cf-ja4`; `own` names the origin of a JA4 without a header. */
export function ja4Text(
  { ja4, ja4Header }: Pick<Decision['inspection'], 'ja4' | 'ja4Header'>,
  own?: string,
): string | undefined {
  return ja4 && [ja4, ja4Header === undefined ? own : `by the header ${ja4Header}`].filter(isSaid).join(', ')
}

/** Reports whether a client has a loopback address and no header named it: mostly a developer's first request. */
function isOwn({ client, network }: Decision['inspection']): boolean {
  return client.via === 'peer' && network.reserved.reserved && network.reserved.label === 'loopback'
}

/** Writes a region as `US-TX, Texas, by dbip-city-v4, confidence 0.75`. */
export function regionText(region: InspectedRegion): string {
  if (region.code === undefined) return `unknown: ${DOUBTS[region.doubt]}`
  return `${region.code}, ${nameRegion(region.code)}, by ${region.source}, confidence ${region.confidence}`
}

const DOUBTS: Readonly<Record<RegionDoubt, string>> = {
  reserved: 'a reserved address has no region',
  hidden: 'a VPN, proxy or Tor hides the location of its clients',
  carrier: 'a mobile carrier routes clients of many regions through one gateway',
  satellite: 'a satellite operator routes clients of many regions through one gateway',
  server: 'a server is not where its user is',
  disputed: 'no data covers this region',
  unsure: 'the city file also places connections of other regions here',
  no_data: 'no data has a region',
}

const OWN = "counts as a person. To test other visitors, set trustProxy: ['loopback'] and send X-Forwarded-For"

const VIA: Readonly<Record<Decision['inspection']['client']['via'], string>> = {
  peer: 'the address of the connection',
  header: 'the client header of a trusted proxy',
  none: 'no address could be found',
}

function systemText({ asn, asName }: Decision['inspection']['network']): string | undefined {
  return asn === undefined ? asName : `AS${asn} ${asName ?? ''}`.trim()
}

/** Lists the signals by weight, the heaviest first: `+` for automation, `-` for a person; no weight: the signal decides alone. */
export function listSignals(reasons: readonly Reason[]): readonly Fact[] {
  const sorted = reasons.toSorted((x, y) => Math.abs(y.weight ?? 99) - Math.abs(x.weight ?? 99))
  return sorted.map(({ weight, text }) => [weight === undefined ? '' : `${weight > 0 ? '+' : ''}${weight}`, text])
}

/** Says what a flag does. */
export const FLAG = 'blocks nothing. Behind the proxy, the origin can read sallyport-action, or add a rule that blocks'

/** Writes `rule session: cookie is not known`. */
export function unjudgedText(rule: string, words: readonly string[]): string {
  return `rule ${rule}: ${words.join(', ')} ${words.length === 1 ? 'is' : 'are'} unknown`
}

/** Writes `level 2, for a pass of 12h`. */
function termsText({ level, passMs, script }: ChallengeTerms): string {
  return `level ${level}, for a pass of ${formatDuration(passMs)}${script ? '; requires JavaScript' : ''}`
}

/** Writes `level 2, 5 minutes old`; `age` is in seconds. */
export function passText(pass: { readonly level: number; readonly age: number } | undefined): string {
  return pass === undefined ? 'none' : `level ${pass.level}, ${ageText(pass.age)} old`
}

function ageText(seconds: number): string {
  if (seconds < 120) return counted(seconds, 'second')
  if (seconds < 7_200) return counted(Math.floor(seconds / 60), 'minute')
  return seconds < 172_800 ? counted(Math.floor(seconds / 3_600), 'hour') : counted(Math.floor(seconds / 86_400), 'day')
}

/** Writes `rule login: 10 in 1h by client, else throttle; taken as within`. */
function countText({ id, action, onTrial, limit, concurrent }: CountingRule, cost: number, isEvent: boolean): string {
  const by = (keys: readonly string[]) => (keys.length === 0 ? '' : ` by ${keys.join(' and ')}`)
  const failures = limit?.failures && !isEvent ? ` (${limit.failures.join(', ')})` : ''
  const bounds = [
    limit &&
      `${limit.max}${limit.counts ? ` ${limit.counts}s` : ''}${failures} in ${formatDuration(limit.windowMs)}${by(limit.keys)}`,
    concurrent && `${concurrent.max} in flight${by(concurrent.keys)}`,
  ]
  const costs = cost === 1 ? '' : `, costs ${cost}`
  return `rule ${id}: ${bounds.filter(isSaid).join(', ')}, else ${action}${onTrial ? ' (dry run)' : ''}${costs}; assumed within the limit`
}

/** Writes `17th of 20 in 1m, rule search`. */
export function useText(use: Omit<LimitUse, 'action' | 'onTrial' | 'resetMs'>): string {
  const { rule, used, max, counts, windowMs, exceeded } = use
  const span = windowMs === undefined ? 'in flight' : `in ${formatDuration(windowMs)}`
  const most = counts === undefined ? max : `${max} ${counts}s`
  const now = counts !== undefined ? used : used === 0 ? 'none' : ordinal(used)
  return `${exceeded ? 'over' : `${now} of`} ${most} ${span}, rule ${rule}`
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const SUFFIXES: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }

function ordinal(number: number): string {
  return `${number}${SUFFIXES[ORDINALS.select(number)]}`
}

/** Describes the basis of the network verdict, with the source and its date. */
function networkGrounds(reasons: readonly Reason[]): string | undefined {
  const reason = reasons.find(({ id }) => id.startsWith('network:'))
  if (reason?.source === undefined) return reason?.text
  // Some grounds are a sentence, which continues here.
  return `${reason.text.replace(/\.$/, '')}; ${sourceText(reason.source, reason.date)}`
}

/** Writes a source with its date. */
export function sourceText(source: string, date: string | undefined): string {
  const name = source === 'reserved' ? "IANA's registries" : source
  return date === undefined ? name : `${name} of ${date}`
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}
