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

/** Headers raise these doubts; crawlers that name themselves are counted by their purpose. */
const LOUD: readonly AgentBasis[] = ['automation', 'ai-name', 'contradiction', 'absence', 'behaviour']
/** Matches everything but a browser without evidence against it on a line of people. */
const DOUBTS: readonly AgentBasis[] = [...LOUD, 'crawler', 'network']

/** Matches browsers on servers, VPNs and proxies, whole ones and others: another sign, or another method, opens no wider count. */
const READERS = { basis: ['network', 'absence', 'contradiction', 'behaviour'], userAgent: BROWSERS } as const

const SERVERS = [...INFRASTRUCTURE, ...ANONYMISERS]

const BUSY = { load: { atLeast: 0.8 } } as const

/** Both presets begin with what passes, and what is refused whatever its number; proven training crawlers have a limit. */
const FIRST: readonly PresetRow[] = [
  {
    id: 'open',
    match: { path: ['/robots.txt', '/.well-known/**'], method: READING },
    action: 'allow',
    why: 'robots.txt, certificate challenges and security contacts are public',
  },
  ...FEEDS,
  {
    id: 'training',
    match: { purpose: ['training'] },
    limit: { key: 'operator', kind: 'bucket', max: 60, window: '1m', burst: 10 },
    action: 'throttle',
    why: 'training crawlers flood most sites, verified or not',
  },
  { ...VERIFIED, why: 'verified crawlers, previews, monitors and agents' },
  { ...IMPOSTOR, why: 'a refuted claim' },
  { ...HEADLESS, action: 'block', why: 'the client declares that it is headless' },
  { ...CONTRADICTED_TWICE, why: 'no browser contradicts itself twice' },
  ...SERVICES,
  { ...UNPROVEN, why: 'crawlers that nothing verifies' },
  {
    ...DOUBTFUL,
    why: 'copies of browsers and clients without a user agent; three in four are programs',
  },
]

const SERVER_PROGRAMS: readonly PresetRow[] = [
  SERVER_APPS,
  {
    id: 'server-libraries',
    match: { networkClass: SERVERS, method: READING, userAgent: LIBRARIES },
    action: 'block',
    why: 'HTTP libraries on servers, VPNs and proxies; GET and HEAD only',
  },
  {
    id: 'server-programs',
    match: { basis: ['automation'], networkClass: SERVERS, method: READING },
    perMinute: { client: 10, prefix: 20, asn: 60, class: 600 },
    action: 'throttle',
    why: 'other programs on servers, VPNs and proxies',
  },
]

/** A shared address stays below this: forty people who read open four pages a second. */
const HOME: readonly PresetRow[] = [
  {
    id: 'home',
    match: { basis: ['none'], networkClass: ['residential_clean'] },
    pages: { client: 600 },
    ...ASKED,
    why: 'ten pages a second from one home; mobile carriers are exempt',
  },
]

const ALIKE: PresetRow = {
  id: 'alike',
  match: { method: READING },
  limit: { key: 'likeness', max: 60, window: '1m', count: 'page' },
  ...ASKED,
  why: 'similar clients that load no files or return no cookies: one scraper',
}

const SEEN: PresetRow = {
  id: 'doubtful-seen',
  match: { basis: DOUBTS },
  action: 'flag',
  why: 'the log names doubtful requests within their limits',
}

const BUSY_LIMIT: PresetRow = {
  id: 'busy',
  match: { ...BUSY, basis: LOUD },
  perMinute: { prefix: 240, asn: 600, class: 1_200 },
  action: 'throttle',
  why: 'requests in floods from a thousand networks share nothing but doubt',
}

const BUSY_SERVERS: PresetRow = {
  id: 'busy-servers',
  match: { ...BUSY, ...READERS },
  pages: { client: 30, prefix: 60, asn: 240, class: 600 },
  ...ASKED,
  why: 'browsers on servers, VPNs and proxies',
}

const NAMED: PresetRow = {
  id: 'named',
  match: { basis: ['ai-name'] },
  perMinute: { client: 60, asn: 300, class: 600 },
  action: 'throttle',
  why: 'unverified AI crawlers and agents use many addresses of one cloud',
}

const PROGRAMS: PresetRow = {
  id: 'programs',
  match: { basis: ['automation'], method: READING },
  perMinute: { client: 60, prefix: 240, asn: 1_200 },
  action: 'throttle',
  why: 'programs on home and mobile networks',
}

const SENDING: PresetRow = {
  id: 'sending',
  match: { ...SENDS, basis: ['contradiction', 'absence', 'behaviour', 'automation', 'network'] },
  perMinute: { client: 300, prefix: 900, asn: 1_800, class: 3_000 },
  action: 'throttle',
  why: 'webhooks arrive in bursts, and cannot solve a challenge',
}

const ON_SERVERS: PresetRow = {
  id: 'servers',
  match: READERS,
  pages: SERVER_PAGES,
  ...ASKED,
  why: 'browsers on servers, VPNs and Tor: people, or rented machines',
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
  ALIKE,
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
    why: 'floods through residential proxies use complete browsers',
  },
  { ...NAMED, perMinute: { client: 10, asn: 120, class: 300 } },
  { ...PROGRAMS, perMinute: { client: 10, prefix: 40, asn: 120, class: 300 } },
  { ...SENDING, perMinute: { client: 120, prefix: 360, asn: 1_200, class: 3_000 } },
  {
    id: 'asked',
    match: { basis: ['network'], userAgent: BROWSERS, method: READING },
    ...ASKED,
    why: 'complete browsers on servers, VPNs and Tor, before the first page',
  },
  {
    id: 'unknown-lines',
    match: { basis: ['none', 'absence', 'contradiction', 'behaviour'], networkClass: ['unknown'] },
    // Addresses without a system are internal, or belong to a proxy that the configuration does not name.
    limit: { key: ['asn', 'client'], max: 30, window: '1m', count: 'page' },
    ...ASKED,
    why: 'browsers on unknown networks',
  },
  ON_SERVERS,
  ...HOME,
  SEEN,
]
