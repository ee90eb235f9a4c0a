import type { NetworkFinding } from '../values/finding.ts'
import type { NetworkClass } from '../vocabulary.ts'
import { isPrivateRelay } from './private-relay.ts'

/** A class at full confidence has this risk, 0 to 100. */
const CLASS_RISK: Readonly<Record<NetworkClass, number>> = {
  residential_clean: 5,
  mobile: 5,
  hosting: 35,
  datacenter: 35,
  vpn: 70,
  residential_proxy: 85,
  tor: 95,
  unknown: 20,
}

/** The lower the confidence of a verdict, the nearer its risk is to this value. */
const UNDECIDED = CLASS_RISK.unknown

/** A private relay has at most this risk: its users have an account at the vendor, and little abuse comes from them. */
const RELAY_CEILING = CLASS_RISK.hosting

/**
 * Listed proxies beside a line draw its risk towards a proxy's by this share: the share of such lines that were listed soon after, and an
 * allowance for proxies that no list sees.
 */
const NEAR_PROXIES = 0.4

/**
 * Rates the risk of a finding (specification: riskScore): an integer from 0 to 100, the class's risk drawn towards 20 by the missing
 * confidence. A private relay is capped at 35; a reserved address is 0. Listed proxies beside a line raise it.
 */
export function riskScore(finding: NetworkFinding): number {
  if (finding.reserved.reserved) return 0
  const { classification, confidence } = finding.verdict
  const risk = Math.round(UNDECIDED + (CLASS_RISK[classification] - UNDECIDED) * confidence)
  if (finding.near !== undefined) return Math.round(risk + (CLASS_RISK.residential_proxy - risk) * NEAR_PROXIES)
  return isPrivateRelay(finding) ? Math.min(risk, RELAY_CEILING) : risk
}
