import type { Address } from '../address/address.ts'
import { reservedRow } from '../address/reserved.ts'
import type { AutonomousSystem, NetworkRecord, RangeHit, Snapshot, SourceStatus } from '../ports.ts'
import { anonymises, NETWORK_CLASSES, type NetworkClass } from '../vocabulary.ts'
import type { NetworkFinding, ReservedRange, Verdict, VerdictMethod } from './finding.ts'

/**
 * Which class wins where several sources speak of one address, strongest first. Ahead of the list stand a reserved
 * address and an observation of this one address (`ip_state`); behind it, nothing known is `unknown`. Within a class
 * a range hit speaks before the autonomous system, because it is more exact.
 *
 * Anonymisers come before the hosting they run in: almost every VPN exit and half of the Tor exits sit in datacenter
 * ranges, so the opposite order would hide them.
 */
export const CLASS_PRECEDENCE = [
  'tor',
  'vpn',
  'residential_proxy',
  'datacenter',
  'hosting',
  'mobile',
  'residential_clean',
] as const satisfies readonly NetworkClass[]

/** Position in `CLASS_PRECEDENCE` as a number, lower is stronger; `unknown` is last. */
export function classRank(networkClass: NetworkClass): number {
  const rank = (CLASS_PRECEDENCE as readonly NetworkClass[]).indexOf(networkClass)
  return rank === -1 ? CLASS_PRECEDENCE.length : rank
}

const NOT_RESERVED: ReservedRange = Object.freeze({ reserved: false })

const NOTHING_KNOWN: Verdict = Object.freeze({
  classification: 'unknown',
  anonymized: false,
  confidence: 0,
  method: 'asn',
})

const RESERVED_VERDICT: Verdict = Object.freeze({
  classification: 'unknown',
  anonymized: false,
  confidence: 1,
  method: 'reserved',
})

/** What a listed range or address is worth. Public lists are right about most of what they hold, none about all. */
const RANGE_CONFIDENCE = 0.9
const SINGLE_CONFIDENCE = 0.95

/** What the operator table and the name rules are worth, by class: a name says less than a row written by hand. */
const SYSTEM_CONFIDENCE: Readonly<Record<NetworkClass, readonly [operator: number, name: number]>> = {
  tor: [0.9, 0.7],
  vpn: [0.85, 0.7],
  residential_proxy: [0.8, 0.6],
  datacenter: [0.9, 0.7],
  hosting: [0.85, 0.7],
  mobile: [0.85, 0.7],
  // Residential proxies live on home lines and no range shows them: without proxy data this can never be sure.
  residential_clean: [0.6, 0.5],
  unknown: [0, 0],
}

/** Every verdict that data can lead to, made once: a request picks one and makes none. */
const RANGE_VERDICTS = verdictsOf((networkClass) => [`range:${networkClass}`, RANGE_CONFIDENCE])
const SINGLE_VERDICTS = verdictsOf(() => ['ip_state', SINGLE_CONFIDENCE])
const OPERATOR_VERDICTS = verdictsOf((networkClass) => ['asn', SYSTEM_CONFIDENCE[networkClass][0]])
const NAME_VERDICTS = verdictsOf((networkClass) => ['asn', SYSTEM_CONFIDENCE[networkClass][1]])

function verdictsOf(
  basis: (networkClass: NetworkClass) => readonly [method: VerdictMethod, confidence: number],
): Readonly<Record<NetworkClass, Verdict>> {
  const rows = NETWORK_CLASSES.map((classification) => {
    const [method, confidence] = basis(classification)
    const anonymized = anonymises(classification)
    return [classification, Object.freeze({ classification, anonymized, confidence, method })] as const
  })
  return Object.fromEntries(rows) as Record<NetworkClass, Verdict>
}

/**
 * The network verdict of one address, from memory alone (specification: Verdict; precedence: `CLASS_PRECEDENCE`).
 * Never throws: a table that is not loaded leaves the class `unknown`, confidence 0.
 */
export function classify(address: Address, snapshot: Snapshot): NetworkFinding {
  const reserved = reservedRow(address)
  if (reserved !== undefined) {
    return Object.freeze({
      reserved: Object.freeze({ reserved: true, label: reserved.label, detail: reserved.detail }),
      verdict: RESERVED_VERDICT,
      provider: '',
      asType: 'unknown',
    })
  }
  const record = snapshot.networks?.find(address)
  return record === undefined
    ? Object.freeze({ reserved: NOT_RESERVED, verdict: NOTHING_KNOWN, provider: '', asType: 'unknown' })
    : findingOf(record, snapshot.sources)
}

function findingOf(record: NetworkRecord, sources: readonly SourceStatus[]): NetworkFinding {
  const { system, range } = record
  const known = system !== undefined && system.networkClass !== 'unknown' ? system : undefined
  const decider = range !== undefined && rangeWins(range, known) ? range : known
  // Filled in step by step: a spread per optional member would cost more than the whole lookup.
  const finding: { -readonly [Member in keyof NetworkFinding]: NetworkFinding[Member] } = {
    reserved: NOT_RESERVED,
    verdict: decider === undefined ? NOTHING_KNOWN : verdictOf(decider),
    provider: providerOf(decider, range, system),
    asType: system === undefined ? 'unknown' : system.type,
  }
  if (system !== undefined) {
    finding.asn = system.asn
    finding.asName = system.name
    if (system.country !== undefined) finding.asCountry = system.country
  }
  if (decider !== undefined) {
    const source = sourceOf(decider)
    finding.source = source
    const date = sources.find(({ id }) => id === source)?.date
    if (date !== undefined) finding.sourceDate = date
  }
  return Object.freeze(finding)
}

function rangeWins(range: RangeHit, system: AutonomousSystem | undefined): boolean {
  return range.single || system === undefined || classRank(range.networkClass) <= classRank(system.networkClass)
}

function verdictOf(decider: RangeHit | AutonomousSystem): Verdict {
  const { networkClass } = decider
  if ('single' in decider) return (decider.single ? SINGLE_VERDICTS : RANGE_VERDICTS)[networkClass]
  return (decider.basis === 'operator' ? OPERATOR_VERDICTS : NAME_VERDICTS)[networkClass]
}

function sourceOf(decider: RangeHit | AutonomousSystem): string {
  if ('single' in decider) return decider.source
  return decider.basis === 'operator' ? 'operators' : 'organisation-names'
}

/** The brand behind a service. An access network's brand is the visitor's own carrier, not a provider of anything. */
function providerOf(decider?: RangeHit | AutonomousSystem, range?: RangeHit, system?: AutonomousSystem): string {
  if (range !== undefined && range.provider !== '') return range.provider
  const rank = decider === undefined ? CLASS_PRECEDENCE.length : classRank(decider.networkClass)
  return rank <= classRank('hosting') && system !== undefined ? system.brand : ''
}
