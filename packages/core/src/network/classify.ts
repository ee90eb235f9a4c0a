import type { ListKind } from '@sallyport/data/list-ages'
import { RESERVED_DATE } from '@sallyport/data/reserved'
import type { Address } from '../address/address.ts'
import { reservedRow } from '../address/reserved.ts'
import { hasLinesAndSims } from '../asn/types.ts'
import { DAY_MS } from '../duration.ts'
import type {
  AutonomousSystem,
  NetworkRecord,
  Observation,
  RangeHit,
  Snapshot,
  SourceStatus,
  SystemBasis,
} from '../ports/index.ts'
import type { NetworkFinding, ReservedRange, Verdict, VerdictMethod, VerdictRule } from '../values/finding.ts'
import type { Writable } from '../values/members.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
import { lastTrue, listKind } from './ages.ts'
import { confidenceOf, type ExitAges } from './confidence.ts'
import { classRank } from './precedence.ts'
import { proxiesAreSeen } from './staleness.ts'

const NOT_RESERVED: ReservedRange = Object.freeze({ reserved: false })
const NO_SOURCES: readonly string[] = Object.freeze([])

const RESERVED_VERDICT: Verdict = Object.freeze({
  classification: 'unknown',
  anonymized: false,
  confidence: 1,
  method: 'reserved',
})

/** The finding where nothing is known of an address, or where there is no address. */
export const NOTHING_KNOWN: NetworkFinding = Object.freeze({
  reserved: NOT_RESERVED,
  verdict: Object.freeze({ classification: 'unknown', anonymized: false, confidence: 0, method: 'asn' }),
  rule: 'none',
  provider: '',
  asType: 'unknown',
  agreeing: NO_SOURCES,
})

/** A rule that matched, and the source that it rests on. */
interface RuleMatch {
  readonly rule: VerdictRule
  readonly networkClass: NetworkClass
  readonly method: VerdictMethod
  readonly source: string
  readonly date: string | undefined
  readonly provider: string
  readonly narrow: boolean
  readonly trust: number | undefined
  /** Kind by which its source ages; absent for what is set by hand, or seen of the address itself. */
  readonly kind: ListKind | undefined
}

/**
 * The network verdict of one address, from memory alone (specification: Verdict; order of the sources:
 * `precedence.ts`; confidence: `confidence.ts`). Never throws: a table that is not loaded leaves the class `unknown`,
 * confidence 0.
 */
export function classify(address: Address, snapshot: Snapshot): NetworkFinding {
  const reserved = reservedRow(address)
  if (reserved !== undefined) {
    return Object.freeze({
      reserved: Object.freeze({ reserved: true, label: reserved.label, detail: reserved.detail }),
      verdict: RESERVED_VERDICT,
      rule: 'reserved',
      provider: '',
      asType: 'unknown',
      source: 'reserved',
      sourceDate: RESERVED_DATE,
      agreeing: NO_SOURCES,
    })
  }
  const observation = snapshot.observations?.find(address)
  const record = snapshot.networks?.find(address)
  if (observation !== undefined) return findingOf(snapshot, observation, record)
  if (record === undefined) return NOTHING_KNOWN
  const known = snapshot.findings?.get(record)
  if (known !== undefined) return known
  const finding = findingOf(snapshot, undefined, record)
  snapshot.findings?.keep(record, finding)
  return finding
}

