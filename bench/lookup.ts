import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Address, address4, formatAddress, type Prefix, parseAddress, reservedRow } from '@sallyport/core'
import { createRandom, type Random } from '@sallyport/core/testing'
import {
  type CityTable,
  cityPath,
  compileCityInWorker,
  compileTables,
  countriesPath,
  isCity,
  type LoadedCountries,
  type LoadedTables,
  loadCity,
  loadCountries,
  loadTables,
  type ResolvedSource,
} from '@sallyport/engine'
import IPCIDR from 'ip-cidr'
import { open } from 'maxmind'
import { fullSources, routedPrefixes } from './full-tables.ts'
import { benchPrefixes, blockListOf, FEW, loop } from './prefixes.ts'
import { addressIn, flat } from './random.ts'
import { type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { costsOf, measure, takeTurns } from './rounds.ts'
import { scratch } from './scratch.ts'

const COUNT = 100_000
const SYSTEMS = 500
const CITIES = { 4: 'dbip-city-v4', 6: 'dbip-city-v6' } as const

/**
 * Address to network and to place, with tables of full size (made lists: 60,000 prefixes of classes, 500,000 listed
 * addresses, crawler ranges), against peers on the same addresses, what loading takes, and the cost of more prefixes.
 */
export async function benchLookup(run: Run): Promise<void> {
  await scratch(async (dataDir) => {
    const sources = await fullSources(dataDir, run.pick(1, 0.02))
    const { path, shared } = await compileTables({ dataDir, sources })
    const tables = loadTables(shared)
    const prefixes = await listedPrefixes(sources)
    const files = [path]
    const networks: Figure[] = []
    const places: Figure[] = []
    for (const family of run.pick([4, 6] as const, [4] as const)) {
      const source = sources.filter(isCity).find(({ row }) => row.id === CITIES[family])
      if (source === undefined) {
        run.skip(`places of IPv${family}: ${CITIES[family]} is not installed`)
        continue
      }
      const random = createRandom(family)
      const count = run.pick(COUNT, COUNT / 10)
      const addresses = family === 4 ? addresses4(tables, random, count) : addresses6(tables, random, count)
      networks.push(...(await compareNetworks(run, family, { tables, addresses, city: source.file.path, prefixes })))
      const city = loadCity((await compileCityInWorker({ dataDir, source })).shared)
      const countries = loadCountries(countriesPath(dataDir, source))
      places.push(...(await compareCities(run, family, { city, countries, addresses, path: source.file.path })))
      files.push(cityPath(dataDir, source))
    }
    run.table({ title: 'An address in text to its network, by processor time', figures: networks })
    run.table({ title: 'An address in text to its place, by processor time', figures: places })
    await compareLoading(run, files)
    await benchPrefixes(run, dataDir)
  })
}

async function compareNetworks(
  run: Run,
  family: 4 | 6,
  { tables, addresses, city, prefixes }: Networks,
): Promise<readonly Figure[]> {
  const { networks } = tables
  if (networks === undefined) throw new Error('no network data to measure')
  const reader = await open(city)
  const cidrs = prefixes.slice(0, 2_000).map((prefix) => new IPCIDR(prefix))
  const blockList = blockListOf(prefixes)
  const few = addresses.slice(0, FEW)
  const rows = await measure(run, [
    loop('Sallyport, network, ASN and class', addresses, (text) => {
      const address = parseAddress(text)
      return address !== undefined && networks.find(address) !== undefined
    }),
    loop('`maxmind`, city', addresses, (text) => reader.get(text) !== null),
    loop(
      `\`net.BlockList\`, ${prefixes.length.toLocaleString('en')} prefixes`,
      few,
      (text) => blockList.check(text, `ipv${family}`),
      1,
    ),
    loop(
      `\`ip-cidr\`, ${cidrs.length.toLocaleString('en')} prefixes`,
      few,
      (text) => cidrs.some((cidr) => cidr.contains(text)),
      1,
    ),
  ])
  return costsOf(rows).map((figure) => ({ ...figure, what: `IPv${family}` }))
}

async function compareCities(
  run: Run,
  family: 4 | 6,
  { city, countries, addresses, path }: Cities,
): Promise<readonly Figure[]> {
  const reader = await open(path)
  const rows = await measure(run, [
    loop('Sallyport, place', addresses, (text) => {
      const address = parseAddress(text)
      return address !== undefined && city.read(address) !== undefined
    }),
    loop('Sallyport, country alone', addresses, (text) => {
      const address = parseAddress(text)
      return address !== undefined && countries.find(address) !== undefined
    }),
    loop('`maxmind`, place', addresses, (text) => reader.get(text) !== null),
  ])
  return costsOf(rows).map((figure) => ({ ...figure, what: `IPv${family}` }))
}

interface Networks {
  readonly tables: LoadedTables
  readonly addresses: readonly string[]
  readonly city: string
  readonly prefixes: readonly string[]
}

interface Cities {
  readonly city: CityTable
  readonly countries: LoadedCountries
  readonly addresses: readonly string[]
  readonly path: string
}

/** The prefixes of all lists of classes, as text. */
async function listedPrefixes(sources: readonly ResolvedSource[]): Promise<readonly string[]> {
  const files = sources.flatMap(({ row, file }) => (row.kind === 'ranges' && file !== undefined ? [file.path] : []))
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  return texts.flatMap((text) => text.trim().split('\n'))
}

/** Random addresses that are public and in some system. */
function addresses4({ networks }: LoadedTables, random: Random, count: number): readonly string[] {
  const found: string[] = []
  while (found.length < count) {
    const address = address4(random(2 ** 32))
    const isRouted = networks?.find(address)?.system !== undefined
    if (isRouted && reservedRow(address) === undefined) found.push(flat(formatAddress(address)))
  }
  return found
}

/** Random addresses inside random prefixes: random ones of all IPv6 space would meet nothing. */
function addresses6({ systems }: LoadedTables, random: Random, count: number): readonly string[] {
  if (systems === undefined) throw new Error('no network data to draw from')
  const prefixes = routedPrefixes(systems, random, SYSTEMS)
  const some = (): Address => {
    const { address, length } = prefixes[random(prefixes.length)] as Prefix
    return addressIn(address, length, random)
  }
  return Array.from({ length: count }, () => flat(formatAddress(some())))
}

interface Loading {
  readonly milliseconds: number
  readonly loaded: number
  readonly used: number
}

/** Each file in processes of its own. */
async function compareLoading(run: Run, files: readonly string[]): Promise<void> {
  const names = ['all tables but places', 'places of IPv4', 'places of IPv6'].slice(0, files.length)
  const rounds = run.pick({ rounds: 5, warmUp: 1 }, { rounds: 1, warmUp: 0 })
  const taken = await takeTurns(run, names, rounds, async (index): Promise<Loading> => {
    const kind = index === 0 ? 'tables' : 'city'
    const child = ['--expose-gc', join(import.meta.dirname, 'load.js'), kind, files[index] ?? '']
    return JSON.parse((await promisify(execFile)(process.execPath, child)).stdout)
  })
  const figures = names.flatMap((name, index): readonly Figure[] => {
    const of = (read: (loading: Loading) => number) => spreadOf((taken[index] ?? []).map(read))
    return [
      { case: name, what: 'loaded in', unit: 'ms', value: of(({ milliseconds }) => milliseconds) },
      { case: name, what: 'resident when loaded', unit: 'MB', value: of(({ loaded }) => loaded) },
      { case: name, what: 'after 100,000 visitors', unit: 'MB', value: of(({ used }) => used) },
    ]
  })
  run.table({ title: 'Loading a compiled file', figures })
}
