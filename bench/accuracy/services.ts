import { join } from 'node:path'
import { classify, type NetworkClass, type NetworkFinding, parseAddress, type Snapshot } from '@sallyport/core'
import { exitsOf, type Feeds, VPN_SERVICES, type VpnService, withExits } from './feeds.ts'
import { percent } from './scores.ts'

type Compile = (feeds: Feeds) => Promise<Snapshot>

const MACHINES: readonly NetworkClass[] = ['hosting', 'datacenter']

/** What of each service's exits is found where no list of VPN exits knows it, and where half of them are known. */
export async function printServices(feeds: Feeds, folder: string, compile: Compile): Promise<void> {
  const services = Object.keys(VPN_SERVICES) as VpnService[]
  const unknown: Record<string, object> = {}
  const half: Record<string, object> = {}
  for (const service of services) {
    const others = services.filter((name) => name !== service).flatMap(exitsOf)
    const exits = addressesOf(exitsOf(service))
    const path = join(folder, `without-${VPN_SERVICES[service][0]}`)
    unknown[service] = found(exits, await compile(withExits(feeds, others, path)))
    const known = exits.filter(isInKnownHalf)
    const rest = exits.filter((exit) => !isInKnownHalf(exit))
    half[service] = found(rest, await compile(withExits(feeds, [...others, ...known], path)))
  }
  console.log('exits of a VPN service that no feed knows, while the feeds of the others are loaded')
  console.table(unknown)
  console.log('exits of a VPN service of which a feed knows the other half')
  console.table(half)
}

function found(exits: readonly string[], snapshot: Snapshot): object {
  const findings = exits.map((text) => {
    const address = parseAddress(text)
    if (address === undefined) throw new Error(`not an address: ${text}`)
    return classify(address, snapshot)
  })
  const share = (holds: (finding: NetworkFinding) => boolean) =>
    percent(findings.filter(holds).length / findings.length)
  return {
    exits: exits.length,
    'as vpn': share(({ verdict }) => verdict.classification === 'vpn'),
    'above 0.6': share(({ verdict }) => verdict.classification === 'vpn' && verdict.confidence > 0.6),
    'by density': share(({ rule }) => rule === 'exit_density'),
    'as vpn or machines': share(({ verdict }) => ['vpn', ...MACHINES].includes(verdict.classification)),
  }
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
