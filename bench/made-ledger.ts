import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openCheckpointFolder } from '@sallyport/engine'
import { type Ledger, type LedgerStore, openLedger } from '@sallyport/ledger'
import { MADE_DATASETS, MADE_POLICY, madeSigner } from '@sallyport/ledger/testing'

/** A ledger with a made key, whose documents are kept. */
export async function openMadeLedger(store: LedgerStore, folder: string): Promise<Ledger> {
  const ledger = await openLedger({
    store,
    archive: openCheckpointFolder(join(folder, 'checkpoints')),
    clock: { now: () => Date.now() },
    randomness: randomBytes,
    loadSigner: async () => madeSigner(1),
  })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  return ledger
}
