import { verifyEvidence } from '@sallyport/ledger/verify'
import { CARRIER, decide, TEXAN, testCities } from './cities.ts'

testCities(
  'the ledger keeps claims of regions, and the verifier decides them by the record',
  {},
  async (t, sallyport) => {
    const { provenance } = sallyport
    const rows = [
      [TEXAN, 'us-tx', 'match', { country: 'US', region: 'US-TX' }, 2],
      [TEXAN, 'US-NY', 'mismatch', { country: 'US', region: 'US-TX' }, 2],
      [CARRIER, 'US-TX', 'unknown_region', { country: 'US', region: 'unknown' }, 2],
      [CARRIER, 'DE-BY', 'mismatch', { country: 'US', region: 'unknown' }, 2],
      [TEXAN, 'US', 'match', { country: 'US', region: undefined }, 1],
    ] as const
    for (const [peer, claim, reason, finding, version] of rows) {
      const { attestation } = await provenance.attestDecision(decide(sallyport, peer), claim)
      t.match(attestation, { claim: claim.toUpperCase(), reason }, claim)
      const evidence = await provenance.evidence('site', { attestationId: attestation?.id ?? 0 })
      const keys = await provenance.keys()
      t.match(verifyEvidence(evidence, keys), { ok: true, axes: { policy_replay: { outcome: 'pass' } } }, claim)
      const payload = Buffer.from(evidence?.records[0]?.dsse.payload ?? '', 'base64').toString()
      t.match(JSON.parse(payload), { finding, v: version }, 'a verifier of 0.2 answers that it does not know version 2')
      const other = Buffer.from(payload.replace(/"v":\d/, `"v":${3 - version}`)).toString('base64')
      const records = evidence?.records.map((record) => ({ ...record, dsse: { ...record.dsse, payload: other } }))
      const changed = { ...evidence, records }
      t.match(verifyEvidence(changed, keys), { ok: false, axes: { format: { detail: /not a version that is known/ } } })
    }
  },
)
