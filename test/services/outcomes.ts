import {
  createCatalogue,
  createCounter,
  createCrawlerVerifier,
  createReverseChecks,
  formatAddress,
  type InspectionRequest,
  type NetworkRecord,
  type NetworkTable,
  type Policy,
  PRESET_NAMES,
  type PresetName,
  parseTrust,
} from '@sallyport/core'
import { refuses } from '@sallyport/core/host'
import {
  createFakeClock,
  createFakeCounts,
  createFakeDns,
  createFakeGeo,
  createFakeNetworks,
  makeAddress,
  makeHit,
  makeSnapshots,
  makeSystem,
  type NetworkRow,
} from '@sallyport/core/testing'
import { OPERATORS } from '@sallyport/data/operators'
import { askedAs } from '@sallyport/node/internal'
import { makeInspector } from '../inspector.ts'
import { SERVICES, type Service } from './services.ts'

/** Prefixes and their systems in November 2026; the operator table states their classes. */
const PREFIXES = `
  5.9.0.0/16 AS24940, 8.29.198.0/24 AS22616, 17.0.0.0/8 AS714, 20.0.0.0/11 AS8075, 31.13.24.0/21 AS32934,
  34.64.0.0/10 AS396982, 35.191.0.0/16 AS15169, 35.196.0.0/16 AS396982, 40.64.0.0/10 AS8075, 51.136.0.0/15 AS8075,
  54.160.0.0/11 AS14618, 54.183.0.0/16 AS16509, 54.187.0.0/16 AS16509, 54.212.0.0/16 AS16509,
  66.211.160.0/19 AS17012, 66.249.64.0/19 AS15169, 69.162.64.0/18 AS46475, 73.0.0.0/8 AS7922, 82.199.64.0/19 AS43753,
  87.233.0.0/16 AS12876, 98.97.0.0/16 AS14593, 98.136.0.0/14 AS36647, 104.28.0.0/16 AS13335, 116.202.0.0/16 AS24940,
  128.30.0.0/15 AS3, 129.146.0.0/16 AS31898, 130.211.0.0/22 AS15169, 140.82.112.0/20 AS36459, 147.243.0.0/16 AS8075,
  165.225.0.0/16 AS22616, 168.63.129.16/32 AS8075, 172.64.0.0/13 AS13335, 172.224.0.0/12 AS36183,
  188.166.0.0/16 AS14061, 207.241.224.0/20 AS7941
`
  .trim()
  .split(/,\s+/)
  .map((text) => text.split(' AS'))

/** Lists of services hold them too. */
const LISTED: Readonly<Record<string, Parameters<typeof makeHit>[0]>> = {
  '104.28.0.0/16': { networkClass: 'vpn', provider: 'Cloudflare WARP', source: 'cloudflare-warp' },
}

function networkRow([cidr = '', number]: readonly string[]): NetworkRow {
  const asn = Number(number)
  const row = OPERATORS.find((one) => one.asn === asn)
  const type = row?.type ?? 'hosting'
  const classes = { isp: 'residential_clean', mobile: 'mobile', hosting: 'hosting', vpn: 'vpn', tor: 'tor' } as const
  const networkClass = row?.networkClass ?? (type in classes ? classes[type as 'isp'] : 'unknown')
  const hit = LISTED[cidr]
  const system = makeSystem({ asn, type, networkClass, ...(row && { name: row.name, brand: row.brand ?? '' }) })
  return [cidr, { system, ...(hit && { range: makeHit(hit) }) }]
}

const KNOWN = createFakeNetworks(PREFIXES.map(networkRow))
const records = new Map<string, NetworkRecord | undefined>()
const NETWORKS: NetworkTable = {
  find(address) {
    const text = formatAddress(address)
    if (!records.has(text)) records.set(text, KNOWN.find(address))
    return records.get(text)
  },
}
const CATALOGUE = createCatalogue()
const COUNTRIES = { find: () => ({ code: 'DE', source: 'city', basis: 'city' }) as const }
const GEO = createFakeGeo({})

/** Services that are answered with pages, the others with JSON. Some frameworks answer a webhook with the type of a page. */
const PAGES = ['people', 'webhooks', 'health checks', 'monitors', 'previews and checkers']

/** The outcome of a service's minute: the strictest of its answers, and the rule that gave it. */
export interface ServiceOutcome {
  readonly answer: 'passes' | 'page' | 'refused'
  readonly rule: string
  readonly passed: number
}

/** One minute of a service before a preset, counted as a host counts it. A challenge that its client cannot show is a refusal. */
export async function runMinute(
  service: Service,
  preset: PresetName,
  rules: Policy['rules'] = [],
): Promise<ServiceOutcome> {
  const clock = createFakeClock('2026-11-28T09:00:00.000Z')
  const inspector = makeInspector(
    { preset, rules },
    {
      clock,
      snapshots: makeSnapshots({ networks: NETWORKS, geo: GEO, countries: COUNTRIES, rangesLoaded: true }),
      trust: parseTrust(service.trustProxy ?? [], 'x-forwarded-for'),
      crawlers: createCrawlerVerifier(CATALOGUE, { reverse: createReverseChecks({ clock, dns: createFakeDns({}) }) }),
    },
  )
  const counter = createCounter({ counts: createFakeCounts(clock), flights: 'test' })
  const type = PAGES.includes(service.kind) ? 'text/html' : 'application/json'
  let passed = 0
  for (let time = 0; time < service.perMinute; time++) {
    for (let at = 0; at < (service.clients ?? 1); at++) {
      const request = makeRequest(service, at)
      const { decision, ended } = await counter.count(inspector.decide(request))
      ended?.(refuses(decision.action) ? undefined : 200, undefined, type)
      if (refuses(decision.action)) {
        const isShown = decision.action === 'challenge' && isPage(request)
        const rule = (decision.reasons[0]?.id ?? '').replace('policy:', '')
        return { answer: isShown ? 'page' : 'refused', rule, passed }
      }
      passed++
    }
  }
  return { answer: 'passes', rule: '', passed }
}

function isPage(request: InspectionRequest): boolean {
  return askedAs({ ...request, id: '1' }, () => false) !== 'program'
}

/** Makes a request of the client at `at`: clients have addresses in /24s beside each other, sixteen in each. */
function makeRequest(service: Service, at: number): InspectionRequest {
  const { ip, method = 'GET', path, headers, httpVersion = '1.1' } = service
  const address = makeAddress(ip)
  const [one, two, three, four] = formatAddress(address).split('.').map(Number) as [number, number, number, number]
  const peer = [one, two, three + Math.floor(at / 16), four + (at % 16)].join('.')
  const fields = ['Host', 'shop.example', ...Object.entries(headers).flat()]
  return { peer, method, target: path, scheme: 'https', httpVersion, fields }
}

export async function allOutcomes(): Promise<ReadonlyMap<Service, ReadonlyMap<PresetName, ServiceOutcome>>> {
  const rows = new Map<Service, Map<PresetName, ServiceOutcome>>()
  // One after another: each minute holds its counts.
  for (const service of SERVICES) {
    const row = new Map<PresetName, ServiceOutcome>()
    for (const preset of PRESET_NAMES) row.set(preset, await runMinute(service, preset))
    rows.set(service, row)
  }
  return rows
}
