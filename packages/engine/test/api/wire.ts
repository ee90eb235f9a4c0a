import { gzipSync } from 'node:zlib'
import {
  type Counts,
  compilePolicy,
  createCatalogue,
  createCrawlerAnswers,
  createCrawlerVerifier,
  createInspector,
  createLookup,
  createNameTurns,
  createReverseChecks,
  type Dns,
  type Lookup,
  type NameAnswer,
  parseAddress,
  parseTrust,
  SallyportError,
  type Snapshot,
  type Snapshots,
  type WhoisAnswer,
  type WhoisRecord,
} from '@sallyport/core'
import {
  createFakeClock,
  createFakeCountries,
  createFakeCounts,
  createFakeDns,
  createFakeGeo,
  createFakeNetworks,
  createFakeSystems,
  createFakeWhois,
  makeHit,
  makeSnapshot,
  makeSystem,
} from '@sallyport/core/testing'
import { type Account, ALLOWANCES, parseKey } from '#accounts'
import { type ApiServices, createApi } from '../../src/api/index.ts'
import type { Route } from '../../src/api/route.ts'
import { makeKey } from '../accounts/contract.ts'
import { createFaultyAccounts, type FaultHook } from '../accounts/faulty.ts'
import { madeProvenance } from './provenance-service.ts'

const PAGE = '<!doctype html><title>Reference</title>\n'

/** The day that every test begins on. */
export const START = '2026-02-10T12:00:00.000Z'

const CLOUD = makeSystem({
  asn: 64500,
  name: 'Cloud Nine Ltd',
  type: 'hosting',
  networkClass: 'hosting',
  country: 'DE',
})
const HOME = makeSystem({
  asn: 64501,
  name: 'Home Telecom',
  type: 'isp',
  networkClass: 'residential_clean',
  country: 'FR',
})
const HIDE = makeSystem({ asn: 64502, name: 'Hide Me BV', type: 'vpn', networkClass: 'vpn', brand: 'HideMe' })
const SMALL = makeSystem({ asn: 645, name: 'Small 64500 Works', type: 'unknown', networkClass: 'unknown' })

const listed = (hit: Parameters<typeof makeHit>[0]) => ({ range: makeHit(hit) })

/** A small made internet: one address of every class. */
export const ADDRESSES = {
  hosting: '11.0.0.1',
  datacenter: '11.1.0.1',
  residential_clean: '12.0.0.1',
  mobile: '12.1.0.1',
  vpn: '13.0.0.1',
  tor: '14.0.0.1',
  residential_proxy: '15.0.0.1',
  unknown: '16.0.0.1',
} as const

/** No autonomous system has this address. */
export const UNROUTED = '17.0.0.1'

export const LYON = {
  countryCode: 'FR',
  city: 'Lyon',
  region: 'Auvergne-Rhône-Alpes',
  latitude: 45.75,
  longitude: 4.85,
  timezone: 'Europe/Paris',
}

export const SNAPSHOT: Snapshot = makeSnapshot({
  networks: createFakeNetworks([
    ['11.0.0.0/16', { system: CLOUD, inDatacenterRanges: true }],
    ['11.1.0.0/16', { system: CLOUD, ...listed({ networkClass: 'datacenter' }) }],
    ['12.0.0.0/16', { system: HOME }],
    ['12.1.0.0/16', { system: HOME, ...listed({ networkClass: 'mobile' }) }],
    ['13.0.0.0/16', { system: HIDE, inVpnRanges: true }],
    ['14.0.0.1/32', { system: CLOUD, ...listed({ networkClass: 'tor', single: true }) }],
    ['15.0.0.0/16', { system: HOME, ...listed({ networkClass: 'residential_proxy' }) }],
    ['16.0.0.0/16', { system: SMALL }],
    ['2600::/32', { system: CLOUD }],
  ]),
  systems: createFakeSystems([
    [CLOUD, ['11.0.0.0/16', '11.1.0.0/16', '2600::/32']],
    [HOME, ['12.0.0.0/15', '15.0.0.0/16']],
    [HIDE, ['13.0.0.0/16']],
    [SMALL, ['16.0.0.0/24', '16.0.1.0/24', '16.0.2.0/24', '16.0.4.0/24']],
  ]),
  countries: createFakeCountries({ '12.0.0.1': 'FR', '11.0.0.1': 'DE' }),
  geo: createFakeGeo({
    '12.0.0.1': LYON,
    '11.0.0.1': { countryCode: 'DE' },
    '16.0.0.1': new Error('corrupt record'),
  }),
  rangesLoaded: true,
})

