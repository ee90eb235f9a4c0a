import { compilePolicy, createCatalogue, createCrawlerVerifier, createReverseChecks, parseTrust } from '../src/index.ts'
import { createInspector, type InspectorOptions } from '../src/inspection/inspector.ts'
import {
  createFakeClock,
  createFakeCountries,
  createFakeDns,
  createFakeNetworks,
  makeSnapshots,
  makeSystem,
} from '../src/testing/fakes.ts'
import type { InspectionRequest } from '../src/values/request.ts'

export const NOW = '2026-11-21T12:00:00.000Z'

export const HOME = '8.1.1.1'
export const RACK = '8.2.1.1'
export const SCHOOL = '8.5.1.1'
export const PROXY = '8.9.9.9'

export const CATALOGUE = createCatalogue()

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, brand: 'Racks', type: 'hosting', networkClass: 'hosting' }) }],
  ['8.3.0.0/16', { system: makeSystem({ asn: 64_503, name: 'Carrier', type: 'mobile', networkClass: 'mobile' }) }],
  ['8.4.0.0/16', { system: makeSystem({ asn: 64_504, name: 'Onions', type: 'tor', networkClass: 'tor' }) }],
  ['8.5.0.0/16', { system: makeSystem({ asn: 64_505, name: 'School', type: 'education', networkClass: 'unknown' }) }],
  ['8.6.0.0/16', { system: makeSystem({ asn: 64_506, brand: 'Tunnels', type: 'vpn', networkClass: 'vpn' }) }],
  [
    '8.7.0.0/16',
    { system: makeSystem({ asn: 22_616, brand: 'Zscaler', type: 'hosting', networkClass: 'datacenter' }) },
  ],
])

/** An inspector over a small made internet, with a proxy at `PROXY` that is trusted. */
export function agentInspector(options: Partial<InspectorOptions> = {}) {
  const clock = createFakeClock(NOW)
  const countries = createFakeCountries({ [HOME]: 'DE' })
  return createInspector({
    clock,
    snapshots: makeSnapshots({ networks: NETWORKS, countries, rangesLoaded: true }),
    trust: parseTrust([PROXY], 'x-forwarded-for'),
    policy: compilePolicy({ preset: 'low-friction', rules: [] }),
    mode: 'enforce',
    crawlers: createCrawlerVerifier(CATALOGUE, { reverse: createReverseChecks({ clock, dns: createFakeDns({}) }) }),
    ...options,
  })
}

export function makeRequest(fields: readonly string[], overrides: Partial<InspectionRequest> = {}): InspectionRequest {
  return { peer: HOME, method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1', fields, ...overrides }
}

/** A request with a user agent among fields that any client may send, from a home line. */
export function plainRequest(userAgent: string): InspectionRequest {
  const fields = ['Host', 'a.example', 'User-Agent', userAgent, 'Accept', 'text/html,*/*;q=0.8']
  return makeRequest([...fields, 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate'], { scheme: 'http' })
}

/** Returns user agents as applications on people's devices write them under a name. */
export const applicationForms = (name: string): readonly string[] => [
  `${name}/3.1 CFNetwork/1498.700.2 Darwin/23.6.0`,
  `${name}/3.1 (iPhone; iOS 17.5; Scale/3.00)`,
  `${name}/3.1 (iPad; iPadOS 17.5; Scale/2.00)`,
  `${name}/3.1 (com.example.app; build:12; iOS 17.5.0) Alamofire/5.9.1`,
  `${name}/3.1 (Mac OS X Version 14.5 (Build 23F79))`,
  `${IPHONE} ${name}/3.1`,
  `${MAC} ${name}/3.1`,
  `${WEB_VIEW} ${name}/3.1`,
]

export function electron(app: string): string {
  return CHROME_TEXT.replace('Chrome/', `${app} Chrome/`).replace(' Safari', ' Electron/39.0.0 Safari')
}

export const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148'
export const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)'
const WEB_VIEW =
  'Mozilla/5.0 (Linux; Android 14; SM-S918N; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/129.0.6668.81 Mobile Safari/537.36'
export const CHROME_TEXT =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
export const FIREFOX_TEXT = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'
export const SAFARI_TEXT = `${MAC} Version/18.1 Safari/605.1.15`

/** Fields of Chrome 150 on Windows when a page is opened, in its order. */
export const CHROME: Readonly<Record<string, string>> = {
  Host: 'example.com',
  Connection: 'keep-alive',
  'sec-ch-ua': '"Chromium";v="150", "Google Chrome";v="150", "Not.A/Brand";v="99"',
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Windows"',
  'Upgrade-Insecure-Requests': '1',
  'User-Agent': CHROME_TEXT,
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
  'Sec-Fetch-Site': 'none',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-User': '?1',
  'Sec-Fetch-Dest': 'document',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  'Accept-Language': 'en-GB,en;q=0.9',
}

export const FIREFOX: Readonly<Record<string, string>> = {
  Host: 'example.com',
  'User-Agent': FIREFOX_TEXT,
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'Accept-Language': 'en-US,en;q=0.9',
  'Accept-Encoding': 'gzip, deflate, br, zstd',
  Connection: 'keep-alive',
  'Upgrade-Insecure-Requests': '1',
  'Sec-Fetch-Dest': 'document',
  'Sec-Fetch-Mode': 'navigate',
  'Sec-Fetch-Site': 'none',
}

/** Fields of a header table with some changed; `undefined` takes one away. */
export function makeFields(
  headers: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>> = {},
): readonly string[] {
  return Object.entries({ ...headers, ...changes }).flatMap(([name, value]) =>
    value === undefined ? [] : [name, value],
  )
}
