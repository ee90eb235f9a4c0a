import type { RangeHit } from '../ports/index.ts'
import type { NetworkClass } from '../vocabulary.ts'
import { PRIVATE_RELAY } from './private-relay.ts'

/*
 * Which source decides where several know an address. This file is the one place that says so:
 *
 *  1. reserved            the special-purpose registries
 *  2. operator override   `sallyport ip set`
 *  3. ip_state            single addresses with an expiry: feeds of addresses, and what was observed of one address
 *  4. tor
 *  5. vpn                 the private relay's own ranges first, then lists that name a provider, then the others
 *  6. residential_proxy
 *  7. datacenter          published cloud, crawler and service ranges
 *  8. hosting
 *  9. mobile
 * 10. residential_clean   access networks
 * 11. unknown
 *
 * From 4 on the class decides; within a class a range precedes the autonomous system, because it is more exact. What an
 * operator publishes of its own machines comes after the lists of 5 that name a service and before all else: whose
 * machine it is, its operator knows best. A hoster that rents to VPN services and others is `vpn` by step 5 only where
 * something nearer than the system says so; else any list that names an owner goes before it.
 * Within 3 the stronger class decides. Anonymisers come before the hosting they run in: almost every VPN exit and half
 * of the Tor exits sit in datacenter ranges, so the opposite order would hide them.
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

/** Ranks a class by its position in `CLASS_PRECEDENCE`, lower is stronger; `unknown` is last. */
export function classRank(networkClass: NetworkClass): number {
  const rank = (CLASS_PRECEDENCE as readonly NetworkClass[]).indexOf(networkClass)
  return rank === -1 ? CLASS_PRECEDENCE.length : rank
}

export type Ranked = Pick<RangeHit, 'networkClass' | 'single' | 'provider' | 'rule'>

/** Orders two hits, the stronger first; 0 for hits that may keep their order. */
export function compareHits(x: Ranked, y: Ranked): number {
  return Number(y.single) - Number(x.single) || rankHit(x) - rankHit(y)
}

/** Two classes leave room for the four kinds of a name. */
const NAME_RANKS = 4

/** This rank comes just before the VPN lists that name no service. */
const PUBLISHED_STRENGTH = classRank('vpn') * NAME_RANKS + 1.5

function rankHit(hit: Ranked): number {
  return hit.rule === 'published' ? PUBLISHED_STRENGTH : classRank(hit.networkClass) * NAME_RANKS + nameRank(hit)
}

/** A list that names a provider precedes one that knows only the class, and a list precedes a rule of ours. */
function nameRank({ provider, rule }: Ranked): number {
  if (provider === PRIVATE_RELAY) return 0
  if (provider !== '') return 1
  return rule === 'list' ? 2 : 3
}
