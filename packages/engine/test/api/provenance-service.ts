import { anonymises, classify, formatAddress, invalidField, SallyportError, type Snapshots } from '@sallyport/core'
import { type Ledger, openLedger } from '@sallyport/ledger'
import {
  createMemoryArchive,
  createMemoryLedger,
  MADE_ATTESTATION,
  MADE_DATASETS,
  MADE_POLICY,
  madeRandomness,
  madeSigner,
} from '@sallyport/ledger/testing'
import type { ProvenanceService } from '../../src/api/index.ts'

/** Attestation on a real ledger in memory; every claim is blocked by the made policy's rule for hidden origins. */
export function madeProvenance(clock: { now(): number }, snapshots: Snapshots): ProvenanceService {
  let opening: Promise<Ledger> | undefined
  const open = () => {
    opening ??= openMade(clock)
    return opening
  }
  return {
    async attest({ account, address, claim, context }) {
      if (claim === 'nowhere') throw invalidField('claimed_jurisdiction', 'not a country code')
      if (claim === 'down') throw new SallyportError('attestation_unavailable')
      const { verdict } = classify(address, snapshots.current())
      const subject = {
        address: formatAddress(address),
        ...(context === undefined ? {} : { context: JSON.stringify(context) }),
      }
      const { attestationId } = await (await open()).attest(`t/${account}`, { ...MADE_ATTESTATION, claim }, subject)
      return { attestationId, verdict, action: anonymises(verdict.classification) ? 'block' : 'allow' }
    },
    evidence: async (account, query) => (await open()).evidence(`t/${account}`, query),
    keys: async () => (await open()).keys(),
  }
}

async function openMade(clock: { now(): number }): Promise<Ledger> {
  const ledger = await openLedger({
    store: createMemoryLedger('sallyport/0123456789abcdef'),
    archive: createMemoryArchive(),
    clock,
    randomness: madeRandomness(),
    loadSigner: async () => madeSigner(1),
  })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  return ledger
}
