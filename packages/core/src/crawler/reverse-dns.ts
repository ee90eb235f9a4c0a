import { type Address, formatAddress } from '../address/address.ts'
import { sameAddress } from '../address/address-order.ts'
import { publicName } from '../address/hostname.ts'
import type { Dns, KeptReverseCheck } from '../ports/index.ts'
import { isOfPattern, type NamePattern } from './name-pattern.ts'

/** Reverse DNS gives this answer for an address. */
export type ReverseFinding = Pick<KeptReverseCheck, 'status' | 'detail' | 'hostname'>

/** Limits the names of an answer that are read; a crawler's address has one. */
const MAX_NAMES = 10

/**
 * Checks forward-confirmed reverse DNS: the address has a name of the operator's, and that name has the address. Only an answer without a
 * name, or with another's, refutes; every other is `could-not-run`. Never rejects.
 */
export async function checkReverseDns(
  dns: Dns,
  address: Address,
  patterns: readonly NamePattern[],
): Promise<ReverseFinding> {
  const ip = formatAddress(address)
  const answer = await dns.resolvePtr(address)
  switch (answer.state) {
    case 'failed':
      return { status: 'could-not-run', detail: `The reverse name of ${ip} could not be resolved: ${answer.reason}.` }
    case 'absent':
      return { status: 'refuted', detail: `${ip} has no reverse name.` }
    case 'found': {
      const names = answer.names.slice(0, MAX_NAMES).flatMap(hostNames)
      const fitting = names.filter((name) => patterns.some((pattern) => isOfPattern(name, pattern)))
      if (fitting.length > 0) return confirm(dns, address, fitting)
      const wanted = patterns.map(({ text }) => text).join(', ')
      const [hostname] = names
      return hostname === undefined
        ? { status: 'refuted', detail: `${ip} has no usable reverse name; it should be ${wanted}.` }
        : { status: 'refuted', detail: `The reverse name of ${ip} is ${hostname}; it should be ${wanted}.`, hostname }
    }
  }
}

/** Returns the name in lower case without the final dot if it is a host's: letters, digits and inner hyphens; none for any other. */
function hostNames(name: string): readonly string[] {
  const host = publicName(name.toLowerCase())
  return host === undefined ? [] : [host]
}

/** Asks for one name after the other: a check sends one query at a time, however many names the address has. */
async function confirm(dns: Dns, address: Address, names: readonly string[]): Promise<ReverseFinding> {
  const ip = formatAddress(address)
  let unasked: ReverseFinding | undefined
  for (const name of names) {
    const answer = await dns.resolve(name, address.family)
    if (answer.state === 'failed') {
      const detail = `The reverse name ${name} of ${ip} could not be resolved: ${answer.reason}.`
      unasked ??= { status: 'could-not-run', detail }
    } else if (answer.state === 'found' && answer.addresses.some((own) => sameAddress(own, address))) {
      return { status: 'passed', detail: `The reverse name of ${ip} is ${name}, which resolves to it.`, hostname: name }
    }
  }
  // `hostname` is left out: the name is a false claim about another's domain.
  const detail = `The reverse name of ${ip} is ${names.join(', ')}, which does not resolve to it.`
  return unasked ?? { status: 'refuted', detail }
}