export const NAMES: Readonly<Record<string, NameAnswer>> = {
  'www.example.com': { state: 'found', addresses: ['11.0.0.1'].flatMap((text) => parseAddress(text) ?? []) },
  'gone.example.com': { state: 'failed', reason: 'timeout' },
}

export interface Call {
  /** Key text, put into an Authorization field. */
  readonly key?: string | undefined
  readonly fields?: readonly string[] | undefined
  /** JSON text, or what `json()` does. */
  readonly body?: string | (() => Promise<unknown>) | undefined
  /** Socket address; '' is a socket that is gone. */
  readonly from?: string | undefined
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: a parsed answer of any route; what a test reads of it, it asserts.
  readonly json: any
  readonly text: string
  /** How often the body was asked for. */
  readonly bodyReads: number
}

export const REGISTERED: WhoisRecord = {
  registrar: 'Example Registrar, Inc.',
  registeredOn: '1995-08-14',
  expiresOn: '2027-08-13',
  lastUpdated: '2026-08-14',
  nameservers: ['a.iana-servers.net', 'b.iana-servers.net'],
  status: ['clientTransferProhibited'],
  privacyProtection: false,
}

/** The key has the right form, and no account has it. */
export const UNKNOWN = makeKey(200).text

/** Any other domain is free. */
const REGISTRATIONS: Readonly<Record<string, WhoisAnswer>> = {
  'example.com': { state: 'registered', domain: 'example.com', record: REGISTERED },
  'example.net': {
    state: 'registered',
    domain: 'example.net',
    record: { nameservers: [], status: [], privacyProtection: true },
  },
  'reserved.com': { state: 'reserved', domain: 'reserved.com' },
  'silent.com': { state: 'failed', domain: 'silent.com', reason: 'throttled' },
}

/** Creates counts whose looks and takes fail where `fault` injects an error. */
function faultyCounts(
  counts: ReturnType<typeof createFakeCounts>,
  fault: FaultHook = () => undefined,
): Pick<Counts, 'take'> {
  return {
    take(tasks, flight) {
      const injected = fault(tasks.every(({ cost }) => cost === 0) ? 'look' : 'take')
      if (injected !== undefined) throw injected.error
      // The question is not looked at here, and must not be held.
      counts.taken.length = 0
      return counts.take(tasks, flight)
    },
  }
}

export interface WireOptions {
  readonly fault?: FaultHook | undefined
  readonly limitFault?: FaultHook | undefined
  readonly snapshots?: Snapshots | undefined
  readonly lookup?: Lookup | undefined
  readonly dns?: Dns | undefined
  readonly services?: Partial<ApiServices> | undefined
  readonly routes?: readonly Route[] | undefined
}

export type Wire = ReturnType<typeof createWire>

