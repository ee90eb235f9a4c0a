import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { auditLedger, type Ledger, type LedgerStore, openLedger } from '@sallyport/ledger'
import { MADE_ATTESTATION, MADE_DATASETS, MADE_POLICY, madeSigner } from '@sallyport/ledger/testing'
import { openCheckpointFolder, openSqliteLedger } from '../../src/stores/index.ts'
import type { Cleanup } from '../../src/stores/testing/index.ts'
import { closeAfter } from './processes.ts'

type Attest = (log?: string, address?: string, context?: string) => Promise<number>
type LedgerAtPlace = Readonly<{ store: LedgerStore; ledger: Ledger; attest: Attest }>

/** Opens a whole ledger in a folder, as a service has it. */
export async function openLedgerOn(store: LedgerStore, folder: string): Promise<LedgerAtPlace> {
  const ledger = await openLedger({
    store,
    archive: openCheckpointFolder(join(folder, 'checkpoints')),
    clock: { now: () => Date.now() },
    randomness: randomBytes,
    loadSigner: async () => madeSigner(1),
  })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  return {
    store,
    ledger,
    async attest(log = 't/a', address = '203.0.113.7', context) {
      const subject = context === undefined ? { address } : { address, context }
      return (await ledger.attest(log, MADE_ATTESTATION, subject)).attestationId
    },
  }
}

/** Opens a ledger in a file, which is closed with the test. */
export async function openLedgerIn(t: Cleanup, folder: string): Promise<LedgerAtPlace> {
  const store = closeAfter(t, await openSqliteLedger(join(folder, 'ledger.db')))
  return openLedgerOn(store, folder)
}

/** Faults that the audit of a store and of a folder's checkpoints finds. */
export async function findFault(store: LedgerStore, folder: string): Promise<unknown> {
  return (await auditLedger(store, { archive: openCheckpointFolder(join(folder, 'checkpoints')) })).fault
}

export async function listMissing(store: LedgerStore, ids: readonly number[], log = 't/a'): Promise<readonly number[]> {
  const missing: number[] = []
  for (const id of ids) if ((await store.find(id, log)) === undefined) missing.push(id)
  return missing
}
