import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { classify, parseAddress, type Snapshot } from '@sallyport/core'
import { counted, type Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { type Feeds, without } from './feeds.ts'
import { readShared, sharedRows } from './shared.ts'

/** Machines that an operator publishes as its own, and that are nobody's VPN. */
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

/** How many published machines are called anonymising, with the lists alone that come with Sallyport, and with their operators' own. */
export async function comparePublishedMachines(
  run: Run,
  feeds: Feeds,
  folder: string,
  compile: (feeds: Feeds) => Promise<Snapshot>,
): Promise<void> {
  const sets = Object.entries(SETS).map(([name, read]) => [name, read()] as const)
  const path = join(folder, 'published-machines')
  writeFileSync(path, sets.flatMap(([, machines]) => machines.map(({ cidr }) => cidr)).join('\n'))
  const bare = without(feeds, THEIR_LISTS)
  const snapshots = {
    'shipped lists alone': await compile(bare),
    "their operators' lists": await compile({ ...bare, 'edges-bunny-v4': { url: pathToFileURL(path).href } }),
  }
  const figures = sets.flatMap(([name, machines]) =>
    Object.entries(snapshots).flatMap(([loaded, snapshot], index) => {
      const verdicts = machines.map(({ cidr }) => verdictOf(cidr, snapshot))
      const hiding = verdicts.filter(({ anonymized }) => anonymized)
      const sure = hiding.filter(({ confidence }) => confidence > 0.6)
      const row = `${machines.length.toLocaleString('en')} ${name}`
      const goal = { goal: { atMost: 1 } }
      const share = (what: string, count: number, rest: { readonly goal?: Goal | undefined }) => {
        const value = counted((count / verdicts.length) * 100)
        return { case: row, what: `${loaded}, ${what}`, unit: '%', value, ...rest }
      }
      return [
        share('anonymising', hiding.length, index === 1 ? goal : {}),
        share('above confidence 0.6', sure.length, index === 0 ? goal : {}),
      ]
    }),
  )
  run.table({ title: 'Machines that their operators publish, called anonymising', figures })
}

function verdictOf(cidr: string, snapshot: Snapshot) {
  const address = parseAddress(cidr.replace(/\/.*/, ''))
  if (address === undefined) throw new Error(`not an address: ${cidr}`)
  return classify(address, snapshot).verdict
}