/** Creates everything around one API: its clock, its accounts, its errors, and a way to call it. */
export function createWire(options: WireOptions = {}) {
  const clock = createFakeClock(START)
  const snapshots = options.snapshots ?? { current: () => SNAPSHOT }
  const dns = options.dns ?? createFakeDns(NAMES)
  const verifier = createCrawlerVerifier(createCatalogue(), { reverse: createReverseChecks({ clock, dns }) })
  const accounts = createFaultyAccounts(options.fault)
  const whois = createFakeWhois(REGISTRATIONS)
  const errors: unknown[] = []
  let made = 0
  const api = createApi(
    {
      clock,
      snapshots,
      accounts,
      plans: ALLOWANCES,
      whois,
      nameTurns: createNameTurns(),
      lookup: options.lookup ?? createLookup({ clock, dns, snapshots, whois }),
      crawlers: createCrawlerAnswers(verifier, { clock, snapshots }),
      counts: faultyCounts(createFakeCounts(clock), options.limitFault),
      check: createInspector({
        clock,
        snapshots,
        trust: parseTrust([]),
        policy: compilePolicy({ preset: 'low-friction', rules: [] }),
        mode: 'enforce',
        crawlers: verifier,
      }).check,
      provenance: madeProvenance(clock, snapshots),
      client: ({ peer }) => ({
        address: parseAddress(peer),
        text: peer,
        via: 'peer',
        malformed: false,
        forwardedUntrusted: false,
      }),
      onError: (error) => errors.push(error),
      reference: () => ({ zipped: gzipSync(PAGE), plain: () => PAGE }),
      ...options.services,
    },
    options.routes,
  )

  const accountId = (key: string) => `account-${parseKey(key)?.id}`

  return {
    api,
    errors,
    advance: clock.advance,
    async call(
      method: string,
      url: string,
      { key, fields = [], body = '', from = '203.0.113.7' }: Call = {},
    ): Promise<Answer> {
      const at = url.indexOf('?')
      const path = at === -1 ? url : url.slice(0, at)
      let bodyReads = 0
      const answer = await api({
        peer: from,
        method,
        target: url,
        scheme: 'http',
        httpVersion: '1.1',
        fields: key === undefined ? fields : [...fields, 'Authorization', `Bearer ${key}`],
        path,
        query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
        async json() {
          bodyReads++
          return typeof body === 'string' ? JSON.parse(body) : body()
        },
      })
      if (answer === undefined) throw new Error(`not ours: ${url}`)
      if (typeof answer.body !== 'string') throw new Error('a streamed answer')
      const isJson = /json/.test(answer.headers['Content-Type'] ?? '')
      const json = isJson ? JSON.parse(answer.body) : undefined
      // docs/api.md promises it; messages of a test's own make no promise.
      if (json?.error === 'invalid_request' && /^\w[\w.]*: /.test(json.message)) {
        const [first] = json.details?.fields ?? []
        if (json.message !== `${first?.field}: ${first?.message}`) throw new Error(`no field: ${json.message}`)
      }
      return { status: answer.status, headers: answer.headers, json, text: answer.body, bodyReads }
    },
    /** Makes an account of a plan with one key, and gives the key's text. */
    async keyFor(plan: string, signupDate = '2026-01-31'): Promise<string> {
      const { text, key } = makeKey(++made)
      const account: Account = { id: accountId(text), name: '', plan, signupDate }
      await accounts.createAccount(account)
      await accounts.createKey({ ...key, accountId: account.id })
      return text
    },
    /** Counts calls until `used` of the account stand in the window. */
    async spendTo(key: string, windowId: string, used: number): Promise<void> {
      for (;;) {
        const spent = await accounts.spend(accountId(key), windowId, used)
        if (spent.granted === 0) return
      }
    },
    usage: (key: string, windowId: string) => accounts.usage(accountId(key), windowId),
    async revoke(key: string): Promise<void> {
      await accounts.revokeKey(parseKey(key)?.id ?? '', START)
    },
  }
}

/** Creates a wire and an account of a plan with one key. */
export async function openKeyed(options: WireOptions = {}, plan = 'free') {
  const wire = createWire(options)
  return { wire, key: await wire.keyFor(plan) }
}

/** Calls the API of a wire as a new account. */
export async function callKeyed(
  method: string,
  url: string,
  body: string | (() => Promise<unknown>) = '',
  wire = createWire(),
): Promise<Answer> {
  return wire.call(method, url, { key: await wire.keyFor('free'), body })
}

/** Creates a lookup that fails with this error. */
export function failingLookup(error: unknown): Lookup {
  return { lookup: () => Promise.reject(error) }
}

export const tooLarge = () => Promise.reject(new SallyportError('payload_too_large'))
