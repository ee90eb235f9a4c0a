import { type Action, type Decision, NETWORK_CLASSES, type ObservedRequest } from '@sallyport/core'

export function observed(some: Partial<ObservedRequest>): ObservedRequest {
  return {
    id: 'abc',
    answeredBy: some.decision === undefined ? 'host' : 'refusal',
    peer: '127.0.0.1',
    client: '192.0.2.77',
    method: 'GET',
    host: 'site.example',
    path: '/shop',
    status: 403,
    bytesReceived: 0,
    bytesSent: 321,
    at: Date.UTC(2026, 10, 1),
    milliseconds: 1.234_4,
    inspectionMilliseconds: 0.056_8,
    ...some,
  }
}

/** Makes a decision about a visitor on a Tor exit. */
export function decisionFor(action: Action, rule: string): Decision {
  const networkClass = NETWORK_CLASSES[6]
  return {
    id: 'abc',
    action,
    enforced: true,
    reasons: [
      { id: `policy:${rule}`, text: 'The rule.' },
      { id: `network:${networkClass}`, text: 'The network.' },
    ],
    inspection: {
      at: '2026-11-01T00:00:00.000Z',
      peer: '127.0.0.1',
      client: { address: '192.0.2.77', via: 'header', malformed: false },
      request: { method: 'GET', path: '/shop' },
      network: {
        reserved: { reserved: false },
        verdict: { classification: networkClass, anonymized: true, confidence: 1, method: 'range:tor' },
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
  }
}
