import { type AppenderOptions, createAppender } from './appender.ts'
import { buildEvidence, type EvidenceJson, type EvidenceQuery } from './evidence.ts'
import {
  type CheckpointArchive,
  LedgerRefused,
  type LedgerStore,
  type Place,
  type Randomness,
  type Signer,
} from './ports.ts'
import { type Attestation, createDrafter, type Document, type Subject } from './record.ts'
import {
  draftFirstKey,
  draftSuccession,
  type Jwks,
  jwksOf,
  KEY_LOG,
  readKeys,
  signCheckpoint,
  thumbprint,
} from './signing.ts'
import { createProver } from './tree.ts'
import type { LedgerKey } from './verify/keys.ts'
import { isSignedBy, parseCheckpoint } from './verify/note.ts'
import { sameBytes } from './verify/tree.ts'

export interface LedgerPorts {
  readonly store: LedgerStore
  readonly archive: CheckpointArchive
  /** Milliseconds since the epoch. */
  readonly clock: { now(): number }
  readonly randomness: Randomness
  /** Reads the private key, that of `kid` where the ledger has one; asked again when another process has rotated it. */
  loadSigner(kid?: string): Promise<Signer>
  readonly appending?: AppenderOptions
}

/** A ledger that agrees with its checkpoints and whose key is at hand. */
export interface Ledger {
  /** Records an attestation; resolves when it is durable. Rejects with LedgerUnavailable. */
  attest(
    log: string,
    attestation: Attestation,
    subject: { readonly address: string; readonly context?: string },
  ): Promise<Place>
  /** Keeps a document that attestations name by its hash; at once where it is known to be kept. */
  keep(document: Document): Promise<void>
  /** Evidence about records of one log; `undefined` when there are none. Throws RangeTooWide. */
  evidence(log: string, query: EvidenceQuery): Promise<EvidenceJson | undefined>
  keys(): Promise<Jwks>
  /** Signs a checkpoint of every log that has grown. Rejects with LedgerRefused when the key is no longer the ledger's. */
  checkpoint(): Promise<void>
  /** Hands over to another key, and signs every log with it. */
  rotate(next: Signer, compromised: boolean): Promise<void>
}

/** Logs looked at in one pass of checkpointing. */
const PASS = 256

/** How often something is tried again because another process was quicker. */
const RETRIES = 20

const KEYS_AT_ONCE = 1000

/**
 * Opens a ledger. A new one gets its first key; one that is there is held against its checkpoints, inside and outside
 * the store, and is then signed up to its end. Rejects with LedgerRefused, which says what contradicts what.
 */
