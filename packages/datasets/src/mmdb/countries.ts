import { createSegmentWriter, type Segments } from '../compile/segments.ts'
import { createRecordFields } from './fields.ts'
import { corrupt, type MmdbFile, recordOffset, recordReader } from './file.ts'

/** Gives a country's number for its two letters (`first << 8 | second`; -1 for none); 0 means unknown. */
export type CountryNumber = (letters: number) => number

export interface WalkedCountries {
  readonly segments: Segments
  /** Networks in the tree that have a record. */
  readonly networks: number
}

const KEYS = {
  flat: Buffer.from('country_code'),
  used: Buffer.from('country'),
  registered: Buffer.from('registered_country'),
  code: Buffer.from('iso_code'),
}

/** Trees share some branches on purpose (IPv4 under several IPv6 prefixes). More visits than this mean a circle. */
const MOST_VISITS = 8

/**
 * Walks the tree of a city or country database once and lays one family's countries out as segments. Reads the flat
 * layout (`country_code`) and MaxMind's (`country.iso_code`, else `registered_country.iso_code`). Throws
 * `corrupt_data` naming the file.
 */
export function walkCountries(
  file: MmdbFile,
  family: 4 | 6,
  number: CountryNumber,
  onProgress: (share: number) => void = () => {},
): WalkedCountries {
  const { nodeCount, ipVersion, path } = file
  const record = recordReader(file)
  const countryAt = countryReader(file, number)
  const writer = createSegmentWriter(65_536)
  const ipv4Root = ipVersion === 4 ? 0 : findIpv4Root(record, nodeCount)
  // IPv4 in an IPv6 tree is walked for IPv4 alone; ::/96 and its aliases are no addresses that a client can have.
  const skipped = family === 6 && ipVersion === 6 ? ipv4Root : -1
  const nodes = new Float64Array(130)
  const depths = new Uint8Array(130)
  const words = new Uint32Array(130 * 4)
  let networks = 0
  let visits = 0
  let top = 0
  nodes[0] = family === 4 ? ipv4Root : 0
  depths[0] = family === 4 ? 96 : 0

  while (top >= 0) {
    const node = nodes[top] as number
    const depth = depths[top] as number
    const at = top * 4
    top--
    if (node >= nodeCount || (node === skipped && depth > 0)) {
      const known = node > nodeCount
      if (known) networks++
      const value = known ? countryAt(recordOffset(file, node)) : 0
      writer.push(words[at] as number, words[at + 1] as number, words[at + 2] as number, words[at + 3] as number, value)
      continue
    }
    if (depth === 128) throw corrupt(path, 'the search tree is deeper than an address')
    if (++visits > nodeCount * MOST_VISITS) throw corrupt(path, 'the search tree runs in a circle')
    if ((visits & 0xfffff) === 0) onProgress(Math.min(visits / nodeCount, 1))
    // Left stays on top of the stack, so that addresses come in order; right has this depth's bit set.
    const right = top + 1
    const left = top + 2
    words.copyWithin(left * 4, at, at + 4)
    words[right * 4 + (depth >>> 5)] = (words[right * 4 + (depth >>> 5)] as number) | (1 << (31 - (depth & 31)))
    nodes[right] = record(node, true)
    nodes[left] = record(node, false)
    depths[right] = depth + 1
    depths[left] = depth + 1
    top = left
  }
  return { segments: writer.finish(), networks }
}

function findIpv4Root(record: (node: number, right: boolean) => number, nodeCount: number): number {
  let node = 0
  for (let depth = 0; depth < 96 && node < nodeCount; depth++) node = record(node, false)
  return node
}

function countryReader(file: MmdbFile, number: CountryNumber): (at: number) => number {
  const { field, letters, isMap } = createRecordFields(file)
  const codeIn = (at: number, key: Buffer): number => {
    const country = field(at, key)
    const code = country === -1 || !isMap(country) ? -1 : field(country, KEYS.code)
    return code === -1 ? -1 : letters(code)
  }
  // Millions of networks share some hundred thousand records: what a record says is kept by where it stands, plus 1.
  const { dataStart, dataEnd, path } = file
  const kept = new Uint8Array(dataEnd - dataStart)
  return (at) => {
    const known = kept[at - dataStart]
    if (known === undefined) throw corrupt(path, 'a record outside the data section')
    if (known !== 0) return known - 1
    const country = readCountry(at)
    kept[at - dataStart] = country + 1
    return country
  }

  function readCountry(at: number): number {
    if (!isMap(at)) throw corrupt(path, 'a record that is not a map')
    const flat = field(at, KEYS.flat)
    if (flat !== -1) return number(letters(flat))
    const used = codeIn(at, KEYS.used)
    return number(used === -1 ? codeIn(at, KEYS.registered) : used)
  }
}
