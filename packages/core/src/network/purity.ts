import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'
import { isPrivateRelay } from './private-relay.ts'

/** Lists the grades, best first. */
export const GRADES = ['S+', 'S', 'A', 'B', 'C'] as const
export type Grade = (typeof GRADES)[number]

export const PURITY_VERDICTS = ['clean', 'suspect', 'dirty'] as const

/** Explains why an address is less clean; `points` is negative. */
export interface Deduction {
  readonly factor: string
  readonly points: number
  readonly detail: string
}

/** Scores how clean an address is (specification: Purity). `score` is 100 plus the deductions' points, never below 0; higher is cleaner. */
export interface Purity {
  readonly score: number
  readonly grade: Grade
  readonly verdict: (typeof PURITY_VERDICTS)[number]
  readonly deductions: readonly Deduction[]
}

/** Each class has a deduction: smaller for infrastructure than for anonymisation, and small for the unknown. */
const CLASS_DEDUCTIONS: Readonly<Record<NetworkClass, Deduction | undefined>> = {
  residential_clean: undefined,
  mobile: undefined,
  hosting: { factor: 'hosting', points: -25, detail: 'The network belongs to a hosting company.' },
  datacenter: { factor: 'datacenter', points: -25, detail: 'The network belongs to a public cloud or datacenter.' },
  vpn: { factor: 'vpn', points: -55, detail: 'The address is an exit of a VPN or relay service.' },
  residential_proxy: { factor: 'residential_proxy', points: -65, detail: 'The address is sold or abused as a proxy.' },
  tor: { factor: 'tor', points: -75, detail: 'The address is an exit of the Tor network.' },
  unknown: { factor: 'unknown_network', points: -10, detail: 'The class of this network is unknown.' },
}

const RESERVED_DEDUCTION: Deduction = {
  factor: 'reserved',
  points: -100,
  detail: 'The address is not publicly routable, so no visitor from the internet can have it.',
}

const RELAY_DEDUCTION: Deduction = {
  factor: 'private_relay',
  points: -25,
  detail: 'The address is an exit of a private relay, which hides the location of people and carries few bots.',
}

const NO_SYSTEM_DEDUCTION: Deduction = {
  factor: 'unrouted',
  points: -15,
  detail: 'The address is in no known autonomous system.',
}

const NEAR_DEDUCTION: Deduction = {
  factor: 'proxies_beside_it',
  points: -15,
  detail: 'Neighbouring addresses were listed as proxies in recent days. This address was not listed.',
}

/** Each grade has a lowest score. */
const GRADE_FLOORS: Readonly<Record<Grade, number>> = { 'S+': 95, S: 85, A: 70, B: 45, C: 0 }

/** Scores from `CLEAN_FLOOR` up are clean, below `SUSPECT_FLOOR` dirty. */
const CLEAN_FLOOR = 85
const SUSPECT_FLOOR = 46

/** Rates how clean a finding is: the deductions table, then grade and verdict by the floors above. */
export function ratePurity(finding: NetworkFinding): Purity {
  const deductions = listDeductions(finding)
  const points = deductions.reduce((sum, deduction) => sum + deduction.points, 100)
  const score = Math.max(0, points)
  const grade = GRADES.find((name) => score >= GRADE_FLOORS[name]) ?? 'C'
  const verdict = score >= CLEAN_FLOOR ? 'clean' : score >= SUSPECT_FLOOR ? 'suspect' : 'dirty'
  return { score, grade, verdict, deductions }
}

function listDeductions(finding: NetworkFinding): readonly Deduction[] {
  if (finding.reserved.reserved) return [RESERVED_DEDUCTION]
  const byClass = isPrivateRelay(finding) ? RELAY_DEDUCTION : CLASS_DEDUCTIONS[finding.verdict.classification]
  return [
    ...(byClass === undefined ? [] : [byClass]),
    ...(finding.near === undefined ? [] : [NEAR_DEDUCTION]),
    ...(finding.asn === undefined ? [NO_SYSTEM_DEDUCTION] : []),
  ]
}