function findingOf(
  snapshot: Snapshot,
  observation: Observation | undefined,
  record: NetworkRecord | undefined,
): NetworkFinding {
  const system = record?.system
  const match = firstMatch(snapshot, observation, record)
  const signs = match?.networkClass === 'residential_clean' ? machineSigns(observation, record) : 0
  const agreeing = match === undefined ? NO_SOURCES : agreeingWith(match, record)
  const finding: Writable<NetworkFinding> = {
    reserved: NOT_RESERVED,
    verdict:
      match === undefined
        ? NOTHING_KNOWN.verdict
        : verdictOf(match, confidence({ match, agreeing, signs, record }, snapshot)),
    rule: match === undefined ? 'none' : match.rule,
    provider: providerOf(match, record),
    asType: system === undefined ? 'unknown' : system.type,
    agreeing,
  }
  if (system !== undefined) {
    finding.asn = system.asn
    finding.asName = system.name
    if (system.country !== undefined) finding.asCountry = system.country
  }
  if (match !== undefined) {
    finding.source = match.source
    if (match.date !== undefined) finding.sourceDate = match.date
  }
  const near = proxiesBeside(finding.verdict.classification, record, snapshot)
  if (near !== undefined) finding.near = near
  if (signs > 0) finding.machineSigns = signs
  return Object.freeze(finding)
}

/** Classes of the lines that residential proxies are run on. */
const LINES: readonly NetworkClass[] = ['residential_clean', 'mobile', 'unknown']

/** Id of the source that lists proxies beside a line, as long as it holds. */
function proxiesBeside(
  networkClass: NetworkClass,
  record: NetworkRecord | undefined,
  { clock }: Snapshot,
): string | undefined {
  const near = record?.near
  if (near === undefined || !LINES.includes(networkClass)) return undefined
  const isOver = clock !== undefined && near.expires !== undefined && Math.floor(clock.now() / DAY_MS) > near.expires
  return isOver ? undefined : near.source
}

/** The first rule that matches, by steps 2 to 11 of the precedence. */
function firstMatch(
  { sources }: Snapshot,
  observation: Observation | undefined,
  record: NetworkRecord | undefined,
): RuleMatch | undefined {
  const range = record?.range
  const read = matchOf(sources, record)
  if (observation === undefined) return read
  if (observation.origin === 'operator') return observed(observation)
  const fed = range?.single === true && classRank(range.networkClass) <= classRank(observation.networkClass)
  // Words in a name say less than any list that says something stricter.
  const isKnown = !anonymises(observation.networkClass) && ranked(read) <= classRank(observation.networkClass)
  // A word of servers gives no class here: companies name the gateways of their offices like servers.
  const isSign = isServersName(observation) && read !== undefined && sideOf(read.networkClass) === -1
  return fed || isKnown || isSign ? read : observed(observation)
}

/** Whether an address's own name is one that hosts give to machines: on a line it is a sign, and no class. */
function isServersName({ origin, networkClass }: Observation): boolean {
  return origin === 'reverse-name' && networkClass === 'hosting'
}

function ranked(match: RuleMatch | undefined): number {
  return classRank(match?.networkClass ?? 'unknown')
}

/** The first rule of the data that matches, by steps 3 to 11. */
function matchOf(sources: readonly SourceStatus[], record: NetworkRecord | undefined): RuleMatch | undefined {
  const range = record?.range
  const system = record?.system
  const known = system !== undefined && system.networkClass !== 'unknown' ? system : undefined
  if (known === undefined) return range === undefined ? undefined : listed(range)
  if (isMixed(known)) {
    const nearer = range === undefined ? undefined : [range, ...(record?.also ?? [])].find(isNearer)
    return nearer === undefined ? owned(known, sources) : listed(nearer)
  }
  if (range === undefined) return owned(known, sources)
  const isFirst =
    range.single || range.rule === 'published' || classRank(range.networkClass) <= classRank(known.networkClass)
  return isFirst ? listed(range) : owned(known, sources)
}

/** Whether a system rents to VPN services and to others alike: the system alone is then a weak sign of either. */
export function isMixed({ type, networkClass }: Pick<AutonomousSystem, 'type' | 'networkClass'>): boolean {
  return type === 'hosting' && networkClass === 'vpn'
}

/** Whether a hit says more of an address than that its system is mixed: it names an owner, or exits hereabouts. */
function isNearer({ single, provider, rule, networkClass, narrow }: RangeHit): boolean {
  if (single || provider !== '' || rule !== 'list') return true
  return anonymises(networkClass) && (narrow || classRank(networkClass) < classRank('vpn'))
}

