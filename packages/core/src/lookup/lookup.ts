import { type Address, formatAddress } from '../address/address.ts'
import { reservedRow } from '../address/reserved.ts'
import { type ParsedTarget, parseTarget, targetOf } from '../address/target.ts'
import { SallyportError } from '../errors.ts'
import { locate } from '../geo/locate.ts'
import { classify } from '../network/classify.ts'
import { purityOf } from '../network/purity.ts'
import { riskScore } from '../network/risk.ts'
import type { Clock, Dns, Snapshot, Snapshots } from '../ports.ts'
import type { Degraded } from '../vocabulary.ts'
import { asnAnswer, type LookupResult } from './result.ts'

/** The combined lookup behind `POST /v1/ip/lookup` and `GET /v1/demo/{ip}`. */
export interface Lookup {
  /** Rejects with `invalid_target` or `unresolved_target`; a sub-lookup that fails is named in `degraded`. */
  lookup(target: string): Promise<LookupResult>
}

export interface LookupPorts {
  readonly clock: Clock
  readonly dns: Dns
  readonly snapshots: Snapshots
}

export function createLookup({ clock, dns, snapshots }: LookupPorts): Lookup {
  return {
    async lookup(text) {
      const parsed = parseTarget(text)
      const address = parsed.kind === 'hostname' ? await resolveName(parsed.hostname, dns) : parsed.address
      return answer(parsed, address, snapshots.current(), new Date(clock.now()).toISOString())
    },
  }
}

/**
 * The address a hostname is judged by: the first public IPv4 answer, else the first public one, else the first. One
 * name can have many addresses; the answer says in `target.ip` which was looked at.
 */
async function resolveName(name: string, dns: Dns): Promise<Address> {
  const answer = await dns.resolve(name)
  if (answer.state !== 'found') {
    const reason = answer.state === 'absent' ? 'it has no address' : 'the resolver gave no answer'
    throw new SallyportError('unresolved_target', `The hostname ${name} could not be resolved: ${reason}.`)
  }
  const open = answer.addresses.filter((address) => reservedRow(address) === undefined)
  const address = open.find(({ family }) => family === 4) ?? open[0] ?? answer.addresses[0]
  if (address === undefined) throw new SallyportError('unresolved_target')
  return address
}

function answer(parsed: ParsedTarget, address: Address, snapshot: Snapshot, at: string): LookupResult {
  const ip = formatAddress(address)
  const finding = classify(address, snapshot)
  const { reserved } = finding.reserved
  const located = reserved ? { geo: {}, degraded: false } : locate(address, snapshot)
  const { anonymized, classification } = finding.verdict
  return {
    target: targetOf(parsed, address),
    reserved: finding.reserved,
    verdict: finding.verdict,
    purity: purityOf(finding),
    isVpn: anonymized,
    isProxy: anonymized,
    isTor: classification === 'tor',
    provider: finding.provider,
    riskScore: riskScore(finding),
    networkType: finding.asType,
    geo: { ip, ...located.geo },
    asn: asnAnswer(ip, finding),
    degraded: degradedOf(parsed, snapshot, reserved, located.degraded),
    at,
  }
}

/** A reserved address needs none of the data, so nothing that is missing degrades its answer. */
function degradedOf(parsed: ParsedTarget, snapshot: Snapshot, reserved: boolean, geo: boolean): readonly Degraded[] {
  const degraded: Degraded[] = []
  if (geo) degraded.push('geo')
  if (!reserved && snapshot.networks === undefined) degraded.push('asn')
  if (parsed.kind === 'hostname') degraded.push('whois')
  if (!reserved && !snapshot.rangesLoaded) degraded.push('ranges')
  return degraded
}
