import { type Feeds, SUPPLIERS, without, writeFeed } from './feeds.ts'
import { gluetunText, type VpnService } from './gluetun.ts'
import { sharedLines } from './shared.ts'

/** Names the files of each service of today. */
const FILES = {
  Mullvad: ['mullvad'],
  'Private Internet Access': ['pia'],
  'Proton VPN': ['protonvpn', 'protonvpn-exit'],
  TunnelBear: ['tunnelbear'],
} as const satisfies Record<string, readonly string[]>

export function todaysServices(): readonly VpnService[] {
  return Object.entries(FILES).map(([name, files]) => {
    const lines = files.flatMap((file) => sharedLines(`vpn/by-provider/${file}.txt`))
    const entries = lines.map((line) => line.replace(/#.*/, '').trim()).filter((entry) => !entry.includes(':'))
    return { name, date: '2026-08', exits: listAddresses(entries) }
  })
}

/** Services that have a feed of their own; the others are in the feed that names each server's. */
const OWN_FEEDS: Readonly<Record<string, string>> = { 'Proton VPN': 'protonvpn-exit', TunnelBear: 'tunnelbear' }

/** Returns all feeds, of which the VPN feeds know these services and nothing else. */
export function withServices(feeds: Feeds, services: readonly VpnService[], folder: string): Feeds {
  const known = services.filter(({ exits }) => exits.length > 0)
  const own = known.filter(({ name }) => name in OWN_FEEDS)
  const others = known.filter(({ name }) => !(name in OWN_FEEDS))
  return Object.assign(
    without(feeds, [...SUPPLIERS.vpn, 'gluetun']),
    ...own.map(({ name, exits }) => writeFeed(folder, OWN_FEEDS[name] as string, exits.join('\n'))),
    writeFeed(folder, 'gluetun-servers', gluetunText(others.map(({ name, exits }) => [name, exits]))),
  )
}

/** Reports whether two names belong to one service, however each list writes them. */
export function isSameService(x: Pick<VpnService, 'name'>, y: Pick<VpnService, 'name'>): boolean {
  const key = ({ name }: Pick<VpnService, 'name'>) => name.toLowerCase().replaceAll(' ', '')
  return key(x) === key(y)
}

/** Lists the addresses of entries that name machines. Wider entries name networks. */
function listAddresses(entries: readonly string[]): readonly string[] {
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
