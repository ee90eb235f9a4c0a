import type { LedgerPorts } from '../src/ledger.ts'
import { createMemoryArchive, createMemoryLedger, madeRandomness, madeSigner } from '../src/testing/index.ts'

export const ORIGIN = 'sallyport/0123456789abcdef'
export const AT = Date.parse('2026-11-21T02:00:00.000Z')

/** Makes ports of a new ledger in memory, the same in every run except for `change`. */
export function madePorts<Change extends Partial<LedgerPorts>>(change: Change) {
  return {
    store: createMemoryLedger(ORIGIN),
    archive: createMemoryArchive(),
    clock: { now: () => AT },
    randomness: madeRandomness(),
    loadSigner: async () => madeSigner(1),
    ...change,
  }
}