function observed({ networkClass, origin, provider, setAt }: Observation): RuleMatch {
  return {
    rule: origin === 'operator' ? 'override' : 'reverse_name',
    networkClass,
    method: 'ip_state',
    source: origin === 'operator' ? 'operator-overrides' : 'reverse-names',
    date: new Date(setAt).toISOString().slice(0, 10),
    provider,
    narrow: true,
    trust: undefined,
    kind: undefined,
  }
}

const RANGE_METHODS = {
  residential_clean: 'range:residential_clean',
  mobile: 'range:mobile',
  hosting: 'range:hosting',
  datacenter: 'range:datacenter',
  vpn: 'range:vpn',
  residential_proxy: 'range:residential_proxy',
  tor: 'range:tor',
  unknown: 'range:unknown',
} as const satisfies Record<NetworkClass, VerdictMethod>

function listed({ networkClass, single, source, date, provider, narrow, trust, rule }: RangeHit): RuleMatch {
  return {
    rule: single ? 'address_list' : rule === 'density' ? 'exit_density' : 'range_list',
    networkClass,
    method: single ? 'ip_state' : RANGE_METHODS[networkClass],
    source,
    date,
    provider,
    narrow,
    trust,
    kind: rule === 'density' ? 'service' : listKind({ networkClass, single, isPublished: rule === 'published' }),
  }
}

/** The rule of a system's class, by its basis. */
const SYSTEM_RULES: Readonly<Record<SystemBasis, VerdictRule>> = {
  operator: 'operator_table',
  name: 'organisation_name',
  list: 'system_list',
  prefixes: 'system_prefixes',
  shape: 'system_shape',
  none: 'none',
}

/** Id of the source of a system's class. */
function sourceOf(system: AutonomousSystem): string {
  const { basis, list } = system
  if (isMixed(system)) return 'rented-systems'
  if (basis === 'operator') return 'operators'
  return basis === 'name' ? 'organisation-names' : (list ?? `system-${basis}`)
}

function owned(system: AutonomousSystem, sources: readonly SourceStatus[]): RuleMatch {
  const { networkClass, basis, brand } = system
  const source = sourceOf(system)
  return {
    rule: isMixed(system) ? 'mixed_system' : SYSTEM_RULES[basis],
    networkClass,
    method: 'asn',
    source,
    date: sources.find(({ id }) => id === source)?.date,
    provider: brand,
    narrow: false,
    trust: undefined,
    kind: isMixed(system) ? 'service' : basis === 'operator' || basis === 'name' ? 'hand' : 'range',
  }
}

function verdictOf({ networkClass, method }: RuleMatch, confidence: number): Verdict {
  return Object.freeze({
    classification: networkClass,
    anonymized: anonymises(networkClass),
    confidence,
    method,
  })
}

/** Ids of the other sources with the same class, each once. */
function agreeingWith(match: RuleMatch, record: NetworkRecord | undefined): readonly string[] {
  if (record === undefined) return NO_SOURCES
  let ids: string[] | undefined
  const ask = (networkClass: NetworkClass, source: string): void => {
    if (networkClass !== match.networkClass || source === match.source || ids?.includes(source)) return
    ids = ids ?? []
    ids.push(source)
  }
  if (record.range !== undefined) ask(record.range.networkClass, record.range.source)
  for (const { networkClass, source } of record.also) ask(networkClass, source)
  const { system } = record
  if (system !== undefined && system.basis !== 'none') ask(system.networkClass, sourceOf(system))
  return ids === undefined ? NO_SOURCES : Object.freeze(ids)
}

/** Grounds of a confidence, as they were found. */
interface Weighed {
  readonly match: RuleMatch
  readonly agreeing: readonly string[]
  readonly signs: number
  readonly record: NetworkRecord | undefined
}

