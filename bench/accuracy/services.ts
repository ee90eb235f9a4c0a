import { join } from 'node:path'
import { classify, type NetworkClass, type NetworkFinding, parseAddress, type Snapshot } from '@sallyport/core'
import type { Figure, Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { exitsOf, type Feeds, VPN_SERVICES, type VpnService, withExits } from './feeds.ts'
import { percent } from './scores.ts'

type Compile = (feeds: Feeds) => Promise<Snapshot>

const MACHINES: readonly NetworkClass[] = ['hosting', 'datacenter']

/** Share of each service's exits found where no list of VPN exits knows it, and where half of them are known. */
export async function compareServices(run: Run, feeds: Feeds, folder: string, compile: Compile): Promise<void> {
  const services = Object.keys(VPN_SERVICES) as VpnService[]
  const figures: Figure[] = []
  for (const service of services) {
    run.step(`exits of ${service}`)
    const others = services.filter((name) => name !== service).flatMap(exitsOf)
    const exits = addressesOf(exitsOf(service))
    const path = join(folder, `without-${VPN_SERVICES[service][0]}`)
    const goals = { vpn: { atLeast: 75 }, machines: { atLeast: 97 } }
    figures.push(...found(`${service}, unknown`, exits, await compile(withExits(feeds, others, path)), goals))
    const known = exits.filter(isInKnownHalf)
    const rest = exits.filter((exit) => !isInKnownHalf(exit))
    const goal = { vpn: { atLeast: 95 } }
    const snapshot = await compile(withExits(feeds, [...others, ...known], path))
    figures.push(...found(`${service}, the other half known`, rest, snapshot, goal))
  }
  run.table({ title: 'Exits of a VPN service, while the feeds of the others are loaded', figures })
}

function found(
  service: string,
  exits: readonly string[],
  snapshot: Snapshot,
  goals: { readonly vpn?: Goal | undefined; readonly machines?: Goal | undefined },
): readonly Figure[] {
  const findings = exits.map((text) => {
    const address = parseAddress(text)
    if (address === undefined) throw new Error(`not an address: ${text}`)
    return classify(address, snapshot)
  })
  const share = (what: string, holds: (finding: NetworkFinding) => boolean, goal?: Goal) =>
    percent(service, what, findings.filter(holds).length / findings.length, goal && { goal })
  const isVpn = ({ verdict }: NetworkFinding) => verdict.classification === 'vpn'
  return [
    ...share('as `vpn`', isVpn, goals.vpn),
    ...share('above confidence 0.6', (finding) => isVpn(finding) && finding.verdict.confidence > 0.6),
    ...share('by density', ({ rule }) => rule === 'exit_density'),
    ...share(
      'as `vpn` or machines',
      ({ verdict }) => ['vpn', ...MACHINES].includes(verdict.classification),
      goals.machines,
    ),
  ]
}

/** The addresses of entries that name machines; wider entries name networks. */
function addressesOf(entries: readonly string[]): readonly string[] {
  const addresses = new Set<string>()
  for (const entry of entries) {
    const [ip = '', length = '32'] = entry.split('/')
    if (Number(length) < 28) continue
    const octets = ip.split('.').map(Number)
    for (let step = 0; step < 2 ** (32 - Number(length)); step++) {
      addresses.add([...octets.slice(0, 3), (octets[3] as number) + step].join('.'))
    }
  }
  return [...addresses]
}

/** Half of the addresses, the same in every run and without regard to their order. */
function isInKnownHalf(text: string): boolean {
  let hash = 2_166_136_261
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619)
  return ((hash ^ (hash >>> 15)) & 1) === 0
}
