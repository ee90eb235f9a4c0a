import { type Address, address4, lastAddress, parseAddress, parseAsn, parsePrefix } from '@sallyport/core'
import { createRangeWriter } from '../ranges/ranges.ts'
import type { CsvFile } from './csv.ts'
import { readLines, requireMostlyGood } from './lines.ts'
import type { SystemRanges } from './system-ranges.ts'

/** Delegations with these statuses have holders. A line is `registry|CC|kind|start|count|date|status|holder`. */
const HELD: ReadonlySet<string> = new Set(['allocated', 'assigned'])

/**
 * Reads the extended delegation statistics of the registries (RIR statistics exchange format): each range with the first
 * autonomous system of its holder. Ranges of holders without one are left out, as are heads, sums and what is free. Throws
 * `corrupt_data` naming the file when more than 1 % of the lines are bad, or all.
 */
export function readDelegations({ path, bytes }: CsvFile): Readonly<Record<4 | 6, SystemRanges>> {
  const systems = new Map<string, number>()
  const held: { readonly family: 4 | 6; readonly start: string; readonly size: string; readonly holder: string }[] = []
  let good = 0
  let bad = 0
  for (const line of readLines(bytes)) {
    const [registry = '', , kind, start = '', size = '', , status = '', holder = ''] = line.split('|')
    if (line.startsWith('#') || status === 'summary' || line.trim() === '' || /^[\d.]+$/.test(registry)) continue
    if (kind !== 'asn' && kind !== 'ipv4' && kind !== 'ipv6') bad++
    else {
      good++
      if (!HELD.has(status) || holder === '') continue
      const owner = `${registry} ${holder}`
      const asn = kind === 'asn' ? parseAsn(start) : undefined
      if (kind !== 'asn') held.push({ family: kind === 'ipv4' ? 4 : 6, start, size, holder: owner })
      else if (asn !== undefined && asn > 0 && !systems.has(owner)) systems.set(owner, asn)
    }
  }
  const writers = { 4: createRangeWriter(4), 6: createRangeWriter(6) }
  const asns = [...new Set(systems.values())]
  const numbers = new Map(asns.map((asn, number) => [asn, number]))
  for (const { family, start, size, holder } of held) {
    const asn = systems.get(holder)
    const first = parseAddress(start)
    const last = family === 4 ? findLast4(first, Number(size)) : findLast6(start, size)
    if (first?.family !== family || last === undefined) {
      good--
      bad++
    } else if (asn !== undefined) writers[family].add(first, last, numbers.get(asn) as number)
  }
  requireMostlyGood({ good, bad }, path)
  const named = { asns, names: asns.map((asn) => `AS${asn}`) }
  return { 4: { ranges: writers[4].finish(), ...named }, 6: { ranges: writers[6].finish(), ...named } }
}

/** Returns the last address of a block, which need not be a prefix; `undefined` when the block is invalid. */
function findLast4(first: Address | undefined, count: number): Address | undefined {
  if (first?.family !== 4 || !Number.isInteger(count) || count < 1) return undefined
  const last = (first.d >>> 0) + count - 1
  return last < 2 ** 32 ? address4(last | 0) : undefined
}

function findLast6(start: string, length: string): Address | undefined {
  const prefix = parsePrefix(`${start}/${length}`)
  return prefix?.address.family === 6 ? lastAddress(prefix) : undefined
}
