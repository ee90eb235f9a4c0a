import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { classify, parseAddress, type Snapshot } from '@sallyport/core'
import { type Feeds, without } from './feeds.ts'
import { percent } from './scores.ts'
import { readShared, sharedRows } from './shared.ts'

/** What an operator publishes as its own machines, which are nobody's VPN. */
interface Published {
  readonly operator: string
  readonly cidr: string
}

interface IpverseServices {
  readonly services: Readonly<Record<string, { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] }>>
}

const SETS: Readonly<Record<string, () => readonly Published[]>> = {
  'edges, scanners, webhooks': () =>
    sharedRows('crawlers/published-machines.csv').map(([operator = '', cidr = '']) => ({ operator, cidr })),
  monitors: () => ofIpverse('crawlers/ipverse-monitoring.json'),
  crawlers: () => ofIpverse('crawlers/ipverse-crawlers.json'),
}

function ofIpverse(path: string): readonly Published[] {
  const { services } = JSON.parse(readShared(path)) as IpverseServices
  return Object.entries(services).flatMap(([operator, { ipv4, ipv6 }]) =>
    [...ipv4, ...ipv6].map((cidr) => ({ operator, cidr })),
  )
}

/** Lists of such machines that are loaded in every run, and would hide what is asked here. */
const THEIR_LISTS = ['ipverse-', 'bot-', 'edges-']

/** How many published machines are called anonymising, without any list of them and with their operators' own. */
export async function printPublishedMachines(
  feeds: Feeds,
  folder: string,
  compile: (feeds: Feeds) => Promise<Snapshot>,
): Promise<void> {
  const sets = Object.entries(SETS).map(([name, read]) => [name, read()] as const)
  const path = join(folder, 'published-machines')
  writeFileSync(path, sets.flatMap(([, machines]) => machines.map(({ cidr }) => cidr)).join('\n'))
  const bare = without(feeds, THEIR_LISTS)
  const snapshots = {
    'no list of them': await compile(bare),
    "their operators' lists": await compile({ ...bare, 'edges-bunny-v4': { url: pathToFileURL(path).href } }),
  }
  const rows: Record<string, object> = {}
  for (const [name, machines] of sets) {
    for (const [loaded, snapshot] of Object.entries(snapshots)) {
      const verdicts = machines.map(({ cidr }) => verdictOf(cidr, snapshot))
      const hiding = verdicts.filter(({ anonymized }) => anonymized)
      rows[`${name}, ${loaded}`] = {
        addresses: machines.length,
        anonymising: percent(hiding.length / verdicts.length),
        'above 0.6': percent(hiding.filter(({ confidence }) => confidence > 0.6).length / verdicts.length),
      }
    }
  }
  console.log('machines that their operators publish, called anonymising')
  console.table(rows)
}

function verdictOf(cidr: string, snapshot: Snapshot) {
  const address = parseAddress(cidr.replace(/\/.*/, ''))
  if (address === undefined) throw new Error(`not an address: ${cidr}`)
  return classify(address, snapshot).verdict
}
