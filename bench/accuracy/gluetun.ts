import { isShared, readShared } from './shared.ts'

/** Exits of one VPN service, IPv4. */
export interface VpnService {
  readonly name: string
  /** The month in which they were its exits. */
  readonly date: string
  readonly exits: readonly string[]
}

const GLUETUN = 'vpn/gluetun-2023-half.json.gz'

/** Services of 2021 to 2023; none where the snapshot is not here. */
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
