import { type Address, formatAddress, parseAddress } from '../address/address.ts'
import { type Prefix, parsePrefix, prefixContains } from '../address/prefix.ts'
import { foldName } from '../asn/directory.ts'
import type { Counts, CountTask } from '../counting/ports.ts'
import { type CountRow, giveBack, takeStep } from '../counting/step.ts'
import type {
  AutonomousSystem,
  Clock,
  CountryTable,
  Dns,
  GeoReader,
  GeoRecord,
  NameAnswer,
  NetworkRecord,
  NetworkTable,
  RangeHit,
  ReverseAnswer,
  Snapshot,
  Snapshots,
  SourceStatus,
  SystemTable,
} from '../ports/index.ts'
import type { DirectoryOrder } from '../vocabulary.ts'
import type { Whois, WhoisAnswer } from '../whois/whois.ts'

function given<Value>(value: Value | undefined, text: string): Value {
  if (value === undefined) throw new TypeError(`there is none: ${text}`)
  return value
}

/** Parses an address, and a prefix, that a test writes as text. */
export const makeAddress = (text: string): Address => given(parseAddress(text), text)
export const readPrefix = (text: string): Prefix => given(parsePrefix(text), text)

/** A clock that moves only by `advance`. */
export interface FakeClock extends Clock {
  advance(ms: number): void
}

export function createFakeClock(at: string): FakeClock {
  let now = Date.parse(at)
  return {
    now: () => now,
    advance(ms) {
      now += ms
    },
  }
}

/** Counts by the steps on a clock, and keeps everything; `taken` and `left` hold the tasks and keys as they came. */
export function createFakeCounts({ now }: Clock): Counts & { readonly taken: CountTask[]; readonly left: string[] } {
  const rows = new Map<string, CountRow>()
  const flying = new Map<string, number>()
  const [taken, left]: [CountTask[], string[]] = [[], []]
  const takeOne = ({ key, limit, max, cost }: CountTask) => {
    if (limit !== undefined) {
      const step = takeStep(limit, rows.get(key), cost, now())
      if (cost > 0) rows.set(key, step.row)
      return step
    }
    const there = flying.get(key) ?? 0
    if (there < max) flying.set(key, there + 1)
    return { allowed: there < max, used: Math.min(there + 1, max), resetMs: 1_000 }
  }
  return {
    taken,
    left,
    take(tasks) {
      const states = []
      for (const task of tasks) {
        taken.push(task)
        const state = takeOne(task)
        states.push(state)
        if (!state.allowed && task.binding) break
      }
      return { states }
    },
    leave(keys, _, unused = []) {
      left.push(...keys)
      for (const { key, cost } of unused) {
        const row = rows.get(key)
        if (row !== undefined) rows.set(key, giveBack(row, cost))
      }
      for (const key of keys) flying.set(key, (flying.get(key) ?? 1) - 1)
    },
  }
}

/** Maps names to addresses, and canonical addresses to reverse names; any other is absent. */
export function createFakeDns(
  names: Readonly<Record<string, NameAnswer>>,
  reverse: Readonly<Record<string, ReverseAnswer>> = {},
): Dns {
  return {
    resolve: async (name) => names[name] ?? { state: 'absent' },
    resolvePtr: async (address) => reverse[formatAddress(address)] ?? { state: 'absent' },
  }
}

/** Maps domains to registrations; any other domain is free. `asked` collects the requested domains. */
export function createFakeWhois(answers: Readonly<Record<string, WhoisAnswer>> = {}): Whois & {
  readonly asked: readonly string[]
} {
  const asked: string[] = []
  return {
    asked,
    async find({ domain }) {
      asked.push(domain)
      return answers[domain] ?? { state: 'free', domain }
    },
  }
}

/** A row of a made network table has a CIDR and a record. The longest prefix that holds an address wins. */
export type NetworkRow = readonly [cidr: string, record: Partial<NetworkRecord>]

