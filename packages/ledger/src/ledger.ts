import { anchorLogs } from './anchors.ts'
import { type CheckpointerPorts, openCheckpointer } from './checkpointer.ts'
import { createCommitter } from './committer.ts'
import { buildCrawls, type CrawlsJson, type CrawlsQuery, crawlLog } from './crawl-evidence.ts'
import { buildEvidence, type EvidenceJson, type EvidenceQuery } from './evidence.ts'
import { holdAgainstCheckpoints } from './hold-checkpoints.ts'
import type { Randomness, RecordPlace, Stamp } from './ports.ts'
import { type Crawl, type Document, draftAttestation, draftCrawl, type Statement, type Subject } from './record.ts'
import { createSequencer } from './sequencer.ts'
import { buildJwks } from './signing.ts'

export interface LedgerPorts extends Omit<CheckpointerPorts, 'committer'> {
  readonly randomness: Randomness
  /** Asks authorities and witnesses outside; absent: none is configured. */
  readonly stamp?: Stamp | undefined
  /** Why records have no timestamp yet. */
  readonly unanchored?: (() => string | undefined) | undefined
}

/** Logs of which a status is read. */
const MAX_LOGS = 256

/** A ledger that agrees with its checkpoints and whose key is at hand. */
export type Ledger = Awaited<ReturnType<typeof openLedger>>
export type LedgerStatus = Awaited<ReturnType<Ledger['status']>>

/**
 * Opens a ledger. A new one gets its first key; an existing one is held against its checkpoints, inside and outside the
 * store, and is then signed up to its end. Rejects with LedgerRefused, which says what contradicts what.
 */
export async function openLedger(ports: LedgerPorts) {
  const { store, archive, clock, randomness } = ports
  const committer = createCommitter(store)
  const sequencer = createSequencer(committer)
  const checkpointer = await openCheckpointer({ ...ports, committer })
  const { keys, signer, cover, checkpoint, rotate } = checkpointer
  await holdAgainstCheckpoints(store, archive, keys())
  checkpointer.requireCurrentKey()
  await checkpoint()
  const kept = new Map<string, Promise<void>>()
  const now = () => clock.now()
  const evidencePorts = { store, cover, signer, keys, now, unanchored: () => ports.unanchored?.() }

  return {
    /** Records an attestation; resolves when it is durable. Rejects with LedgerUnavailable. */
    attest(
      log: string,
      statement: Statement,
      subject: { readonly address: string; readonly context?: string | undefined },
    ): Promise<RecordPlace> {
      const { address, context } = subject
      const salt = randomness(32)
      const personal: Subject = context === undefined ? { address, salt } : { address, salt, context }
      return sequencer.append(draftAttestation(log, clock.now(), statement, personal))
    },
    /** Records what an operator read within a minute; resolves when it is durable. `addresses` are those of proven crawlers. */
    crawl(crawl: Crawl, addresses: readonly string[]): Promise<RecordPlace> {
      const subject = addresses.length === 0 ? undefined : { address: addresses.join(' '), salt: randomness(32) }
      return sequencer.append(draftCrawl(crawlLog(crawl.operator), crawl, subject))
    },
    /** Evidence of what an operator read; `undefined` when there are no records. Throws RangeError for too many. */
    async crawls(operator: string, query: CrawlsQuery): Promise<CrawlsJson | undefined> {
      await checkpointer.followKeys()
      return buildCrawls(operator, query, evidencePorts)
    },
    /** Keeps a document that attestations name by its hash; at once where it is known to be kept. */
    keep(document: Document): Promise<void> {
      const known = kept.get(document.sha256)
      if (known !== undefined) return known
      const keeping = store.putDocument(document)
      kept.set(document.sha256, keeping)
      keeping.catch(() => kept.delete(document.sha256))
      return keeping
    },
    /** Evidence about records of one log; `undefined` when there are none. Throws RangeTooWide. */
    async evidence(log: string, query: EvidenceQuery): Promise<EvidenceJson | undefined> {
      await checkpointer.followKeys()
      return buildEvidence(log, query, evidencePorts)
    },
    keys: async () => buildJwks(store.origin, await checkpointer.loadKeys()),
    checkpoint,
    /** Has authorities stamp the logs that have grown, each at most once in `everyMs`; nothing without a port for it. */
    async anchor(everyMs: number): Promise<void> {
      if (ports.stamp !== undefined) await anchorLogs(store, committer, ports.stamp, now, everyMs)
    },
    /** Counts the records that no checkpoint covers yet, of as many logs as are looked at, and the checkpoints that this process has signed. */
    async status() {
      const rows = await store.uncovered(MAX_LOGS)
      return {
        uncovered: rows.reduce((sum, { size, covered }) => sum + size - covered, 0),
        signed: checkpointer.signedCount(),
      }
    },
    rotate,
  }
}
