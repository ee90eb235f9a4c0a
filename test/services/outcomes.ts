import {
  compilePolicy,
  createCatalogue,
  createCounter,
  createCrawlerVerifier,
  createInspector,
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
import { SERVICES, type Service } from './services.ts'

/** Prefixes and their systems in November 2026; the operator table states their classes. */
const PREFIXES: readonly (readonly [cidr: string, asn: number])[] = [
  ['5.9.0.0/16', 24940],
  ['8.29.198.0/24', 22616],
  ['17.0.0.0/8', 714],
  ['20.0.0.0/11', 8075],
  ['31.13.24.0/21', 32934],
  ['34.64.0.0/10', 396982],
  ['35.191.0.0/16', 15169],
  ['35.196.0.0/16', 396982],
  ['40.64.0.0/10', 8075],
  ['51.136.0.0/15', 8075],
  ['54.160.0.0/11', 14618],
  ['54.183.0.0/16', 16509],
  ['54.187.0.0/16', 16509],
  ['54.212.0.0/16', 16509],
  ['66.211.160.0/19', 17012],
  ['66.249.64.0/19', 15169],
  ['69.162.64.0/18', 46475],
  ['73.0.0.0/8', 7922],
  ['82.199.64.0/19', 43753],
  ['87.233.0.0/16', 12876],
  ['98.97.0.0/16', 14593],
  ['98.136.0.0/14', 36647],
  ['104.28.0.0/16', 13335],
  ['116.202.0.0/16', 24940],
  ['128.30.0.0/15', 3],
  ['129.146.0.0/16', 31898],
  ['130.211.0.0/22', 15169],
  ['140.82.112.0/20', 36459],
  ['147.243.0.0/16', 8075],
  ['165.225.0.0/16', 22616],
  ['168.63.129.16/32', 8075],
  ['172.64.0.0/13', 13335],
  ['172.224.0.0/12', 36183],
  ['188.166.0.0/16', 14061],
  ['207.241.224.0/20', 7941],
]

/** Lists of services hold them too. */
const LISTED: Readonly<Record<string, Parameters<typeof makeHit>[0]>> = {
  '104.28.0.0/16': { networkClass: 'vpn', provider: 'Cloudflare WARP', source: 'cloudflare-warp' },
}

function networkRow([cidr, asn]: readonly [string, number]): NetworkRow {
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

/** Content types of answers that are no JSON. Some frameworks answer a webhook with the type of a page. */
const ANSWERS: Readonly<Partial<Record<Service['kind'], string>>> = {
  people: 'text/html',
  webhooks: 'text/html',
  'health checks': 'text/html',
  monitors: 'text/html',
  'previews and checkers': 'text/html',
}

/** The outcome of a service's minute: the strictest of its answers, and the rule that gave it. */
export interface ServiceOutcome {
  readonly answer: 'passes' | 'page' | 'refused'
  readonly rule: string
  /** Requests that passed before it. */
  readonly passed: number
}

const NO_PROXY: readonly string[] = []

/** One minute of a service before a preset, counted as a host counts it. A challenge that its client cannot show is a refusal. */
export async function runMinute(
  service: Service,
  preset: PresetName,
  rules: Policy['rules'] = [],
): Promise<ServiceOutcome> {
  const clock = createFakeClock('2026-11-28T09:00:00.000Z')
  const inspector = createInspector({
    clock,
    snapshots: makeSnapshots({ networks: NETWORKS, geo: GEO, countries: COUNTRIES, rangesLoaded: true }),
    trust: parseTrust(service.trustProxy ?? NO_PROXY, 'x-forwarded-for'),
    policy: compilePolicy({ preset, rules }),
    mode: 'enforce',
    crawlers: createCrawlerVerifier(CATALOGUE, { reverse: createReverseChecks({ clock, dns: createFakeDns({}) }) }),
  })
  const counter = createCounter({ counts: createFakeCounts(clock), flights: 'test' })
  let passed = 0
  for (let time = 0; time < service.perMinute; time++) {
    for (let at = 0; at < (service.clients ?? 1); at++) {
      const request = makeRequest(service, at)
      const { decision, ended } = await counter.count(inspector.decide(request))

      ended?.(refuses(decision.action) ? undefined : 200, undefined, ANSWERS[service.kind] ?? 'application/json')
      const rule = (decision.reasons[0]?.id ?? '').replace('policy:', '')
      if (!refuses(decision.action)) {
        passed++
        continue
      }
      const isShown = decision.action === 'challenge' && isPage(request)
      return { answer: isShown ? 'page' : 'refused', rule, passed }
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

/** Returns the outcomes of every service before every preset. */
export async function allOutcomes(): Promise<ReadonlyMap<Service, ReadonlyMap<PresetName, ServiceOutcome>>> {
  const rows = new Map<Service, ReadonlyMap<PresetName, ServiceOutcome>>()
  for (const service of SERVICES) {
    const row = new Map<PresetName, ServiceOutcome>()
    for (const preset of PRESET_NAMES) row.set(preset, await runMinute(service, preset))
    rows.set(service, row)
  }
  return rows
}
