import { anonymises, formatAddress, type NetworkClass, SallyportError, typeOfSystem } from '@sallyport/core'
import { MAX_COUNTRIES } from '../parse/contents.ts'
import { canaryIn } from '../parse/list.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { measureCoverage } from '../ranges/coverage.ts'
import { entryAt, measureRange, type Ranges } from '../ranges/ranges.ts'

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
  const { family, values, count } = ranges
  const held = Math.max(measureCoverage(ranges), MIN_HELD[family])
  const kinds = asns.map((asn, system) => heldKind(typeOfSystem(asn, names[system] as string).networkClass))
  const ofKind = { anonymising: 0, machines: 0, mobile: 0 }
  const ofSystem = new Float64Array(asns.length)
  const refuse = (what: string) => {
    throw new SallyportError('corrupt_data', `${path}: ${what}`)
  }
  for (let range = 0; range < count; range++) {
    const system = values[range] as number
    const kind = kinds[system]
    const size = measureRange(ranges, range)
    ofSystem[system] = (ofSystem[system] as number) + size
    if (kind !== undefined) ofKind[kind] += size
    const canary = kind === 'anonymising' ? canaryIn(entryAt(ranges, range)) : undefined
    if (canary !== undefined) refuse(`the file assigns a public service to an anonymiser: ${formatAddress(canary)}`)
  }
  for (const kind of ['anonymising', 'machines', 'mobile'] as const) {
    if (ofKind[kind] > held * MAX_HELD[kind][family])
      refuse(`the file assigns too much of IPv${family} to ${KIND_NAMES[kind]}`)
  }
  if (ofSystem.some((size) => size > held * MAX_OF_ONE)) refuse(`the file assigns most of IPv${family} to one AS`)
}

/** One country. Measured: the United States have 44 % of IPv4 and 29 % of IPv6. */
const MAX_OF_COUNTRY = 3 / 5

/** Throws `corrupt_data` naming the file where one country has more addresses than any can. */
export function requirePlausibleCountries(ranges: Ranges, path: string): void {
  const { family, values, count } = ranges
  const ofCountry = new Float64Array(MAX_COUNTRIES + 1)
  for (let range = 0; range < count; range++) {
    const country = values[range] as number
    if (country !== 0) ofCountry[country] = (ofCountry[country] as number) + measureRange(ranges, range)
  }
  const most = Math.max(measureCoverage(ranges), MIN_HELD[family]) * MAX_OF_COUNTRY
  if (ofCountry.some((size) => size > most)) {
    throw new SallyportError('corrupt_data', `${path}: the file assigns most of IPv${family} to one country`)
  }
}

const KIND_NAMES = { anonymising: 'anonymisers', machines: 'hosting and clouds', mobile: 'mobile carriers' } as const

function heldKind(networkClass: NetworkClass): keyof typeof MAX_HELD | undefined {
  if (anonymises(networkClass)) return 'anonymising'
  if (networkClass === 'hosting' || networkClass === 'datacenter') return 'machines'
  return networkClass === 'mobile' ? 'mobile' : undefined
}
