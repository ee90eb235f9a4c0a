import { anonymises, findSystemType, formatAddress, type NetworkClass, SallyportError } from '@sallyport/core'
import { MAX_COUNTRIES } from '../parse/contents.ts'
import { canaryIn } from '../parse/list.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { measureCoverage } from '../ranges/coverage.ts'
import { entryAt, type Ranges, sumSizes } from '../ranges/ranges.ts'

/*
 * A file of systems names the operator of every address, and the operator table and the name rules make a class of that:
 * its publisher could call the whole internet an anonymiser. So the classes are bounded by what was measured in the
 * real file in 2026-06, in shares of what the file holds. A real shift beyond the bounds waits for a release.
 */

/** Measured: anonymising 0.1 % and 0.5 %, machines for rent 16 % and 30 %, mobile 7 % and 3 %. */
const MAX_HELD = {
  anonymising: { 4: 1 / 128, 6: 1 / 32 },
  machines: { 4: 1 / 2, 6: 1 / 2 },
  mobile: { 4: 1 / 4, 6: 1 / 4 },
} as const

/** The share that one system may hold. Measured: 7 %, and 22 % of IPv6. */
const MAX_OF_ONE = 1 / 2

/** Addresses that a smaller file, such as one of a company's own networks, is taken to hold: half of the real one. */
const MIN_HELD = { 4: 2 ** 31, 6: 2 ** 113 } as const

/** Throws `corrupt_data` naming the file where its systems, as they are typed by name and number, cannot be the real ones. */
export function requirePlausibleSystems({ ranges, asns, names }: SystemRanges, path: string): void {
  const { family } = ranges
  const held = Math.max(measureCoverage(ranges), MIN_HELD[family])
  const kinds = asns.map((asn, system) => heldKind(findSystemType(asn, names[system] as string).networkClass))
  const refuse = (what: string) => {
    throw new SallyportError('corrupt_data', `${path}: ${what}`)
  }
  for (const [range, system] of ranges.values.entries()) {
    const canary = kinds[system] === 'anonymising' ? canaryIn(entryAt(ranges, range)) : undefined
    if (canary !== undefined) refuse(`the file assigns a public service to an anonymiser: ${formatAddress(canary)}`)
  }
  const sizes = sumSizes(ranges, asns.length)
  for (const kind of ['anonymising', 'machines', 'mobile'] as const) {
    const ofKind = sizes.reduce((sum, size, system) => (kinds[system] === kind ? sum + size : sum), 0)
    if (ofKind > held * MAX_HELD[kind][family])
      refuse(`the file assigns too much of IPv${family} to ${KIND_NAMES[kind]}`)
  }
  if (sizes.some((size) => size > held * MAX_OF_ONE)) refuse(`the file assigns most of IPv${family} to one AS`)
}

/** One country. Measured: the United States have 44 % of IPv4 and 29 % of IPv6. */
const MAX_OF_COUNTRY = 3 / 5

/** Throws `corrupt_data` naming the file where one country has more addresses than any can. */
export function requirePlausibleCountries(ranges: Ranges, path: string): void {
  const { family } = ranges
  // The first sum is of addresses without a country.
  const sizes = sumSizes(ranges, MAX_COUNTRIES + 1).subarray(1)
  const most = Math.max(measureCoverage(ranges), MIN_HELD[family]) * MAX_OF_COUNTRY
  if (sizes.some((size) => size > most)) {
    throw new SallyportError('corrupt_data', `${path}: the file assigns most of IPv${family} to one country`)
  }
}

const KIND_NAMES = { anonymising: 'anonymisers', machines: 'hosting and clouds', mobile: 'mobile carriers' } as const

function heldKind(networkClass: NetworkClass): keyof typeof MAX_HELD | undefined {
  if (anonymises(networkClass)) return 'anonymising'
  if (networkClass === 'hosting' || networkClass === 'datacenter') return 'machines'
  return networkClass === 'mobile' ? 'mobile' : undefined
}
