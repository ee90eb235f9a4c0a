import { isShared, readShared } from './shared.ts'

/** Holds the IPv4 exits of one VPN service. */
export interface VpnService {
  readonly name: string
  /** The service used the exits in this month. */
  readonly date: string
  readonly exits: readonly string[]
}

const GLUETUN = 'vpn/gluetun-2023-half.json.gz'

/** Lists services of 2021 to 2023, and none where the snapshot is missing. */
export function gluetunServices(): readonly VpnService[] {
  if (!isShared(GLUETUN)) return []
  const services: Record<string, { readonly as_of: string; readonly ips: readonly string[] }> = JSON.parse(
    readShared(GLUETUN),
  )
  return Object.entries(services).map(([name, { as_of, ips }]) => ({
    name,
    date: as_of.slice(0, 7),
    exits: ips.filter((ip) => !ip.includes(':')),
  }))
}

/** Services as the feed has them that names each server's. */
export function gluetunText(services: readonly (readonly [name: string, exits: readonly string[]])[]): string {
  const together = new Map<string, string[]>()
  for (const [name, exits] of services) {
    const key = name.toLowerCase()
    together.set(key, [...(together.get(key) ?? []), ...exits])
  }
  return JSON.stringify(Object.fromEntries([...together].map(([name, ips]) => [name, { servers: [{ ips }] }])))
}
