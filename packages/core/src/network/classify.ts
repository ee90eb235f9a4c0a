import type { Address } from '../address/address.ts'
import { reservedRow } from '../address/reserved.ts'
import type { AutonomousSystem, NetworkRecord, RangeHit, Snapshot, SourceStatus } from '../ports.ts'
import { anonymises, type NetworkClass } from '../vocabulary.ts'
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

/** One source's word on a record: its class, what that is worth, and how the wire names it. */
interface Evidence {
  readonly networkClass: NetworkClass
  readonly confidence: number
  readonly method: VerdictMethod
  readonly source: string
}

function findingOf(record: NetworkRecord, sources: readonly SourceStatus[]): NetworkFinding {
  const { system, range } = record
  const evidence = strongest(range, system)
  // Filled in step by step: a spread per optional member would cost more than the whole lookup.
  const finding: { -readonly [Member in keyof NetworkFinding]: NetworkFinding[Member] } = {
    reserved: NOT_RESERVED,
    verdict: evidence === undefined ? NOTHING_KNOWN : verdictOf(evidence),
    provider: providerOf(evidence, range, system),
    asType: system === undefined ? 'unknown' : system.type,
  }
  if (system !== undefined) {
    finding.asn = system.asn
    finding.asName = system.name
    if (system.country !== undefined) finding.asCountry = system.country
  }
  if (evidence !== undefined) {
    finding.source = evidence.source
    const date = sources.find((source) => source.id === evidence.source)?.date
    if (date !== undefined) finding.sourceDate = date
  }
  return Object.freeze(finding)
}

/** The brand behind a service. An access network's brand is the visitor's own carrier, not a provider of anything. */
function providerOf(evidence: Evidence | undefined, range?: RangeHit, system?: AutonomousSystem): string {
  if (range !== undefined && range.provider !== '') return range.provider
  const rank = evidence === undefined ? CLASS_PRECEDENCE.length : classRank(evidence.networkClass)
  return rank <= classRank('hosting') ? (system?.brand ?? '') : ''
}

function strongest(range: RangeHit | undefined, system: AutonomousSystem | undefined): Evidence | undefined {
  const known = system !== undefined && system.networkClass !== 'unknown'
  if (range === undefined) return known ? systemEvidence(system) : undefined
  const rangeWins = !known || range.single || classRank(range.networkClass) <= classRank(system.networkClass)
  return rangeWins ? rangeEvidence(range) : systemEvidence(system)
}

function rangeEvidence(range: RangeHit): Evidence {
  const { networkClass, source } = range
  return range.single
    ? { networkClass, confidence: SINGLE_CONFIDENCE, method: 'ip_state', source }
    : { networkClass, confidence: RANGE_CONFIDENCE, method: `range:${networkClass}`, source }
}

function systemEvidence(system: AutonomousSystem): Evidence {
  const [operator, name] = SYSTEM_CONFIDENCE[system.networkClass]
  return system.basis === 'operator'
    ? { networkClass: system.networkClass, confidence: operator, method: 'asn', source: 'operators' }
    : { networkClass: system.networkClass, confidence: name, method: 'asn', source: 'organisation-names' }
}

function verdictOf(evidence: Evidence): Verdict {
  return Object.freeze({
    classification: evidence.networkClass,
    anonymized: anonymises(evidence.networkClass),
    confidence: evidence.confidence,
    method: evidence.method,
  })
}
