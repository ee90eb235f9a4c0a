import { type CheckpointArchive, LedgerRefused, type LedgerStore, readHead } from './ports.ts'
import { createProver } from './tree.ts'
import { counted } from './verify/counted.ts'
import type { LedgerKey } from './verify/keys.ts'
import { isSignedBy, parseCheckpoint } from './verify/note.ts'
import { sameBytes } from './verify/tree.ts'

/**
 * Holds a store against the checkpoints outside it and against its own newest ones. Rejects with LedgerRefused for what
 * a chain alone cannot show: records cut off at the end, an older copy put back, another history.
 */
export async function holdAgainstCheckpoints(
  store: LedgerStore,
  archive: CheckpointArchive,
  keys: readonly LedgerKey[],
): Promise<void> {
  for (const { name, note } of await archive.list()) await hold(store, keys, note, `The checkpoint ${name}`)
  for (const log of await store.logs()) {
    const { newest } = await store.checkpoints(log, 0)
    if (newest !== undefined) await hold(store, keys, newest, `The newest checkpoint of ${log} in the database`)
  }
}

async function hold(store: LedgerStore, keys: readonly LedgerKey[], note: string, what: string): Promise<void> {
  const refuse = (reason: string) => {
    throw new LedgerRefused(
      `${what} ${reason} Put the newest copy of the ledger back; to begin a new one, move the database and the ` +
        'folder of checkpoints away together.',
    )
  }
  const checkpoint = parseCheckpoint(note)
  if (checkpoint === undefined) return refuse('cannot be read.')
  const { origin, size, root } = checkpoint
  if (!origin.startsWith(`${store.origin}/`)) return refuse(`is of another ledger: ${origin}, and not ${store.origin}.`)
  if (!keys.some(({ publicKey }) => isSignedBy(checkpoint, store.origin, publicKey))) {
    return refuse('is not signed by a key of this ledger.')
  }
  const log = origin.slice(store.origin.length + 1)
  const head = await readHead(store, log)
  if ((head?.size ?? 0) < size) {
    return refuse(
      `says that ${log} has ${counted(size, 'record')}; the database has ${head?.size ?? 0}: it was cut short or is old.`,
    )
  }
  const found = await computeRoot(store, log, size)
  if (found === undefined || !sameBytes(found, root)) {
    return refuse(`does not fit the first ${counted(size, 'record')} of ${log}: they were changed.`)
  }
}

/** The root of the first records of a log; `undefined` where some of them are missing. */
async function computeRoot(store: LedgerStore, log: string, size: number): Promise<Uint8Array | undefined> {
  try {
    return await createProver(store, log).root(size)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
