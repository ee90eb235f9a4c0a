import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { address4, createPrefixSet, formatAddress, type Prefix, parsePrefix, reservedRow } from '@sallyport/core'
import { createRandom, type Random } from '@sallyport/core/testing'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { compileTables, type LoadedTables, loadTables, type ResolvedSource, resolveSources } from '@sallyport/engine'
import { addressIn } from './random.ts'

/*
 * Made lists as large as the published ones, which the repository does not hold: prefixes and addresses are drawn from
 * the networks of the embedded data, in the shares of families and prefix lengths that the real lists have.
 */
const PREFIXES = { vpn: { 4: 10_900, 6: 500 }, hosting: { 4: 40_000, 6: 8_600 } }
/** Lengths by how often they occur, of IPv4 and IPv6. */
const LENGTHS = { 4: [24, 24, 24, 24, 23, 22, 22, 21, 20, 25, 28, 32], 6: [48, 48, 48, 44, 40, 56, 64] }
const LISTED = { 4: 450_000, 6: 50_000 }
const CRAWLERS = 30
const CRAWLER_PREFIXES = 100
/** An address in reserved space, or a well-known resolver's, would make a list unusable. */
const KEPT_OUT = [
  '1.0.0.0/14',
  '8.8.0.0/16',
  '9.9.0.0/16',
  '192.5.0.0/16',
  '193.0.0.0/16',
  '198.41.0.0/16',
  '199.7.0.0/16',
  '208.67.0.0/16',
  '2606:4700::/32',
  '2001:4860::/32',
  '2620:fe::/32',
  '2001:503::/32',
]

const ROW = { format: 'text', enabled: true, licence: 'none', credit: '', note: '' } as const
const MADE_ROWS: readonly SourceRow[] = [
  {
    ...ROW,
    id: 'made-proxies',
    title: 'Made proxies',
    kind: 'addresses',
    networkClass: 'residential_proxy',
  },
  ...Array.from({ length: CRAWLERS }, (_, number): SourceRow => {
    return {
      ...ROW,
      id: `made-crawler-${number}`,
      title: 'Made crawler',
      kind: 'crawler',
      networkClass: 'datacenter',
      crawler: `crawler-${number}`,
    }
  }),
]

/** The embedded sources and made lists of full size, or a share of it, as files in `folder`. */
export async function fullSources(folder: string, share = 1): Promise<readonly ResolvedSource[]> {
  const { shared } = await compileTables({ dataDir: folder, sources: resolveSources() })
  const random = createRandom(20_261_121)
  const draw = createDraw(loadTables(shared), random)
  const addresses = (family: 4 | 6, count: number) =>
    Array.from({ length: Math.ceil(count * share) }, () => draw(family))
  const prefixes = (family: 4 | 6, count: number) => {
    const lengths = LENGTHS[family]
    return addresses(family, count).map((address) => `${address}/${lengths[random(lengths.length)]}`)
  }
  const files: Readonly<Record<string, readonly string[]>> = {
    'x4bnet-vpn-ipv4': prefixes(4, PREFIXES.vpn[4]),
    'x4bnet-vpn-ipv6': prefixes(6, PREFIXES.vpn[6]),
    'x4bnet-dc-ipv4': prefixes(4, PREFIXES.hosting[4]),
    'x4bnet-dc-ipv6': prefixes(6, PREFIXES.hosting[6]),
    'made-proxies': [...addresses(4, LISTED[4]), ...addresses(6, LISTED[6])],
    ...Object.fromEntries(
      MADE_ROWS.filter(({ kind }) => kind === 'crawler').map(({ id }) => [
        id,
        [...prefixes(4, CRAWLER_PREFIXES), ...prefixes(6, CRAWLER_PREFIXES / 10)],
      ]),
    ),
  }
  const overrides = Object.entries(files).map(([id, lines]) => {
    const path = join(folder, id)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return [id, { url: pathToFileURL(path).href }] as const
  })
  return resolveSources(Object.fromEntries(overrides), [...SOURCES, ...MADE_ROWS])
}

/** Systems whose prefixes of IPv6 are drawn from: random addresses of all IPv6 space would meet nothing. */
const SYSTEMS = 500

/** Draws public addresses from the networks of tables. Each system takes milliseconds to find its prefixes. */
export function createDraw({ networks, systems }: LoadedTables, random: Random): (family: 4 | 6) => string {
  if (networks === undefined || systems === undefined) throw new Error('no network data to draw from')
  const routed = Array.from({ length: SYSTEMS }, () => systems.prefixes(random(systems.size)))
    .flat()
    .filter(({ address }) => address.family === 6)
  const keptOut = createPrefixSet(KEPT_OUT.flatMap((text) => parsePrefix(text) ?? []))
  return (family) => {
    for (;;) {
      const { address, length } = routed[random(routed.length)] as Prefix
      const drawn = family === 6 ? addressIn(address, length, random) : address4(random(2 ** 32))
      const isRouted = family === 6 || networks.find(drawn)?.system !== undefined
      if (isRouted && reservedRow(drawn) === undefined && !keptOut.has(drawn)) return formatAddress(drawn)
    }
  }
}