export function createFakeNetworks(rows: readonly NetworkRow[]): NetworkTable {
  const read = rows.map(([cidr, record]) => ({
    prefix: readPrefix(cidr),
    record: { also: [], inVpnRanges: false, inDatacenterRanges: false, ...record },
  }))
  const longestFirst = read.toSorted((x, y) => y.prefix.length - x.prefix.length)
  return { find: (address) => longestFirst.find(({ prefix }) => prefixContains(prefix, address))?.record }
}

/** Makes a hit of a list; a test gives only the members that it needs. */
export function makeHit(hit: Partial<RangeHit> & Pick<RangeHit, 'networkClass'>): RangeHit {
  return { single: false, provider: '', source: 'made', rule: 'list', narrow: hit.single === true, ...hit }
}

/** Makes an autonomous system; a test gives only the members that it needs. */
export function makeSystem(system: Partial<AutonomousSystem> & { readonly asn: number }): AutonomousSystem {
  return {
    name: `AS${system.asn}`,
    type: 'unknown',
    networkClass: 'unknown',
    brand: '',
    basis: system.type === undefined && system.networkClass === undefined ? 'none' : 'operator',
    ...system,
  }
}

/** A system has these prefixes, as CIDRs. */
export type SystemRow = readonly [system: AutonomousSystem, cidrs: readonly string[]]

export function createFakeSystems(rows: readonly SystemRow[]): SystemTable {
  const read = rows.map(([system, cidrs]) => ({ system, prefixes: cidrs.map(readPrefix) }))
  const row = (index: number) => given(read[index], `system ${index}`)
  const ofFamily = (index: number, family: 4 | 6) => row(index).prefixes.filter((p) => p.address.family === family)
  const sizes = {
    addresses: (index: number) => ofFamily(index, 4).reduce((sum, { length }) => sum + 2 ** (32 - length), 0),
    prefixes: (index: number) => row(index).prefixes.length,
  }
  const ordered = (by: DirectoryOrder) =>
    [...read.keys()].sort((x, y) => sizes[by](y) - sizes[by](x) || row(x).system.asn - row(y).system.asn)
  return {
    size: read.length,
    system: (index) => row(index).system,
    indexOf: (asn) => read.findIndex(({ system }) => system.asn === asn),
    ipv4Prefixes: (index) => ofFamily(index, 4).length,
    ipv6Prefixes: (index) => ofFamily(index, 6).length,
    ipv4Addresses: sizes.addresses,
    prefixes: (index) => [...ofFamily(index, 4), ...ofFamily(index, 6)],
    largest: (by, count) => ordered(by).slice(0, count),
    named: (text, limit) =>
      ordered('addresses')
        .filter((index) => foldName(row(index).system.name).includes(text))
        .slice(0, limit),
  }
}

/** Finds countries by the canonical text of an address. */
export function createFakeCountries(countries: Readonly<Record<string, string>>): CountryTable {
  return {
    find(address) {
      const code = countries[formatAddress(address)]
      return code === undefined ? undefined : { code, source: 'city', basis: 'city' }
    },
  }
}

export function createFakeGeo(records: Readonly<Record<string, GeoRecord | Error>>): GeoReader {
  return {
    families: [4, 6],
    async read(address) {
      const record = records[formatAddress(address)]
      if (record instanceof Error) throw record
      return record
    },
  }
}

/** Makes a snapshot in which only the given members are loaded. */
export function makeSnapshot(snapshot: Partial<Snapshot> = {}): Snapshot {
  return { rangesLoaded: false, proxiesLoaded: false, sources: [], ...snapshot }
}

/** Makes the status of a loaded source; a test gives only the members that it needs. */
export function makeStatus(status: Partial<SourceStatus> & Pick<SourceStatus, 'id'>): SourceStatus {
  return { title: status.id, state: 'loaded', licence: '', credit: '', ...status }
}

export function makeSnapshots(snapshot: Partial<Snapshot> = {}): Snapshots {
  const whole = makeSnapshot(snapshot)
  return { current: () => whole }
}
