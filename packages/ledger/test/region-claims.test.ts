import t from 'tap'
import type { AttestationRecord } from '../src/verify/record.ts'
import { replayPolicy } from '../src/verify/replay.ts'

const POLICY = JSON.stringify({
  groups: [
    { id: 'sanctioned', countries: ['IR'] },
    { id: 'EU-27', countries: ['DE'] },
  ],
  rules: [
    { id: 'sanctioned_claim', match: { claim: ['sanctioned'] }, action: 'block' },
    { id: 'match', match: { relation: ['match'] }, action: 'allow' },
    { id: 'unknown', match: { relation: ['unknown'] }, action: 'flag' },
    { id: 'mismatch', match: {}, action: 'block' },
  ],
})

const RECORD = { networkOrigin: 'residential_clean', anonymized: false, method: 'asn' } as AttestationRecord

t.test('a record of a claim of a region is decided again by its region, then by its country', async (t) => {
  for (const [claim, country, region, rule] of [
    ['US-TX', 'US', 'US-TX', 'match'],
    ['US-TX', 'US', 'US-NY', 'mismatch'],
    ['US-TX', 'US', 'unknown', 'unknown'],
    ['US-TX', undefined, 'unknown', 'unknown'],
    ['US-TX', 'DE', 'unknown', 'mismatch'],
    ['GB-NIR', 'GB', 'GB-BFS,GB-NIR,GB-UKM', 'match'],
    ['IR-23', 'IR', 'IR-23', 'sanctioned_claim'],
    ['US', 'US', undefined, 'match'],
    ['EU-27', 'DE', undefined, 'match'],
    ['EU-27', 'US', undefined, 'mismatch'],
  ] as const) {
    const record = { ...RECORD, claim, ...(country && { country }), ...(region && { region }) }
    t.equal(replayPolicy(POLICY, record)?.reason, rule, `${claim} from ${country} ${region}`)
  }
})
