import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Address, address4, formatAddress, parseAddress, reservedRow } from '@sallyport/core'
import { compileTables, type LoadedTables, loadTables, type ResolvedSource, resolveSources } from '@sallyport/datasets'
import { open } from 'maxmind'
import { measure, printMeasured } from './rounds.ts'

const COUNT = 100_000
/** A round goes over the addresses so often: once only would measure how fast memory comes back to the caches. */
const PASSES = 4

/** Address to network against `maxmind`'s city record on the same addresses, and what loading the tables costs. */
export async function run(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  try {
    const sources = resolveSources()
    const { path } = await compileTables({ dataDir, sources })
    const tables = loadTables(path)
    await compare('IPv4 address in text to network', tables, addresses4(tables), cityPath(sources, 'dbip-city-v4'))
    await compare('IPv6 address in text to network', tables, addresses6(tables), cityPath(sources, 'dbip-city-v6'))
    await printLoading(path)
  } finally {
    await rm(dataDir, { recursive: true })
  }
}

async function compare(title: string, tables: LoadedTables, addresses: readonly string[], city: string): Promise<void> {
  const reader = await open(city)
  const { networks } = tables
  if (networks === undefined) throw new Error('no network data to measure')
  const rows = await measure([
    {
      name: 'parseAddress + find',
      operations: addresses.length * PASSES,
      run() {
        let known = 0
        for (let pass = 0; pass < PASSES; pass++) {
          for (const text of addresses) {
            const address = parseAddress(text)
            if (address !== undefined && networks.find(address) !== undefined) known++
          }
        }
        return known
      },
    },
    {
      name: 'maxmind get (city)',
      operations: addresses.length * PASSES,
      run() {
        let known = 0
        for (let pass = 0; pass < PASSES; pass++) {
          for (const text of addresses) if (reader.get(text) !== null) known++
        }
        return known
      },
    },
  ])
  printMeasured(title, rows)
}

function cityPath(sources: readonly ResolvedSource[], id: string): string {
  const path = sources.find(({ row }) => row.id === id)?.file?.path
  if (path === undefined) throw new Error(`${id} is not installed`)
  return path
}

/** Random addresses that are public and in some system. */
function addresses4({ networks }: LoadedTables): readonly string[] {
  const found: string[] = []
  while (found.length < COUNT) {
    const address = address4(Math.floor(Math.random() * 2 ** 32))
    const isRouted = networks?.find(address)?.system !== undefined
    if (isRouted && reservedRow(address) === undefined) found.push(flat(formatAddress(address)))
  }
  return found
}

/** Random addresses inside random prefixes: random ones of all IPv6 space would meet nothing. */
function addresses6({ systems }: LoadedTables): readonly string[] {
  const size = systems?.size ?? 0
  const prefixes = Array.from({ length: 20_000 }, () => Math.floor(Math.random() * size))
    .flatMap((index) => systems?.prefixes(index) ?? [])
    .filter(({ address }) => address.family === 6)
  return Array.from({ length: COUNT }, () => {
    const { address, length } = prefixes[Math.floor(Math.random() * prefixes.length)] as (typeof prefixes)[number]
    return flat(formatAddress(randomised(address, length)))
  })
}

function randomised({ a, b, c, d }: Address, length: number): Address {
  const word = (value: number, bits: number) => {
    const free = Math.min(Math.max(32 - bits, 0), 32)
    return free === 0 ? value : value | Math.floor(Math.random() * 2 ** free)
  }
  return { family: 6, a: word(a, length), b: word(b, length - 32), c: word(c, length - 64), d: word(d, length - 96) }
}

/** A string in one piece, as a socket gives it. */
function flat(text: string): string {
  return Buffer.from(text).toString('latin1')
}

async function printLoading(path: string): Promise<void> {
  const child = ['--expose-gc', join(import.meta.dirname, 'load.js'), path]
  const { stdout } = await promisify(execFile)(process.execPath, child)
  console.log(`\nLoading the compiled tables in a process of its own: ${stdout.trim()}`)
}
