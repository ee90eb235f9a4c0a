import { type Address, formatAddress } from '../address/address.ts'
import { reservedRow } from '../address/reserved.ts'
import { describeTarget, type ParsedTarget, parseTarget } from '../address/target.ts'
import { SallyportError } from '../errors.ts'
import { countrySource, findCountry } from '../geo/find-country.ts'
import { locate } from '../geo/locate.ts'
import { createNameTurns, type NameTurns } from '../name-turns.ts'
import { olderSource } from '../network/ages.ts'
import { classify } from '../network/classify.ts'
import { ratePurity } from '../network/purity.ts'
import { riskScore } from '../network/risk.ts'
import type { Clock, Dns, Snapshot, Snapshots } from '../ports/index.ts'
import type { Degraded } from '../vocabulary.ts'
import { registrableDomain } from '../whois/domain.ts'
import type { Whois, WhoisAnswer } from '../whois/whois.ts'
import { asnAnswer, type LookupResult } from './result.ts'

export type Lookup = ReturnType<typeof createLookup>

export interface LookupPorts {
  readonly clock: Clock
  readonly dns: Dns
  readonly snapshots: Snapshots
  readonly whois: Whois
  /** Other lookups of names may share these turns; default its own. */
  readonly turns?: NameTurns | undefined
}

/** Limits the time of a hostname's lookup in all. */
const BUDGET_MS = 4_000

/** Looks up a target for `POST /v1/ip/lookup` and `GET /v1/demo/{ip}`. */
export function createLookup(ports: LookupPorts) {
  const { clock, dns, snapshots, whois, turns = createNameTurns() } = ports

  async function lookUp(parsed: ParsedTarget, asker?: string): Promise<LookupResult> {
    const until = clock.now() + BUDGET_MS
    const address = parsed.kind === 'hostname' ? await resolveName(parsed.hostname, dns) : parsed.address
    // The registry is asked after DNS, so it receives no name that does not resolve.
    const domain = parsed.kind === 'hostname' ? registrableDomain(parsed.hostname) : undefined
    const registration = domain === undefined ? undefined : await whois.find(domain, until - clock.now(), asker)
    const at = new Date(clock.now()).toISOString()
    return { ...(await answer(address, parsed, registration, snapshots.current())), at }
  }

  return {
    /**
     * Rejects with `invalid_target` or `unresolved_target`; `degraded` names a sub-lookup that fails. `asker` is the requesting client: its
     * hostnames take turns, and too many of them reject with `rate_limit_exceeded`.
     */
    async lookup(text: string, asker?: string): Promise<LookupResult> {
      const parsed = parseTarget(text)
      // Programs in this process may look up any number.
      if (parsed.kind !== 'hostname' || asker === undefined) return lookUp(parsed)
      return turns.run(asker, () => lookUp(parsed, asker))
    },
  }
}

/**
 * Returns the address that a hostname is judged by: the first public IPv4 answer, else the first public one; `target.ip` of the response
 * names it. A resolver inside a network knows names that the world does not: their addresses are not public, and the lookup refuses such a
 * name as if it did not exist.
 */
async function resolveName(name: string, dns: Dns): Promise<Address> {
  const answer = await dns.resolve(name)
  if (answer.state === 'failed') throw makeFault(name, 'the resolver gave no answer')
  const open = answer.state === 'found' ? answer.addresses.filter((address) => reservedRow(address) === undefined) : []
  const address = open.find(({ family }) => family === 4) ?? open[0]
  if (address === undefined) throw makeFault(name, 'it has no public address')
  return address
}

function makeFault(name: string, reason: string): SallyportError {
  return new SallyportError('unresolved_target', `The hostname ${name} could not be resolved: ${reason}.`)
}

async function answer(
  address: Address,
  parsed: ParsedTarget,
  registration: WhoisAnswer | undefined,
  snapshot: Snapshot,
): Promise<Omit<LookupResult, 'at'>> {
  const ip = formatAddress(address)
  const finding = classify(address, snapshot)
  const { reserved } = finding.reserved
  const located = reserved ? { geo: {}, degraded: false } : await locate(address, snapshot)
  const { anonymized, classification } = finding.verdict
  const oldest = olderSource(finding.oldest, countrySource(findCountry(address, finding, snapshot)))
  return {
    target: describeTarget(parsed, address),
    reserved: finding.reserved,
    verdict: finding.verdict,
    purity: ratePurity(finding),
    isVpn: anonymized,
    isProxy: anonymized,
    isTor: classification === 'tor',
    provider: finding.provider,
    riskScore: riskScore(finding),
    networkType: finding.asType,
    geo: { ip, ...located.geo },
    ...(located.source === undefined ? {} : { geoSource: located.source }),
    asn: asnAnswer(ip, finding),
    ...(registration?.state === 'registered' ? { whois: { domain: registration.domain, ...registration.record } } : {}),
    ...(oldest === undefined ? {} : { oldest }),
    degraded: listDegraded(snapshot, { reserved, geo: located.degraded, whois: registration?.state === 'failed' }),
  }
}

/**
 * Lists the sub-lookups that gave no answer (specification: LookupResult.degraded). Missing and old lists only lower the confidence. A
 * reserved address needs none of the data, so missing data does not degrade its answer.
 */
function listDegraded(
  snapshot: Snapshot,
  { reserved, geo, whois }: Readonly<Record<'reserved' | 'geo' | 'whois', boolean>>,
): readonly Degraded[] {
  const degraded: Degraded[] = []
  if (geo) degraded.push('geo')
  if (!reserved && snapshot.networks === undefined) degraded.push('asn')
  if (whois) degraded.push('whois')
  if (!reserved && snapshot.networks === undefined) degraded.push('ranges')
  return degraded
}