export async function openLedger(ports: LedgerPorts): Promise<Ledger> {
  const { store, archive, clock, randomness } = ports
  const { origin } = store
  const appender = createAppender(store, ports.appending)
  const draft = createDrafter()
  const kept = new Map<string, Promise<void>>()
  let keys = readKeys(await store.records(KEY_LOG, 0, KEYS_AT_ONCE))
  let signer = await ports.loadSigner(keys.at(-1)?.kid)

  async function loadKeys(): Promise<readonly LedgerKey[]> {
    return readKeys(await store.records(KEY_LOG, 0, KEYS_AT_ONCE))
  }

  async function beginKeys(): Promise<void> {
    if (keys.length > 0) return
    await store.append([draftFirstKey(signer.publicKey, clock.now())], { log: KEY_LOG, size: 0 })
    keys = await loadKeys()
  }

  /**
   * Another process may have rotated: the key that signs must be the newest of the key log. The two are taken together
   * or not at all, so that no old key ever signs as if it were the newest.
   */
  async function refreshSigner(): Promise<void> {
    const recorded = await loadKeys()
    const current = isCurrent(signer, recorded) ? signer : await ports.loadSigner(recorded.at(-1)?.kid)
    if (!isCurrent(current, recorded)) throw new LedgerRefused(wrongKey(current, recorded))
    keys = recorded
    signer = current
  }

  /** One short look for whether another process has rotated since. */
  async function followKeys(): Promise<void> {
    if ((await store.head(KEY_LOG))?.size !== keys.length) await refreshSigner()
  }

  /** False when another process was quicker; then nothing was kept. */
  async function sign(log: string, size: number, root: Uint8Array, covered: number): Promise<boolean> {
    const head = await signCheckpoint(origin, log, size, root, signer)
    if (!(await store.putCheckpoint(head, covered, keys.length))) {
      await refreshSigner()
      return false
    }
    await archive.write(head)
    return true
  }

  async function checkpoint(): Promise<void> {
    for (let tries = 0; tries < RETRIES; ) {
      const uncovered = await store.uncovered(PASS)
      if (uncovered.length === 0) return
      const signed = await Promise.all(uncovered.map(({ log, size, root, covered }) => sign(log, size, root, covered)))
      // A pass that got everywhere is progress, however many logs there are.
      if (!signed.every(Boolean)) tries++
    }
  }

  /** A checkpoint by the current key that covers position `seq`, or the end of the log. */
  async function cover(log: string, seq: number): Promise<void> {
    for (let tries = 0; tries < RETRIES; tries++) {
      const { newest } = await store.checkpoints(log, seq)
      const parsed = newest === undefined ? undefined : parseCheckpoint(newest)
      const size = parsed?.size ?? 0
      const fresh = parsed !== undefined && isSignedBy(parsed, origin, signer.publicKey)
      if (fresh && size > seq) return
      const uncovered = (await store.uncovered(PASS)).find((row) => row.log === log)
      const target = uncovered ?? (size > seq && parsed !== undefined ? { size, root: parsed.root } : undefined)
      if (target === undefined) return checkpoint()
      if (await sign(log, target.size, target.root, size)) return
    }
  }

  await beginKeys()
  await holdAgainstCheckpoints(ports, keys)
  if (!isCurrent(signer, keys)) throw new LedgerRefused(wrongKey(signer, keys))
  await checkpoint()

  return {
    // Not async: one more promise for each record, and those who wait for it, take a twentieth of all.
    attest(log, attestation, subject) {
      const { address, context } = subject
      const salt = randomness(32)
      const personal: Subject = context === undefined ? { address, salt } : { address, salt, context }
      return appender.append(draft(log, clock.now(), attestation, personal))
    },
    keep(document) {
      const known = kept.get(document.sha256)
      if (known !== undefined) return known
      const keeping = store.putDocument(document)
      kept.set(document.sha256, keeping)
      keeping.catch(() => kept.delete(document.sha256))
      return keeping
    },
    async evidence(log, query) {
      await followKeys()
      return buildEvidence(log, query, { store, cover, signer: () => signer, keys: () => keys, now: () => clock.now() })
    },
    keys: async () => jwksOf(origin, await loadKeys()),
    checkpoint,
    async rotate(next, compromised) {
      await refreshSigner()
      const draft = await draftSuccession(origin, signer, next.publicKey, clock.now(), compromised)
      const appended = await store.append([draft], { log: KEY_LOG, size: keys.length })
      if (appended === undefined) throw new LedgerRefused('Another process has rotated the key at the same time.')
      signer = next
      keys = await loadKeys()
      await checkpoint()
      for (const log of await store.logs()) await cover(log, 0)
    },
  }
}

function isCurrent({ publicKey }: Signer, keys: readonly LedgerKey[]): boolean {
  return keys.at(-1)?.kid === thumbprint(publicKey)
}

function wrongKey({ publicKey }: Signer, keys: readonly LedgerKey[]): string {
  return (
    `The signing key ${thumbprint(publicKey)} is not the current key of the ledger, which is ${keys.at(-1)?.kid}. ` +
    'Give it that key, or hand over with `sallyport keys rotate-signing`.'
  )
}

/**
 * Holds a store against every checkpoint that was ever written outside it, and its own newest ones. What a chain alone
 * cannot show, this does: records cut off at the end, an older copy put back, another history.
 */
async function holdAgainstCheckpoints({ store, archive }: LedgerPorts, keys: readonly LedgerKey[]): Promise<void> {
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
  const head = await store.head(log)
  if ((head?.size ?? 0) < size) {
    return refuse(
      `says that ${log} has ${size} records; the database has ${head?.size ?? 0}: it was cut short or is old.`,
    )
  }
  const found = await createProver((level, index) => store.tile(log, level, index)).root(size)
  if (!sameBytes(found, root)) return refuse(`does not fit the first ${size} records of ${log}: they were changed.`)
}
