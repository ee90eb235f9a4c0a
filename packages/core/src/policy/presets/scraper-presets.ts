import type { AgentBasis } from '../../values/agent-verdict.ts'
import {
  ANONYMISERS,
  ASKED,
  BROWSERS,
  BUDGET,
  CONTRADICTED_TWICE,
  DOUBTFUL,
  HEADLESS,
  IMPOSTOR,
  INFRASTRUCTURE,
  READING,
  UNPROVEN,
  VERIFIED,
} from './common-rules.ts'
import type { PresetRow } from './preset-row.ts'
import {
  FEEDS,
  HELPER_LIMIT,
  HELPERS_SEEN,
  HELPERS_SENDING,
  LIBRARIES,
  SENDS,
  SERVER_APPS,
  SERVER_PAGES,
  SERVICES,
} from './service-rules.ts'

/** Doubts that headers show; crawlers that are named so are counted by their purpose. */
const LOUD: readonly AgentBasis[] = ['automation', 'ai-name', 'contradiction', 'absence']
/** Everything but a browser that shows nothing against it, on a line of people. */
const DOUBTS: readonly AgentBasis[] = [...LOUD, 'crawler', 'network']

/** Browsers on servers, VPNs and proxies, whole ones and others: a sign more, or another method, opens no wider count. */
const READERS = { basis: ['network', 'absence', 'contradiction'], userAgent: BROWSERS } as const

const SERVERS = [...INFRASTRUCTURE, ...ANONYMISERS]

const BUSY = { load: { atLeast: 0.8 } } as const

/** Both begin with what passes, and what is refused whatever its number; proven crawlers for training have a limit. */
const FIRST: readonly PresetRow[] = [
  {
    id: 'open',
    match: { path: ['/robots.txt', '/.well-known/**'], method: READING },
    action: 'allow',
    why: 'robots.txt, certificate challenges and security contacts are open to all',
  },
  ...FEEDS,
  {
    id: 'training',
    match: { purpose: ['training'] },
    limit: { key: 'operator', kind: 'bucket', max: 60, window: '1m', burst: 10 },
    action: 'throttle',
    why: 'training crawlers flood most sites; they get one page a second, proven or not',
  },
  { ...VERIFIED, why: 'a crawler, preview, monitor or agent that is proven' },
  { ...IMPOSTOR, why: 'a disproved claim' },
  { ...HEADLESS, action: 'block', why: 'the client says that it is headless' },
  { ...CONTRADICTED_TWICE, why: 'a request that contradicts itself twice is not from a browser' },
  ...SERVICES,
  { ...UNPROVEN, why: 'a crawler that nothing proves: its name is worth no more than none' },
  {
    ...DOUBTFUL,
    why: 'copies of browsers, and clients without a name, before the first page: programs in three of four cases',
  },
]

const SERVER_PROGRAMS: readonly PresetRow[] = [
  SERVER_APPS,
  {
    id: 'server-libraries',
    match: { networkClass: SERVERS, method: READING, userAgent: LIBRARIES },
    action: 'block',
    why: 'HTTP libraries on servers, VPNs and proxies; requests that send (webhooks) are only counted',
  },
  {
    id: 'server-programs',
    match: { basis: ['automation'], networkClass: SERVERS, method: READING },
    perMinute: { client: 10, prefix: 20, asn: 60, class: 600 },
    action: 'throttle',
    why: 'other programs from there: your own monitor asks now and then',
  },
]

/** One address with many people behind it opens fewer pages than this: forty who read open four a second. */
const HOME: readonly PresetRow[] = [
  {
    id: 'home',
    match: { basis: ['none'], networkClass: ['residential_clean'] },
    pages: { client: 600 },
    ...ASKED,
    why: 'ten pages a second from one home line; mobile carriers share addresses and are not counted',
  },
]

const SEEN: PresetRow = {
  id: 'doubtful-seen',
  match: { basis: DOUBTS },
  action: 'flag',
  why: 'doubtful requests within their limits are in the log',
}

