import { RESERVED_DATE } from '@sallyport/data/reserved'
import type { Address } from '../address/address.ts'
import { reservedRow } from '../address/reserved.ts'
import { findOperator, hasLinesAndSims } from '../asn/types.ts'
import { DAY_MS } from '../duration.ts'
import type {
  AgingSource,
  AutonomousSystem,
  NetworkRecord,
  Observation,
  RangeHit,
  Snapshot,
  SourceStatus,
  SystemBasis,
} from '../ports/index.ts'
import type {
  DatedSource,
  NetworkFinding,
  ReservedRange,
  Verdict,
  VerdictMethod,
  VerdictRule,
} from '../values/finding.ts'
import type { Writable } from '../values/members.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
import { datedSource, findSource, olderSource, shareLeft } from './ages.ts'
import { computeConfidence, type Grounds } from './confidence.ts'
import { classRank } from './precedence.ts'

const NOT_RESERVED: ReservedRange = Object.freeze({ reserved: false })
const NO_SOURCES: readonly string[] = Object.freeze([])

const RESERVED_VERDICT: Verdict = Object.freeze({
  classification: 'unknown',
  anonymized: false,
  confidence: 1,
  method: 'reserved',
})

/** This finding is returned where nothing is known of an address, or where there is no address. */
export const NOTHING_KNOWN: NetworkFinding = Object.freeze({
  reserved: NOT_RESERVED,
  verdict: Object.freeze({ classification: 'unknown', anonymized: false, confidence: 0, method: 'asn' }),
  rule: 'none',
  provider: '',
  asType: 'unknown',
  agreeing: NO_SOURCES,
})

interface RuleMatch {
  readonly rule: VerdictRule
  readonly networkClass: NetworkClass
  readonly method: VerdictMethod
  readonly source: string
  readonly date: string | undefined
  readonly provider: string
  readonly narrow: boolean
  readonly trust: number | undefined
}

/**
 * Returns the network verdict of one address, from memory alone (specification: Verdict; order of the sources: `precedence.ts`; confidence:
 * `confidence.ts`). Never throws: a table that is not loaded leaves the class `unknown`, confidence 0.
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
      oldest: Object.freeze({ source: 'reserved', date: RESERVED_DATE }),
      agreeing: NO_SOURCES,
    })
  }
  const observation = snapshot.observations?.find(address)
  const record = snapshot.networks?.find(address)
  if (observation !== undefined) return buildFinding(snapshot, observation, record)
  if (record === undefined) return NOTHING_KNOWN
  const build = () => buildFinding(snapshot, undefined, record)
  return snapshot.findings?.networks.read(record, build) ?? build()
}

function buildFinding(
  snapshot: Snapshot,
  observation: Observation | undefined,
  record: NetworkRecord | undefined,
): NetworkFinding {
  const system = record?.system
  const match = firstMatch(snapshot, observation, record)
  const signs = match?.networkClass === 'residential_clean' ? machineSigns(observation, record) : 0
  const agreeing = match === undefined ? NO_SOURCES : agreeingWith(match, record)
  const grounds = match && weigh(match, { agreeing: agreeing.length, signs }, record, snapshot)
  const finding: Writable<NetworkFinding> = {
    reserved: NOT_RESERVED,
    verdict: match && grounds ? giveVerdict(match, computeConfidence(grounds)) : NOTHING_KNOWN.verdict,
    rule: match === undefined ? 'none' : match.rule,
    provider: nameProvider(match, record),
    asType: system === undefined ? 'unknown' : system.type,
    agreeing,
  }
  if (system !== undefined) {
    finding.asn = system.asn
    finding.asName = system.name
    if (system.country !== undefined) finding.asCountry = system.country
  }
  if (match && grounds) {
    finding.source = match.source
    if (match.date !== undefined) finding.sourceDate = match.date
    const proxiesKnown = snapshot.proxiesLoaded ? 1 : 0
    const ageless = computeConfidence({ ...grounds, kept: 1, exitsKnown: 1, proxiesKnown })
    if (ageless !== finding.verdict.confidence) finding.ageless = ageless
    const oldest = oldestBehind(match, finding, snapshot)
    if (oldest !== undefined) finding.oldest = oldest
  }
  const near = proxiesBeside(finding.verdict.classification, record, snapshot)
  if (near !== undefined) finding.near = near
  if (signs > 0) finding.machineSigns = signs
  return Object.freeze(finding)
}

/** Residential proxies run on lines of these classes. */
const LINES: readonly NetworkClass[] = ['residential_clean', 'mobile', 'unknown']