function confidence({ match, agreeing, signs, record }: Weighed, snapshot: Snapshot): number {
  const { rule, networkClass, trust, narrow, source, date, kind } = match
  const now = snapshot.clock?.now()
  const trueAt = kind === undefined ? undefined : sourceTrueAt(snapshot, { source, date }, kind)
  return confidenceOf({
    rule,
    networkClass,
    narrow,
    agreeing: agreeing.length,
    contradicted: record !== undefined && contradicts(record, networkClass),
    proxiesLoaded: proxiesAreSeen(snapshot, now),
    inDoubt: signs >= DOUBTING_SIGNS || (rule === 'operator_table' && isSharedWithSims(record)),
    ...(now === undefined || snapshot.exitsTrueAt === undefined
      ? {}
      : { exitAges: daysSince(snapshot.exitsTrueAt, now) }),
    ...(trust === undefined ? {} : { trust }),
    ...(kind === undefined ? {} : { kind }),
    ...(now === undefined || trueAt === undefined ? {} : { ageDays: Math.floor((now - trueAt) / DAY_MS) }),
  })
}

/** So many signs that an address of an access network is a machine's leave its class in doubt: none of 1,486 labelled homes has two. */
export const DOUBTING_SIGNS = 2

function machineSigns(observation: Observation | undefined, record: NetworkRecord | undefined): number {
  const { system, near, exitsBeside } = record ?? {}
  const isNamedAlone = system?.basis === 'name'
  const isNamedServer = observation !== undefined && isServersName(observation)
  const signs = [isNamedAlone, system?.hostLike, exitsBeside !== undefined, near !== undefined, isNamedServer]
  return signs.filter((sign) => sign).length
}

/** Whether a home line may as well be a SIM card's of the same carrier. */
function isSharedWithSims(record: NetworkRecord | undefined): boolean {
  return record?.system !== undefined && hasLinesAndSims(record.system.asn)
}

/** When the source of a rule was last known to be true; its own date where no row of the snapshot says more. */
function sourceTrueAt(
  { sources }: Snapshot,
  { source, date }: Pick<RuleMatch, 'source' | 'date'>,
  kind: ListKind,
): number | undefined {
  return lastTrue({ date, checked: sources.find(({ id }) => id === source)?.checked }, kind)
}

function daysSince({ tor, vpn }: NonNullable<Snapshot['exitsTrueAt']>, now: number): ExitAges {
  const days = (time: number | undefined) => (time === undefined ? undefined : Math.floor((now - time) / DAY_MS))
  return { tor: days(tor), vpn: days(vpn) }
}

/** Hosting and home lines exclude each other; an anonymiser can run on either, so it contradicts nothing. */
function contradicts({ range, also, system }: NetworkRecord, networkClass: NetworkClass): boolean {
  const side = sideOf(networkClass)
  if (side === 0) return false
  const other = (said: NetworkClass | undefined): boolean => said !== undefined && sideOf(said) === -side
  return other(system?.networkClass) || other(range?.networkClass) || also.some((hit) => other(hit.networkClass))
}

function sideOf(networkClass: NetworkClass): -1 | 0 | 1 {
  if (networkClass === 'hosting' || networkClass === 'datacenter') return 1
  return networkClass === 'mobile' || networkClass === 'residential_clean' ? -1 : 0
}

/**
 * The brand of a service. An access network's brand is the visitor's own carrier and no provider; nor is a VPN's brand the
 * provider of an address that an operator has set to a weaker class.
 */
function providerOf(match: RuleMatch | undefined, record: NetworkRecord | undefined): string {
  if (match === undefined || !isService(match.networkClass)) return ''
  if (match.provider !== '') return match.provider
  const { range, system } = record ?? {}
  const serves = (said: NetworkClass) => isService(said) && classRank(said) >= classRank(match.networkClass)
  if (range !== undefined && range.provider !== '' && serves(range.networkClass)) return range.provider
  return system !== undefined && serves(system.networkClass) ? system.brand : ''
}

function isService(networkClass: NetworkClass): boolean {
  return classRank(networkClass) <= classRank('hosting')
}
