import { classify, type NetworkClass, type NetworkFinding, parseAddress, type Snapshot } from '@sallyport/core'
import type { Figure, Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import type { Feeds } from './feeds.ts'
import { gluetunServices, type VpnService } from './gluetun.ts'
import { percent } from './scores.ts'
import { isSameService, todaysServices, withServices } from './services-by-name.ts'

type Compile = (feeds: Feeds) => Promise<Snapshot>

export const MACHINES: readonly NetworkClass[] = ['hosting', 'datacenter']

/**
 * Share of each service's exits found where no list knows it and the others' are loaded, and where half of it is known.
 */
export async function compareServices(run: Run, feeds: Feeds, folder: string, compile: Compile): Promise<void> {
  const today = todaysServices()
  const snapshotWithout = (service: VpnService, known: readonly string[] = []) => {
    const others = today.filter((other) => !isSameService(other, service))
    return compile(withServices(feeds, [...others, { ...service, exits: known }], folder))
  }
  const figures: Figure[] = []
  for (const service of today) {
    const { name, exits } = service
    run.step(`exits of ${name}`)
    const goals = { vpn: { atLeast: 75 }, machines: { atLeast: 97 } }
    figures.push(...findShares(`${name}, unknown`, exits, await snapshotWithout(service), goals))
    const known = exits.filter(isInKnownHalf)
    const rest = exits.filter((exit) => !isInKnownHalf(exit))
    const snapshot = await snapshotWithout(service, known)
    figures.push(...findShares(`${name}, the other half known`, rest, snapshot, { vpn: { atLeast: 95 } }))
  }
  // Proton VPN's addresses of 2022 are where clients entered, and sites never see them.
  const earlier = gluetunServices().filter(({ name }) => name !== 'protonvpn')
  if (earlier.length > 0) {
    run.step('exits of earlier services')
    const snapshot = await compile(withServices(feeds, today, folder))
    const exits = earlier.flatMap((service) => service.exits)
    figures.push(...findShares(`${earlier.length} services of 2021 to 2023, unknown`, exits, snapshot, {}))
  }
  run.table({ title: 'Exits of a VPN service, while the feeds of the others are loaded', figures })
}

export function findNetwork(snapshot: Snapshot, text: string): NetworkFinding {
  const address = parseAddress(text)
  if (address === undefined) throw new Error(`not an address: ${text}`)
  return classify(address, snapshot)
}

function findShares(
  service: string,
  exits: readonly string[],
  snapshot: Snapshot,
  goals: { readonly vpn?: Goal | undefined; readonly machines?: Goal | undefined },
): readonly Figure[] {
  const findings = exits.map((text) => findNetwork(snapshot, text))
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

/** Reports whether an address is in the known half, which is the same in every run and independent of the order. */
function isInKnownHalf(text: string): boolean {
  let hash = 2_166_136_261
  for (const letter of text) hash = Math.imul(hash ^ letter.charCodeAt(0), 16_777_619)
  return ((hash ^ (hash >>> 15)) & 1) === 0
}