/** Returns the source that lists proxies beside a line, by its id, until the listing expires. */
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

/** Finds the first rule that matches, by steps 2 to 11 of the precedence. */
function firstMatch(
  { sources }: Snapshot,
  observation: Observation | undefined,
  record: NetworkRecord | undefined,
): RuleMatch | undefined {
  const range = record?.range
  const read = findMatch(sources, record)
  if (observation === undefined) return read
  if (observation.origin === 'operator') return matchObservation(observation)
  const fed = range?.single === true && classRank(range.networkClass) <= classRank(observation.networkClass)
  // Words in a name count less than any list that says something stricter.
  const rank = classRank(read?.networkClass ?? 'unknown')
  const isKnown = !anonymises(observation.networkClass) && rank <= classRank(observation.networkClass)
  // A server's word sets no class here: companies name the gateways of their offices like servers.
  const isSign = isServersName(observation) && read !== undefined && networkSide(read.networkClass) === -1
  return fed || isKnown || isSign ? read : matchObservation(observation)
}

/** Reports whether an address's own name is one that hosts give to machines: on a line it is a sign, and no class. */
function isServersName({ origin, networkClass }: Observation): boolean {
  return origin === 'reverse-name' && networkClass === 'hosting'
}

/** Finds the first rule of the data that matches, by steps 3 to 11. */
function findMatch(sources: readonly SourceStatus[], record: NetworkRecord | undefined): RuleMatch | undefined {
  const range = record?.range
  const system = record?.system
  const known = system !== undefined && system.networkClass !== 'unknown' ? system : undefined
  if (known === undefined) return range === undefined ? undefined : matchList(range)
  if (isMixed(known)) {
    const nearer = range === undefined ? undefined : [range, ...(record?.also ?? [])].find(isNearer)
    return nearer === undefined ? matchSystem(known, sources) : matchList(nearer)
  }
  if (range === undefined) return matchSystem(known, sources)
  const isFirst =
    range.single || range.rule === 'published' || classRank(range.networkClass) <= classRank(known.networkClass)
  return isFirst ? matchList(range) : matchSystem(known, sources)
}

/** Reports whether a system rents to VPN services and to others alike: the system alone is then a weak sign of either. */
export function isMixed({ type, networkClass }: Pick<AutonomousSystem, 'type' | 'networkClass'>): boolean {
  return type === 'hosting' && networkClass === 'vpn'
}

/** Reports whether a hit says more about an address than its mixed system does: it names an owner, or exits hereabouts. */
function isNearer({ single, provider, rule, networkClass, narrow }: RangeHit): boolean {
  if (single || provider !== '' || rule !== 'list') return true
  return anonymises(networkClass) && (narrow || classRank(networkClass) < classRank('vpn'))
}

function matchObservation({ networkClass, origin, provider, setAt }: Observation): RuleMatch {
  return {
    rule: origin === 'operator' ? 'override' : 'reverse_name',
    networkClass,
    method: 'ip_state',
    source: origin === 'operator' ? 'operator-overrides' : 'reverse-names',
    date: new Date(setAt).toISOString().slice(0, 10),
    provider,
    narrow: true,
    trust: undefined,
  }
}

function matchList({ networkClass, single, source, date, provider, narrow, trust, rule }: RangeHit): RuleMatch {
  return {
    rule: single ? 'address_list' : rule === 'density' ? 'exit_density' : 'range_list',
    networkClass,
    method: single ? 'ip_state' : `range:${networkClass}`,
    source,
    date,
    provider,
    narrow,
    trust,
  }
}

const SYSTEM_RULES: Readonly<Record<SystemBasis, VerdictRule>> = {
  operator: 'operator_table',
  name: 'organisation_name',
  list: 'system_list',
  prefixes: 'system_prefixes',
  shape: 'system_shape',
  none: 'none',
}

/** Returns the source of a system's class, by its id: for a mixed one the operator table, or else the lists of its tenants. */
function nameSource(system: AutonomousSystem): string {
  const { asn, basis, list } = system
  if (isMixed(system) && findOperator(asn)?.networkClass !== 'vpn') return 'rented-systems'
  if (basis === 'operator') return 'operators'
  return basis === 'name' ? 'organisation-names' : (list ?? `system-${basis}`)
}

function matchSystem(system: AutonomousSystem, sources: readonly SourceStatus[]): RuleMatch {
  const { networkClass, basis, brand } = system
  const source = nameSource(system)
  return {
    rule: isMixed(system) ? 'mixed_system' : SYSTEM_RULES[basis],
    networkClass,
    method: 'asn',
    source,
    date: sources.find(({ id }) => id === source)?.date,
    provider: brand,
    narrow: false,
    trust: undefined,
  }
}

