import type { Action, Decision, ObservedRequest } from '@sallyport/core'

type Said = Partial<Pick<ObservedRequest, 'path' | 'client' | 'status'> & Pick<Decision, 'enforced' | 'trial' | 'ban'>>

const SYSTEM = { asType: 'hosting', asn: 64502, asName: 'Made Networks', provider: '' } as const
const LIST = { rule: 'address_list', source: 'tor', sourceDate: '2026-10-31', agreeing: [] } as const

/** Makes a request of a visitor on a Tor exit as a host observes it. */
export function observed(id: string, action: Action, said: Said = {}): ObservedRequest {
  const { path = '/shop', client = '2001:db8::1', status = 200, enforced = true, trial, ban } = said
  const [peer, method] = ['127.0.0.1', 'GET']
  const reasons = [
    { id: action === 'allow' ? 'policy:default' : 'policy:no-tor', text: 'The rule.' },
    { id: 'network:tor', text: 'The network.' },
  ]
  const network = {
    ...SYSTEM,
    ...LIST,
    reserved: { reserved: false },
    verdict: { classification: 'tor', anonymized: true, confidence: 1, method: 'range:tor' },
  } as const
  const inspection = {
    ...{ at: '2026-11-01T00:00:00.000Z', peer, request: { method, path }, network, country: 'NL', degraded: [] },
    client: { address: client, via: 'header', malformed: false },
    agent: { class: 'human', confidence: 1, botProbability: 0, basis: 'none', headless: false, reasons: [] },
  } as const
  return {
    ...{ id, peer, client, method, host: 'site.example', path, status, milliseconds: 1.5 },
    answeredBy: status === 403 ? 'refusal' : 'origin',
    at: Date.UTC(2026, 10, 1),
    decision: { id, action, enforced, trial, ban, reasons, inspection },
  }
}
