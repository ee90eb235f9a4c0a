import { type LedgerPorts, openLedger } from '../src/ledger.ts'
import type { StoredRecord } from '../src/ports.ts'
import type { Document } from '../src/record.ts'
import {
  createMemoryArchive,
  createMemoryLedger,
  MADE_DATASETS,
  MADE_POLICY,
  type MemoryLedger,
  madeRandomness,
  madeSigner,
} from '../src/testing/index.ts'

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

/** Opens a new ledger whose time the test sets; it keeps the documents that made attestations name, and others. */
export async function openMade(change: Pick<LedgerPorts, 'stamp' | 'unanchored'> = {}, ...others: readonly Document[]) {
  let now = AT
  const ports = madePorts({ ...change, clock: { now: () => now } })
  const ledger = await openLedger(ports)
  for (const document of [MADE_POLICY, MADE_DATASETS, ...others]) await ledger.keep(document)
  const setTime = (moment: number) => {
    now = moment
  }
  return { ports, store: ports.store, archive: ports.archive, ledger, setTime, pass: (ms: number) => setTime(now + ms) }
}

/** Changes a row of the log `t/a` behind the back of the ledger. */
export function setRow(store: MemoryLedger, seq: number, change: Partial<StoredRecord>): void {
  const at = store.rows.findIndex((row) => row.log === 't/a' && row.seq === seq)
  store.rows[at] = { ...(store.rows[at] as StoredRecord), ...change }
}
