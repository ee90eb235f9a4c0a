import type { Committer } from './committer.ts'
import { type CheckpointArchive, LedgerRefused, type LedgerStore, readHead, type Signer } from './ports.ts'
import { draftFirstKey, draftSuccession, KEY_LOG, readKeys, signCheckpoint } from './signing.ts'
import { type LedgerKey, thumbprint } from './verify/keys.ts'
import { isSignedBy, parseCheckpoint } from './verify/note.ts'

/** One pass does not sign more logs. */
const MAX_LOGS = 256

/** A checkpoint is tried this often while other processes win the race. */
const MAX_ATTEMPTS = 20

const MAX_KEYS = 1000

export interface CheckpointerPorts {
  readonly store: LedgerStore
  readonly committer: Committer
  readonly archive: CheckpointArchive
  /** Returns milliseconds since the epoch. */
  readonly clock: { now(): number }
  /** Reads the private key, or the key with the id `kid` if the ledger has one; called again after another process rotated it. */
  loadSigner(kid?: string): Promise<Signer>
}

/** Holds the keys of a ledger and signs with them; a ledger without a key gets its first. */
export async function openCheckpointer({ archive, ...ports }: CheckpointerPorts) {
  const { store } = ports
  const held = await openKeys(ports)
  let signed = 0

  /** Returns false if another process won the race; then nothing was stored. */
  async function sign(log: string, size: number, root: Uint8Array, covered: number): Promise<boolean> {
    const head = await signCheckpoint(store.origin, log, size, root, held.signer())
    const kept = await store.putCheckpoint(head, covered, held.keys().length)
    await (kept ? archive.write(head) : held.refresh())
    if (kept) signed++
    return kept
  }

  /** Signs a checkpoint of every log that has grown. Rejects with LedgerRefused if the key is no longer the ledger's. */
  async function checkpoint(): Promise<void> {
    const done = new Set<string>()
    for (let attempts = 0; attempts < MAX_ATTEMPTS; ) {
      const uncovered = await store.uncovered(MAX_LOGS)
      // A log that grows while others are signed is signed by the next checkpoint.
      if (uncovered.length < MAX_LOGS && uncovered.every(({ log }) => done.has(log))) return
      const signed = await Promise.all(uncovered.map(({ log, size, root, covered }) => sign(log, size, root, covered)))
      for (const [index, { log }] of uncovered.entries()) if (signed[index]) done.add(log)
      // A pass that signed every log is progress, however many logs there are.
      if (!signed.every(Boolean)) attempts++
    }
  }

  /** Signs a checkpoint with the current key that covers position `seq`. */
  async function cover(log: string, seq: number): Promise<void> {
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
      const { newest } = await store.checkpoints(log, seq)
      const parsed = newest === undefined ? undefined : parseCheckpoint(newest)
      const size = parsed?.size ?? 0
      const fresh = parsed !== undefined && isSignedBy(parsed, store.origin, held.signer().publicKey)
      if (fresh && size > seq) return
      const uncovered = (await store.uncovered(MAX_LOGS)).find((row) => row.log === log)
      const target = uncovered ?? (size > seq && parsed !== undefined ? { size, root: parsed.root } : undefined)
      if (target === undefined) return checkpoint()
      if (await sign(log, target.size, target.root, size)) return
    }
  }

  return {
    keys: held.keys,
    signer: held.signer,
    loadKeys: held.load,
    /** Counts the checkpoints that this process has signed. */
    signedCount: () => signed,
    /** Rejects with LedgerRefused if this process does not have the ledger's key. */
    requireCurrentKey: () => requireCurrent(held.signer(), held.keys()),
    /** Loads the keys again if another process has rotated since. */
    async followKeys(): Promise<void> {
      if ((await readHead(store, KEY_LOG))?.size !== held.keys().length) await held.refresh()
    },
    checkpoint,
    cover,
    /** Hands over to another key, and signs every log with it. */
    async rotate(next: Signer, compromised: boolean): Promise<void> {
      await held.replace(next, compromised)
      await checkpoint()
      for (const log of await store.logs()) await cover(log, 0)
    },
  }
}

/** Holds the keys of the key log and the signer of the newest one. */
async function openKeys({ store, committer, clock, loadSigner }: Omit<CheckpointerPorts, 'archive'>) {
  const load = async () => readKeys(await store.records(KEY_LOG, 0, MAX_KEYS))
  let keys = await load()
  let signer = await loadSigner(keys.at(-1)?.kid)
  if (keys.length === 0) {
    await committer.commit([draftFirstKey(signer.publicKey, clock.now())], { log: KEY_LOG, size: 0 })
    keys = await load()
  }

  /**
   * Another process may have rotated: the signing key must be the newest of the key log. Key and key list are replaced together, so that an
   * old key never signs as the newest.
   */
  async function refresh(): Promise<void> {
    const recorded = await load()
    const current = isCurrent(signer, recorded) ? signer : await loadSigner(recorded.at(-1)?.kid)
    requireCurrent(current, recorded)
    keys = recorded
    signer = current
  }

  return {
    load,
    refresh,
    keys: () => keys,
    signer: () => signer,
    /** Records another key as the successor, and signs with it from now on. */
    async replace(next: Signer, compromised: boolean): Promise<void> {
      await refresh()
      const draft = await draftSuccession(store.origin, signer, next.publicKey, clock.now(), compromised)
      const appended = await committer.commit([draft], { log: KEY_LOG, size: keys.length })
      if (appended === undefined) throw new LedgerRefused('Another process has rotated the key at the same time.')
      signer = next
      keys = await load()
    },
  }
}

function isCurrent({ publicKey }: Signer, keys: readonly LedgerKey[]): boolean {
  return keys.at(-1)?.kid === thumbprint(publicKey)
}

function requireCurrent(signer: Signer, keys: readonly LedgerKey[]): void {
  if (isCurrent(signer, keys)) return
  throw new LedgerRefused(
    `The signing key ${thumbprint(signer.publicKey)} is not the current key of the ledger, which is ` +
      `${keys.at(-1)?.kid}. Give it that key, or hand over with \`sallyport keys rotate-signing\`.`,
  )
}