function giveVerdict({ networkClass, method }: RuleMatch, confidence: number): Verdict {
  return Object.freeze({
    classification: networkClass,
    anonymized: anonymises(networkClass),
    confidence,
    method,
  })
}

/** Lists the ids of the other sources with the same class, each once. */
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
  if (system !== undefined && system.basis !== 'none') ask(system.networkClass, nameSource(system))
  return ids === undefined ? NO_SOURCES : Object.freeze(ids)
}

function weigh(
  match: RuleMatch,
  { agreeing, signs }: Readonly<Record<'agreeing' | 'signs', number>>,
  record: NetworkRecord | undefined,
  snapshot: Snapshot,
): Grounds {
  const { rule, networkClass, trust, narrow } = match
  const now = snapshot.clock?.now()
  const { tor, vpn, proxies } = snapshot.restsOn ?? {}
  const known = (list: AgingSource | undefined) => (list === undefined ? 0 : shareLeft(list, now))
  // A home line may as well be a SIM card of the same carrier.
  const hasSims = record?.system !== undefined && hasLinesAndSims(record.system.asn)
  return {
    rule,
    networkClass,
    narrow,
    agreeing,
    contradicted: record !== undefined && contradicts(record, networkClass),
    proxiesKnown: snapshot.proxiesLoaded ? shareLeft(proxies ?? {}, now) : 0,
    inDoubt: signs >= DOUBTING_SIGNS || (rule === 'operator_table' && hasSims),
    exitsKnown: snapshot.restsOn && Math.min(known(tor), known(vpn)),
    trust,
    kept: listGrounds(match, snapshot).reduce((kept, source) => kept * shareLeft(source, now), 1),
  }
}

/** Lists the sources of a class: the named one, and the table of systems where that said which system the address is in. */
function listGrounds({ source, method, date }: RuleMatch, snapshot: Snapshot): readonly AgingSource[] {
  const named: AgingSource = findSource(snapshot, source) ?? { id: source, lastTrue: date }
  const systems = method === 'asn' ? snapshot.restsOn?.systems : undefined
  return systems === undefined ? [named] : [named, systems]
}

/** Finds the oldest source of a finding, among those of its class, of its system, and the lists of exits that lack the address. */
function oldestBehind(match: RuleMatch, { asn }: NetworkFinding, snapshot: Snapshot): DatedSource | undefined {
  const { tor, vpn, systems } = snapshot.restsOn ?? {}
  const unnamed = [asn === undefined ? undefined : systems, ...(anonymises(match.networkClass) ? [] : [tor, vpn])]
  const all = [...listGrounds(match, snapshot), ...unnamed.filter((source) => source !== undefined)]
  return all.map(datedSource).reduce(olderSource, undefined)
}

/** This number of signs of a machine leaves an access network's class in doubt: none of 1,486 labelled homes has two. */
export const DOUBTING_SIGNS = 2

function machineSigns(observation: Observation | undefined, record: NetworkRecord | undefined): number {
  const { system, near, exitsBeside } = record ?? {}
  const isNamedAlone = system?.basis === 'name'
  const isNamedServer = observation !== undefined && isServersName(observation)
  const signs = [isNamedAlone, system?.hostLike, exitsBeside !== undefined, near !== undefined, isNamedServer]
  return signs.filter((sign) => sign).length
}

/** Hosting and home lines exclude each other; an anonymiser can run on either, so it contradicts nothing. */
function contradicts({ range, also, system }: NetworkRecord, networkClass: NetworkClass): boolean {
  const side = networkSide(networkClass)
  if (side === 0) return false
  const other = (said: NetworkClass | undefined): boolean => said !== undefined && networkSide(said) === -side
  return other(system?.networkClass) || other(range?.networkClass) || also.some((hit) => other(hit.networkClass))
}

function networkSide(networkClass: NetworkClass): -1 | 0 | 1 {
  if (networkClass === 'hosting' || networkClass === 'datacenter') return 1
  return networkClass === 'mobile' || networkClass === 'residential_clean' ? -1 : 0
}

/**
 * Returns the brand of a service. An access network's brand is the visitor's own carrier and no provider; nor does a VPN's brand count
 * where an operator has set the address to a weaker class.
 */
function nameProvider(match: RuleMatch | undefined, record: NetworkRecord | undefined): string {
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
