import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { BlockList } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Address, address4, formatAddress, type Prefix, parseAddress, reservedRow } from '@sallyport/core'
import { createRandom, type Random } from '@sallyport/core/testing'
import {
  type CityTable,
  cityPath,
  compileCityInWorker,
  compileTables,
  isCity,
  type LoadedTables,
  loadCity,
  loadTables,
  type ResolvedSource,
} from '@sallyport/datasets'
import IPCIDR from 'ip-cidr'
import { open } from 'maxmind'
import { fullSources } from './full-tables.ts'
import { addressIn, flat } from './random.ts'
import { type Candidate, measure, printMeasured } from './rounds.ts'

const COUNT = 100_000
/** A round goes over the addresses so often: once only would measure how fast memory comes back to the caches. */
const PASSES = 4
/** Peers that go through a list prefix by prefix are asked for fewer. */
const FEW = 20
const CITIES = { 4: 'dbip-city-v4', 6: 'dbip-city-v6' } as const

/**
 * Address to network and to place, with tables of full size (made lists: 60,000 prefixes of classes, 500,000 listed
 * addresses, crawler ranges), against peers on the same addresses, and what loading takes.
 */
export async function benchLookup(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  try {
    const sources = await fullSources(dataDir)
    const { path, shared } = await compileTables({ dataDir, sources })
    const tables = loadTables(shared)
    const prefixes = await listedPrefixes(sources)
    const files = [path]
    for (const family of [4, 6] as const) {
      const source = sources.filter(isCity).find(({ row }) => row.id === CITIES[family])
      if (source === undefined) throw new Error(`${CITIES[family]} is not installed`)
      const random = createRandom(family)
      const addresses = family === 4 ? addresses4(tables, random) : addresses6(tables, random)
      await compareNetworks(
        `IPv${family} address in text to network and class`,
        tables,
        addresses,
        source.file.path,
        prefixes,
      )
      const city = loadCity((await compileCityInWorker({ dataDir, source })).shared)
      await compareCities(`IPv${family} address in text to place`, city, addresses, source.file.path)
      files.push(cityPath(dataDir, source))
    }
    for (const [index, file] of files.entries()) await printLoading(index === 0 ? 'tables' : 'city', file)
  } finally {
    await rm(dataDir, { recursive: true })
  }
}

function loop(
  name: string,
  addresses: readonly string[],
  isKnown: (text: string) => boolean,
  passes = PASSES,
): Candidate {
  return {
    name,
    operations: addresses.length * passes,
    run() {
      let known = 0
      for (let pass = 0; pass < passes; pass++) for (const text of addresses) if (isKnown(text)) known++
      return known
    },
  }
}

async function compareNetworks(
  title: string,
  { networks }: LoadedTables,
  addresses: readonly string[],
  city: string,
  prefixes: readonly string[],
): Promise<void> {
  if (networks === undefined) throw new Error('no network data to measure')
  const reader = await open(city)
  const family = addresses[0]?.includes(':') ? 'ipv6' : 'ipv4'
  const blockList = new BlockList()
  for (const prefix of prefixes) {
    const [address = '', length = ''] = prefix.split('/')
    blockList.addSubnet(address, Number(length), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  const cidrs = prefixes.slice(0, 2_000).map((prefix) => new IPCIDR(prefix))
  const rows = await measure([
    loop('parseAddress + find', addresses, (text) => {
      const address = parseAddress(text)
      return address !== undefined && networks.find(address) !== undefined
    }),
    loop('maxmind get (city)', addresses, (text) => reader.get(text) !== null),
    loop(
      `net.BlockList (${prefixes.length} prefixes)`,
      addresses.slice(0, FEW),
      (text) => blockList.check(text, family),
      1,
    ),
    loop(
      `ip-cidr (${cidrs.length} prefixes)`,
      addresses.slice(0, FEW),
      (text) => cidrs.some((cidr) => cidr.contains(text)),
      1,
    ),
  ])
  printMeasured(title, rows)
}

async function compareCities(
  title: string,
  table: CityTable,
  addresses: readonly string[],
  city: string,
): Promise<void> {
  const reader = await open(city)
  const rows = await measure([
    loop('parseAddress + read', addresses, (text) => {
      const address = parseAddress(text)
      return address !== undefined && table.read(address) !== undefined
    }),
    loop('parseAddress + country', addresses, (text) => {
      const address = parseAddress(text)
      return address !== undefined && table.country(address) !== undefined
    }),
    loop('maxmind get', addresses, (text) => reader.get(text) !== null),
  ])
  printMeasured(title, rows)
}

/** The prefixes of all lists of classes, as text. */
async function listedPrefixes(sources: readonly ResolvedSource[]): Promise<readonly string[]> {
  const files = sources.flatMap(({ row, file }) => (row.kind === 'ranges' && file !== undefined ? [file.path] : []))
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  return texts.flatMap((text) => text.trim().split('\n'))
}

/** Random addresses that are public and in some system. */
function addresses4({ networks }: LoadedTables, random: Random): readonly string[] {
  const found: string[] = []
  while (found.length < COUNT) {
    const address = address4(random(2 ** 32))
    const isRouted = networks?.find(address)?.system !== undefined
    if (isRouted && reservedRow(address) === undefined) found.push(flat(formatAddress(address)))
  }
  return found
}

/** Random addresses inside random prefixes: random ones of all IPv6 space would meet nothing. */
function addresses6({ systems }: LoadedTables, random: Random): readonly string[] {
  if (systems === undefined) throw new Error('no network data to draw from')
  const prefixes = Array.from({ length: 1_000 }, () => random(systems.size))
    .flatMap((index) => systems.prefixes(index))
    .filter(({ address }) => address.family === 6)
  const some = (): Address => {
    const { address, length } = prefixes[random(prefixes.length)] as Prefix
    return addressIn(address, length, random)
  }
  return Array.from({ length: COUNT }, () => flat(formatAddress(some())))
}

async function printLoading(kind: string, path: string): Promise<void> {
  const child = ['--expose-gc', join(import.meta.dirname, 'load.js'), kind, path]
  const { stdout } = await promisify(execFile)(process.execPath, child)
  console.log(`\nLoading a ${kind} file in a process of its own: ${stdout.trim()}`)
}
