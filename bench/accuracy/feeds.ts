import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SourceOverride } from '@sallyport/engine'
import { readShared, sharedLines, sharedRows } from './shared.ts'

/** Configuration of one run of the real compile: sources by id. */
export type Feeds = Readonly<Record<string, SourceOverride>>

/**
 * The stored snapshots of what an installation downloads by itself, as the sources that they are snapshots of, in files that the real parsers read. Lists that the
 * snapshots merge or keep in another form are split or written back to the form that is published.
 */
export function snapshotFeeds(folder: string): Feeds {
  mkdirSync(folder, { recursive: true })
  const feeds: Record<string, SourceOverride> = {}
  const put = (id: string, text: string) => Object.assign(feeds, writeFeed(folder, id, text))
  for (const [id, path] of AS_THEY_ARE) put(id, readShared(path))
  for (const id of GEOFEEDS) put(id, readShared(`geo/${id}.csv.gz`))

  const relay = sharedLines('vpn/apple-private-relay-egress.txt.gz')
  put('apple-private-relay', relay.map((prefix) => `${prefix},,,,`).join('\n'))

  for (const [provider, entries] of cloudRanges()) {
    for (const family of ['ipv4', 'ipv6']) {
      const mine = entries.filter((entry) => entry.includes(':') === (family === 'ipv6'))
      if (mine.length > 0) put(`lord-alfred-${provider}-${family}`, mine.join('\n'))
    }
  }

  const open = sharedRows('proxy/open-proxies.csv').map(([protocol, host, port, exit_ip]) => ({
    protocol,
    host,
    port: Number(port),
    exit_ip,
  }))
  put('monosans', JSON.stringify(open))
  return feeds
}

const AS_THEY_ARE: readonly (readonly [id: string, path: string])[] = [
  ['tor-bulk-exit', 'tor/tor-exits.txt'],
  ['x4bnet-vpn-ipv4', 'vpn/x4bnet-ipv4.txt'],
  ['x4bnet-vpn-ipv6', 'vpn/x4bnet-ipv6.txt'],
  ['x4bnet-dc-ipv4', 'cloud/x4bnet-datacenter-ipv4.txt.gz'],
  ['x4bnet-dc-ipv6', 'cloud/x4bnet-datacenter-ipv6.txt.gz'],
  ['x4bnet-vpn-asn', 'asn-types/x4bnet-vpn-asn.txt'],
  ['x4bnet-dc-asn', 'asn-types/x4bnet-datacenter-asn.txt'],
  ['protonvpn-exit', 'vpn/by-provider/protonvpn-exit.txt'],
  ['tunnelbear', 'vpn/by-provider/tunnelbear.txt'],
  ['avastel-1day', 'proxy/avastel-proxy-ips-2025-11-22.csv.gz'],
  ['avastel-8days', 'proxy/avastel-blocklist-5days.csv'],
  ['oxl-line-names', 'residential/dynamic-rdns.txt'],
]

/** Operators publish these places. */
export const GEOFEEDS = [
  'geofeed-t-mobile-us',
  'geofeed-verizon-wireless',
  'geofeed-verizon-5g-home',
  'geofeed-verizon-wireline',
]

/** Providers of the merged file that have a source of their own. */
const CLOUDS = ['amazon', 'cloudflare', 'digitalocean', 'github', 'google', 'linode', 'microsoft', 'oracle', 'vultr']

function cloudRanges(): ReadonlyMap<string, readonly string[]> {
  const ranges = new Map<string, string[]>(CLOUDS.map((provider) => [provider, []]))
  for (const [provider = '', entry = ''] of sharedRows('cloud/cloud-ranges.csv.gz')) ranges.get(provider)?.push(entry)
  return ranges
}

/** Feeds that the labels of a class were drawn from, by the beginnings of their ids. */
export const SUPPLIERS = {
  tor: ['tor-'],
  vpn: ['x4bnet-vpn', 'protonvpn', 'tunnelbear'],
  residential_proxy: ['avastel'],
  datacenter: CLOUDS.map((provider) => `lord-alfred-${provider}`),
  hosting: ['x4bnet-dc'],
  mobile: ['geofeed-t-mobile-us', 'geofeed-verizon-wireless'],
  residential_clean: ['geofeed-verizon-wireline', 'geofeed-verizon-5g-home', 'oxl-line-names'],
} as const satisfies Record<string, readonly string[]>

/** Writes the list of a source as a file, and returns the source's configuration. */
export function writeFeed(folder: string, id: string, text: string): Feeds {
  const path = join(folder, id)
  writeFileSync(path, text)
  return { [id]: { url: pathToFileURL(path).href } }
}

/** The feeds without those whose id begins so. */
export function without(feeds: Feeds, prefixes: readonly string[]): Feeds {
  return Object.fromEntries(Object.entries(feeds).filter(([id]) => !prefixes.some((prefix) => id.startsWith(prefix))))
}
