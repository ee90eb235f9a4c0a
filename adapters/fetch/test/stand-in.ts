import type { Decision, InspectionRequest, ObservedRequest } from '@sallyport/core'

/** A decider that blocks what is asked of `/blocked` and flags the rest, and remembers what it judged and observed. */
export function standIn() {
  const observed: ObservedRequest[] = []
  const judged: InspectionRequest[] = []
  return {
    observed,
    judged,
    sallyport: {
      observe: (request: ObservedRequest) => void observed.push(request),
      decide(request: InspectionRequest): Decision {
        judged.push(request)
        return decisionAbout(request)
      },
    },
  }
}

function decisionAbout({ id, target, peer, method }: InspectionRequest): Decision {
  return {
    id,
    action: target.startsWith('/blocked') ? 'block' : 'flag',
    enforced: true,
    reasons: [],
    inspection: {
      at: '2026-11-01T00:00:00.000Z',
      peer,
      client: { address: peer, via: 'peer', malformed: false },
      request: { method, path: '/' },
      network: {
        reserved: { reserved: false },
        verdict: { classification: 'unknown', anonymized: false, confidence: 0, method: 'asn' },
        rule: 'none',
        provider: '',
        asType: 'unknown',
        agreeing: [],
      },
      agent: { class: 'human', confidence: 1, botProbability: 0, basis: 'none', headless: false, reasons: [] },
      degraded: [],
    },
  }
}

export const ask = (path: string, init: RequestInit = {}) => new Request(`https://site.example${path}`, init)
