import type { Action, Decision, ObservedRequest } from '@sallyport/core'

interface Said {
  readonly path?: string | undefined
  readonly client?: string | undefined
  readonly status?: number | undefined
  readonly enforced?: boolean | undefined
  readonly trial?: Decision['trial'] | undefined
}

/** Makes a request of a visitor on a Tor exit as a host observes it. */
export function observed(id: string, action: Action, said: Said = {}): ObservedRequest {
  const { path = '/shop', client = '2001:db8::1', status = 200, enforced = true, trial } = said
  return {
    id,
    answeredBy: status === 403 ? 'refusal' : 'origin',
    peer: '127.0.0.1',
    client,
    method: 'GET',
    host: 'site.example',
    path,
    status,
    at: Date.UTC(2026, 10, 1),
    milliseconds: 1.5,
    decision: {
      id,
      action,
      enforced,
      trial,
      reasons: [
        { id: action === 'allow' ? 'policy:default' : 'policy:no-tor', text: 'The rule.' },
        { id: 'network:tor', text: 'The network.' },
      ],
      inspection: {
        at: '2026-11-01T00:00:00.000Z',
        peer: '127.0.0.1',
        client: { address: client, via: 'header', malformed: false },
        request: { method: 'GET', path },
        network: {
          reserved: { reserved: false },
          verdict: { classification: 'tor', anonymized: true, confidence: 1, method: 'range:tor' },
          rule: 'address_list',
          provider: '',
          asType: 'hosting',
          asn: 64502,
          asName: 'Made Networks',
          source: 'tor',
          sourceDate: '2026-10-31',
          agreeing: [],
        },
        country: 'NL',
        agent: { class: 'human', confidence: 1, botProbability: 0, basis: 'none', headless: false, reasons: [] },
        degraded: [],
      },
    },
  }
}
