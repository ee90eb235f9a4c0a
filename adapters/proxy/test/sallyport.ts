import {
  compilePolicy,
  createInspector,
  type Decision,
  type InspectionRequest,
  type Policy,
  parseTrust,
} from '@sallyport/core'
import { createFakeClock, createFakeNetworks, makeSnapshots, makeSystem } from '@sallyport/core/testing'
import type { Api } from '@sallyport/engine'
import { createMetrics, type Metrics } from '@sallyport/engine/metrics'
import type { ProxyHost } from '../src/index.ts'

/** Addresses of a made internet: what the policy of `fakeSallyport` does with each is its name. */
export const VISITOR = {
  allowed: '21.0.0.1',
  flagged: '22.0.0.1',
  blocked: '23.0.0.1',
  unlawful: '24.0.0.1',
  offered: '25.0.0.1',
} as const

interface Trusted {
  readonly trust?: readonly string[] | undefined
  readonly clientHeader?: string | undefined
  readonly ja4Header?: string | undefined
}

export type FakeSallyport = ReturnType<typeof fakeSallyport>

/** The real inspector over a made internet, loopback trusted as a proxy, and an API that repeats what it was sent. */
export function fakeSallyport({ trust = ['loopback'], clientHeader, ja4Header }: Trusted = {}) {
  const inspector = createInspector({
    clock: createFakeClock('2026-11-01T00:00:00Z'),
    snapshots: makeSnapshots({
      networks: createFakeNetworks([
        ['21.0.0.0/8', { system: makeSystem({ asn: 64500, type: 'isp', networkClass: 'residential_clean' }) }],
        ['22.0.0.0/8', { system: makeSystem({ asn: 64501, type: 'hosting', networkClass: 'hosting' }) }],
        ['23.0.0.0/8', { system: makeSystem({ asn: 64502, type: 'tor', networkClass: 'tor' }) }],
      ]),
    }),
    trust: parseTrust(trust, { clientHeader, ja4Header }),
    policy: compilePolicy({
      preset: 'low-friction',
      rules: [
        { id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' },
        { id: 'by-law', match: { address: ['24.0.0.0/8'] }, action: 'block', status: 451 },
        { id: 'paid', match: { address: ['25.0.0.0/8'] }, action: 'offer', offer: { price: 'USD 0.01' } },
      ],
    }),
    mode: 'enforce',
  })
  const decided: Decision[] = []
  const asked: InspectionRequest[] = []
  const api: Api = async (request) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ path: request.path, body: request.method === 'POST' ? await request.json() : null }),
  })
  const host: ProxyHost & { readonly decided: readonly Decision[]; readonly asked: readonly InspectionRequest[] } = {
    decide(request) {
      const decision = inspector.decide(request)
      decided.push(decision)
      asked.push(request)
      return decision
    },
    decider({ policy, mode }) {
      const own = policy as Partial<Policy> | undefined
      const others = { policy: own && compilePolicy({ preset: 'observe', rules: [], ...own }), mode }
      return { decide: (request) => inspector.decide(request, others) }
    },
    client: inspector.client,
    isBrowser: inspector.isBrowser,
    singleHeader: inspector.singleHeader,
    isTrusted: inspector.isTrusted,
    payments: {
      async take({ offer = { price: '' } }, { fields }) {
        const isPaid = fields.includes('PAYMENT-SIGNATURE')
        return { outcome: isPaid ? 'paid' : 'offered', rule: 'paid', offer, ...(isPaid && { receipt: 'p1' }) }
      },
    },
    namedScheme: inspector.namedScheme,
    namedJa4: inspector.namedJa4,
    api,
    sources: () => [{ id: 'asn', title: 'Networks', state: 'loaded', licence: 'CC0', credit: '' }],
    decided,
    asked,
  }
  return host
}

export function meteredSallyport(options: Trusted = {}): FakeSallyport & { readonly meter: Metrics } {
  const meter = createMetrics()
  return { ...fakeSallyport(options), meter, observe: meter.observe }
}
