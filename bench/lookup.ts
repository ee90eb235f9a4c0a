import { readFile } from 'node:fs/promises'
import { BlockList } from 'node:net'
import { parseAddress } from '@sallyport/core'
import { createRandom } from '@sallyport/core/testing'
import { compileTables, isCity, type LoadedTables, loadTables, type ResolvedSource } from '@sallyport/engine'
import { open } from 'maxmind'
import { createDraw, fullSources } from './full-tables.ts'
import { flat } from './random.ts'
import type { Figure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type Candidate, listCosts, measure } from './rounds.ts'
import { scratch } from './scratch.ts'

const COUNT = 100_000
/** A round repeats the addresses this often: one pass would measure how fast memory returns to the caches. */
const PASSES = 4
/** Peers that go through a list prefix by prefix get fewer addresses. */
const FEW = 20
const CITIES = { 4: 'dbip-city-v4', 6: 'dbip-city-v6' } as const

/**
 * Address to network, with tables of full size (made lists: 60,000 prefixes of classes, 500,000 listed
 * addresses, crawler ranges), against peers on the same addresses.
 */
export async function benchLookup(run: Run): Promise<void> {
  await scratch(async (dataDir) => {
    const sources = await fullSources(dataDir, run.pick(1, 0.02))
    const { shared } = await compileTables({ dataDir, sources })
    const tables = loadTables(shared)
    const prefixes = await listedPrefixes(sources)
    const networks: Figure[] = []
    for (const family of run.pick([4, 6] as const, [4] as const)) {
      const source = sources.filter(isCity).find(({ row }) => row.id === CITIES[family])
      if (source === undefined) {
        run.skip(`IPv${family}: ${CITIES[family]} is not installed`)
        continue
      }
      const draw = createDraw(tables, createRandom(family))
      const addresses = Array.from({ length: run.pick(COUNT, COUNT / 10) }, () => flat(draw(family)))
      networks.push(...(await compareNetworks(run, family, { tables, addresses, city: source.file.path, prefixes })))
    }
    run.table({ title: 'An address in text to its network, by processor time', figures: networks })
  })
}

interface Networks {
  readonly tables: LoadedTables
  readonly addresses: readonly string[]
  readonly city: string
  readonly prefixes: readonly string[]
}

async function compareNetworks(
  run: Run,
  family: 4 | 6,
  { tables: { networks }, addresses, city, prefixes }: Networks,
): Promise<readonly Figure[]> {
  if (networks === undefined) throw new Error('no network data to measure')
  const reader = await open(city)
  const blockList = buildBlockList(prefixes)
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
  ])
  return listCosts(rows).map((figure) => ({ ...figure, what: `IPv${family}` }))
}

/** Reads the prefixes of all lists of classes. */
async function listedPrefixes(sources: readonly ResolvedSource[]): Promise<readonly string[]> {
  const files = sources.flatMap(({ row, file }) => (row.kind === 'ranges' && file !== undefined ? [file.path] : []))
  const texts = await Promise.all(files.map((path) => readFile(path, 'utf8')))
  return texts.flatMap((text) => text.trim().split('\n'))
}

function buildBlockList(prefixes: readonly string[]): BlockList {
  const blockList = new BlockList()
  for (const prefix of prefixes) {
    const [address = '', length = ''] = prefix.split('/')
    blockList.addSubnet(address, Number(length), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return blockList
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
