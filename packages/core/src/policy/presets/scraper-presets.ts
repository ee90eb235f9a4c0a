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
import { makeRow, type PresetRow } from './preset-row.ts'
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
  makeRow('open', 'robots.txt, certificate challenges and security contacts are public', {
    match: { path: ['/robots.txt', '/.well-known/**'], method: READING },
    action: 'allow',
  }),
  ...FEEDS,
  makeRow('training', 'training crawlers flood most sites, verified or not', {
    match: { purpose: ['training'] },
    limit: { key: 'operator', kind: 'bucket', max: 60, window: '1m', burst: 10 },
    action: 'throttle',
  }),
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
  makeRow('server-libraries', 'HTTP libraries on servers, VPNs and proxies; GET and HEAD only', {
    match: { networkClass: SERVERS, method: READING, userAgent: LIBRARIES },
    action: 'block',
  }),
  makeRow('server-programs', 'other programs on servers, VPNs and proxies', {
    match: { basis: ['automation'], networkClass: SERVERS, method: READING },
    perMinute: { client: 10, prefix: 20, asn: 60, class: 600 },
    action: 'throttle',
  }),
]

/** A shared address stays below this: forty people who read open four pages a second. */
const HOME: readonly PresetRow[] = [
  makeRow('home', 'ten pages a second from one home; mobile carriers are exempt', {
    match: { basis: ['none'], networkClass: ['residential_clean'] },
    pages: { client: 600 },
    ...ASKED,
  }),
]

const ALIKE = makeRow('alike', 'similar clients that load no files or return no cookies: one scraper', {
  match: { method: READING },
  limit: { key: 'likeness', max: 60, window: '1m', count: 'page' },
  ...ASKED,
})

const SEEN = makeRow('doubtful-seen', 'the log names doubtful requests within their limits', {
  match: { basis: DOUBTS },
  action: 'flag',
})

const BUSY_LIMIT = makeRow('busy', 'requests in floods from a thousand networks share nothing but doubt', {
  match: { ...BUSY, basis: LOUD },
  perMinute: { prefix: 240, asn: 600, class: 1_200 },
  action: 'throttle',
})

const BUSY_SERVERS = makeRow('busy-servers', 'browsers on servers, VPNs and proxies', {
  match: { ...BUSY, ...READERS },
  pages: { client: 30, prefix: 60, asn: 240, class: 600 },
  ...ASKED,
})

const NAMED = makeRow('named', 'unverified AI crawlers and agents use many addresses of one cloud', {
  match: { basis: ['ai-name'] },
  perMinute: { client: 60, asn: 300, class: 600 },
  action: 'throttle',
})

const PROGRAMS = makeRow('programs', 'programs on home and mobile networks', {
  match: { basis: ['automation'], method: READING },
  perMinute: { client: 60, prefix: 240, asn: 1_200 },
  action: 'throttle',
})

const SENDING = makeRow('sending', 'webhooks arrive in bursts, and cannot solve a challenge', {
  match: { ...SENDS, basis: ['contradiction', 'absence', 'behaviour', 'automation', 'network'] },
  perMinute: { client: 300, prefix: 900, asn: 1_800, class: 3_000 },
  action: 'throttle',
})

const ON_SERVERS = makeRow('servers', 'browsers on servers, VPNs and Tor: people, or rented machines', {
  match: READERS,
  pages: SERVER_PAGES,
  ...ASKED,
})

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
  makeRow('busy-lines', 'floods through residential proxies use complete browsers', {
    match: { ...BUSY, basis: ['none'] },
    pages: { client: 120, prefix: 600, asn: 6_000 },
    ...ASKED,
  }),
  { ...NAMED, perMinute: { client: 10, asn: 120, class: 300 } },
  { ...PROGRAMS, perMinute: { client: 10, prefix: 40, asn: 120, class: 300 } },
  { ...SENDING, perMinute: { client: 120, prefix: 360, asn: 1_200, class: 3_000 } },
  makeRow('asked', 'complete browsers on servers, VPNs and Tor, before the first page', {
    match: { basis: ['network'], userAgent: BROWSERS, method: READING },
    ...ASKED,
  }),
  makeRow('unknown-lines', 'browsers on unknown networks', {
    match: { basis: ['none', 'absence', 'contradiction', 'behaviour'], networkClass: ['unknown'] },
    // Addresses without a system are internal, or belong to a proxy that the configuration does not name.
    limit: { key: ['asn', 'client'], max: 30, window: '1m', count: 'page' },
    ...ASKED,
  }),
  ON_SERVERS,
  ...HOME,
  SEEN,
]