const BUSY_LIMIT: PresetRow = {
  id: 'busy',
  match: { ...BUSY, basis: LOUD },
  perMinute: { prefix: 240, asn: 600, class: 1_200 },
  action: 'throttle',
  why: 'while the server is busy, doubtful requests share little capacity: floods of a thousand networks have nothing else in common',
}

const BUSY_SERVERS: PresetRow = {
  id: 'busy-servers',
  match: { ...BUSY, ...READERS },
  pages: { client: 30, prefix: 60, asn: 240, class: 600 },
  ...ASKED,
  why: 'the same for browsers on servers, VPNs and proxies, by pages',
}

const NAMED: PresetRow = {
  id: 'named',
  match: { basis: ['ai-name'] },
  perMinute: { client: 60, asn: 300, class: 600 },
  action: 'throttle',
  why: 'unproven AIs and agents, often from many addresses of one cloud',
}

const PROGRAMS: PresetRow = {
  id: 'programs',
  match: { basis: ['automation'], method: READING },
  perMinute: { client: 60, prefix: 240, asn: 1_200 },
  action: 'throttle',
  why: 'programs on home and mobile lines',
}

const SENDING: PresetRow = {
  id: 'sending',
  match: { ...SENDS, basis: ['contradiction', 'absence', 'automation', 'network'] },
  perMinute: { client: 300, prefix: 900, asn: 1_800, class: 3_000 },
  action: 'throttle',
  why: 'requests that send: webhooks come in bursts, and are not challenged',
}

const ON_SERVERS: PresetRow = {
  id: 'servers',
  match: READERS,
  pages: SERVER_PAGES,
  ...ASKED,
  why: 'browsers on servers, VPNs and Tor, by pages: people, or rented machines',
}

export const STOP_SCRAPERS: readonly PresetRow[] = [
  ...FIRST,
  HELPER_LIMIT,
  HELPERS_SENDING,
  HELPERS_SEEN,
  BUDGET,
  ...SERVER_PROGRAMS,
  BUSY_LIMIT,
  BUSY_SERVERS,
  NAMED,
  PROGRAMS,
  SENDING,
  ON_SERVERS,
  ...HOME,
  SEEN,
]

export const UNDER_ATTACK: readonly PresetRow[] = [
  ...FIRST,
  { ...HELPER_LIMIT, perMinute: { client: 30, asn: 1_500 } },
  HELPERS_SENDING,
  HELPERS_SEEN,
  BUDGET,
  ...SERVER_PROGRAMS,
  { ...BUSY_LIMIT, perMinute: { client: 20, prefix: 40, asn: 120, class: 300 } },
  {
    id: 'busy-lines',
    match: { ...BUSY, basis: ['none'] },
    pages: { client: 120, prefix: 600, asn: 6_000 },
    ...ASKED,
    why: 'whole browsers while the server is busy, because floods through residential proxies use them',
  },
  { ...NAMED, perMinute: { client: 10, asn: 120, class: 300 } },
  { ...PROGRAMS, perMinute: { client: 10, prefix: 40, asn: 120, class: 300 } },
  { ...SENDING, perMinute: { client: 120, prefix: 360, asn: 1_200, class: 3_000 } },
  {
    id: 'asked',
    match: { basis: ['network'], userAgent: BROWSERS, method: READING },
    ...ASKED,
    why: 'whole browsers on servers, VPNs and Tor, before the first page',
  },
  {
    id: 'unknown-lines',
    match: { basis: ['none', 'absence', 'contradiction'], networkClass: ['unknown'] },
    // Addresses without a system are inside, or of a proxy that nobody named.
    limit: { key: ['asn', 'client'], max: 30, window: '1m', count: 'page' },
    ...ASKED,
    why: 'browsers in unknown networks',
  },
  ON_SERVERS,
  ...HOME,
  SEEN,
]
