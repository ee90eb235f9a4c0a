import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AgentVerdict,
  compilePolicy,
  createCatalogue,
  createCrawlerVerifier,
  createInspector,
  createReverseChecks,
  type NetworkClass,
  parseTrust,
} from '@sallyport/core'
import {
  createFakeClock,
  createFakeDns,
  createFakeNetworks,
  makeHit,
  makeSnapshots,
  makeSystem,
} from '@sallyport/core/testing'

/** Header fields in the order in which they were received. */
export type Header = readonly [name: string, value: string]

/** A request as a server received it. */
export interface HeaderSet {
  readonly client: string
  readonly scheme: 'http' | 'https'
  readonly httpVersion: string
  readonly method: string
  readonly target: string
  readonly headers: readonly Header[]
  readonly ja4?: string | undefined
  readonly http2Window?: number | undefined
}

/** A request that a published capture or the source of a client describes carries its `source`; all others were recorded for this file. */
export interface BrowserSet extends HeaderSet {
  readonly source?: string | undefined
}

/** `way`: what the program copies of a browser; `own` is nothing. */
export interface ProgramSet extends HeaderSet {
  readonly kind: 'client' | 'mimic' | 'browser'
  readonly way: string
}

/** From the folder of the compiled file. */
const SETS = join(import.meta.dirname, '../../accuracy/sets')

function readRows<Row>(name: string): readonly Row[] {
  return readFileSync(join(SETS, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** Names of the HTTP/2 pseudo-headers by their second letter. */
const PSEUDO: Readonly<Record<string, string>> = { m: ':method', a: ':authority', s: ':scheme', p: ':path' }

/** Returns requests of browsers and of people's applications. */
export function browserSets(): readonly BrowserSet[] {
  return readRows<BrowserSet & { readonly pseudo?: string | undefined }>('browsers').map(({ pseudo = '', ...set }) => ({
    ...set,
    headers: [
      ...(pseudo === '' ? [['Host', 'shop.test'] as const] : []),
      ...[...pseudo].map((letter) => [PSEUDO[letter] ?? '', 'x'] as const),
      ...set.headers,
    ],
  }))
}

/** Returns requests of programs that copy a browser. */
export function programSets(): readonly ProgramSet[] {
  return readRows<Omit<ProgramSet, 'method' | 'target'>>('clients').map((set) => ({
    ...set,
    method: 'GET',
    target: '/page/1',
  }))
}

/** Whether the user agent of a program is a browser's. */
export function isCopy({ kind, way }: ProgramSet): boolean {
  return kind === 'client' && way !== 'own'
}

/** A made address for each network class that a verdict weighs. */
export const NETWORKS = {
  residential_clean: '8.1.1.1',
  mobile: '8.1.1.2',
  vpn: '8.1.1.3',
  hosting: '8.1.1.4',
} as const satisfies Partial<Readonly<Record<NetworkClass, string>>>
export type Network = keyof typeof NETWORKS

const PROXY = '8.9.9.9'

/** Judges a header set that comes from a network: straight from the client, or through a trusted proxy that ends TLS and says so. */
export function createSetJudge(): (set: HeaderSet, network: Network, through: 'proxy' | 'nothing') => AgentVerdict {
  const clock = createFakeClock('2026-11-28T12:00:00Z')
  const networks = createFakeNetworks(
    Object.entries(NETWORKS).map(([networkClass, address], at) => [
      `${address}/32`,
      {
        // A network of no known type may open TLS on the way.
        system: makeSystem({ asn: 64_500 + at, type: networkClass === 'mobile' ? 'mobile' : 'isp' }),
        range: makeHit({ networkClass: networkClass as Network }),
      },
    ]),
  )
  const inspector = createInspector({
    clock,
    snapshots: makeSnapshots({ networks, rangesLoaded: true }),
    trust: parseTrust([PROXY], 'x-forwarded-for'),
    policy: compilePolicy({ preset: 'low-friction', rules: [] }),
    mode: 'enforce',
    crawlers: createCrawlerVerifier(createCatalogue(), {
      reverse: createReverseChecks({ clock, dns: createFakeDns({}) }),
    }),
  })
  return ({ method, target, scheme, httpVersion, headers, ja4, http2Window }, network, through) => {
    const address = NETWORKS[network]
    if (through === 'nothing') {
      const fields = headers.flat()
      return inspector.inspect({ peer: address, method, target, scheme, httpVersion, ja4, http2Window, fields }).agent
    }
    const forwarded = ['X-Forwarded-For', address, 'X-Forwarded-Proto', scheme]
    const fields = [...headers.filter(([name]) => !name.startsWith(':')).flat(), ...forwarded]
    return inspector.inspect({ peer: PROXY, method, target, scheme: 'http', httpVersion: '1.1', fields }).agent
  }
}

const isNamed = (name: string, start: string) => name.toLowerCase().startsWith(start)
const without = (headers: readonly Header[], start: string) => headers.filter(([name]) => !isNamed(name, start))
const BR = /,? ?(?:br|zstd)\b/g

/** Middleboxes by how they alter a request, with assumed shares among altered requests: no such shares are published. */
export const ALTERATIONS: Readonly<
  Record<string, { readonly share: number; alter(headers: readonly Header[]): readonly Header[] }>
> = {
  'removes Sec-*': { share: 0.4, alter: (headers) => without(headers, 'sec-') },
  'decodes br, adds Via': {
    share: 0.3,
    alter: (headers) => [
      ...headers.map(
        ([name, value]): Header => (isNamed(name, 'accept-encoding') ? [name, value.replace(BR, '')] : [name, value]),
      ),
      ['Via', '1.1 office'],
    ],
  },
  'removes client hints': { share: 0.1, alter: (headers) => without(headers, 'sec-ch-') },
  'removes Accept-Language': { share: 0.1, alter: (headers) => without(headers, 'accept-language') },
  'removes Accept-Encoding': { share: 0.1, alter: (headers) => without(headers, 'accept-encoding') },
}
