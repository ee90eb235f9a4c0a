import { BlockList } from 'node:net'
import { join } from 'node:path'
import { parseAddress } from '@sallyport/core'
import { compileTables, loadTables } from '@sallyport/engine'
import { madeLists } from './full-tables.ts'
import type { Figure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type Candidate, costsOf, measure } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

/** A round goes over the addresses so often: once only would measure how fast memory comes back to the caches. */
const PASSES = 4
/** Peers that go through a list prefix by prefix are asked for fewer. */
export const FEW = 20

/** Cost of a lookup as lists grow, beside Node's own list of blocked prefixes, which is walked from its beginning. */
export async function benchPrefixes(run: Run, dataDir: string): Promise<void> {
  const figures: Figure[] = []
  const visitors = visitorAddresses(run.pick(50_000, 5_000))
  for (const count of run.pick([1_000, 10_000, 100_000, 1_000_000], [1_000])) {
    run.step(`compiles ${count.toLocaleString('en')} prefixes`)
    const { sources, prefixes } = await madeLists(join(dataDir, `${count}`), count)
    const { networks } = loadTables((await compileTables({ dataDir, sources })).shared)
    if (networks === undefined) throw new Error('no network data to measure')
    const blockList = blockListOf(prefixes)
    const rows = await measure(run, [
      loop('Sallyport', visitors, (text) => {
        const address = parseAddress(text)
        return address !== undefined && networks.find(address)?.range !== undefined
      }),
      loop('`net.BlockList`', visitors.slice(0, FEW), (text) => blockList.check(text), 1),
    ])
    figures.push(...costsOf(rows).map((figure) => ({ ...figure, at: count })))
  }
  run.table({ title: 'A lookup as lists grow', work: 'prefixes', figures })
}

export function blockListOf(prefixes: readonly string[]): BlockList {
  const blockList = new BlockList()
  for (const prefix of prefixes) {
    const [address = '', length = ''] = prefix.split('/')
    blockList.addSubnet(address, Number(length), address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return blockList
}

export function loop(
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
