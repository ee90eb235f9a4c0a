import type { Committer } from './committer.ts'
import { type LedgerStore, readHead, type Stamp } from './ports.ts'
import { type Anchor, draftAnchor } from './record.ts'
import { createProver, findFirst } from './tree.ts'
import { parseCheckpoint } from './verify/note.ts'
import { parseRecord } from './verify/record.ts'
import type { Members } from './verify/shape.ts'
import { sameBytes } from './verify/tree.ts'

/*
 * Anchors: checkpoints that authorities outside have stamped with the time, or witnesses cosigned. Each log has a log of its anchors beside it, so they
 * are chained, signed and audited as all records are, and need no table.
 */

/** Names the log that holds a log's anchors. */
export const anchorLog = (log: string): string => `a/${log}`

const isAnchorLog = (log: string): boolean => log.startsWith('a/')

/** Logs that one pass anchors: a ledger of many accounts must not flood an authority. */
const MAX_AT_ONCE = 8

/**
 * Anchors the logs whose newest checkpoint covers more than their last anchor, and whose last anchor is as old as `everyMs`, the
 * oldest first. Another process that does the same at the same time makes one of both drop its anchor.
 */
export async function anchorLogs(
  store: LedgerStore,
  committer: Committer,
  stamp: Stamp,
  now: () => number,
  everyMs: number,
): Promise<void> {
  const due: { log: string; note: string; size: number; from: number; at: number; count: number }[] = []
  for (const log of (await store.logs()).filter((name) => !isAnchorLog(name))) {
    const { newest } = await store.checkpoints(log, 0)
    const checkpoint = newest === undefined ? undefined : parseCheckpoint(newest)
    if (newest === undefined || checkpoint === undefined) continue
    const head = await readHead(store, anchorLog(log))
    const last = head === undefined ? undefined : await readAnchor(store, log, head.size - 1)
    const from = last?.size ?? 0
    if (from >= checkpoint.size) continue
    const at = head?.issuedAt ?? 0
    if (Math.abs(now() - at) >= everyMs)
      due.push({ log, note: newest, size: checkpoint.size, from, at, count: head?.size ?? 0 })
  }
  for (const { log, note, size, from, count } of due.sort((x, y) => x.at - y.at).slice(0, MAX_AT_ONCE)) {
    const prove = (old: number) => createProver(store, log).consistency(old, size)
    const stamped = await stamp(note, { from, prove })
    // A witness may know some of the logs alone.
    if (Object.keys(stamped.timestamps).length === 0 && stamped.cosignatures === '') continue
    const draft = draftAnchor(anchorLog(log), now(), { size, checkpoint: note, ...stamped })
    await committer.commit([draft], { log: anchorLog(log), size: count })
  }
}

/** Finds the first anchor of a log that covers position `seq`, else the newest one. */
export async function findAnchor(store: LedgerStore, log: string, seq: number): Promise<Anchor | undefined> {
  const count = (await readHead(store, anchorLog(log)))?.size ?? 0
  const first = await findFirst(count, async (place) => ((await readAnchor(store, log, place))?.size ?? 0) > seq)
  return count === 0 ? undefined : readAnchor(store, log, Math.min(first, count - 1))
}

async function readAnchor(store: LedgerStore, log: string, place: number): Promise<Anchor | undefined> {
  const [record] = await store.records(anchorLog(log), place, 1)
  return record === undefined ? undefined : parseAnchor(parseRecord(record.bytes).members)
}

function parseAnchor(members: Members): Anchor {
  const anchor = members.object('stamped')
  const timestamps = anchor.object('timestamps')
  return {
    size: anchor.integer('size'),
    checkpoint: anchor.text('checkpoint'),
    timestamps: Object.fromEntries(Object.keys(timestamps.raw).map((name) => [name, timestamps.bytes(name)])),
    cosignatures: anchor.has('cosignatures') ? anchor.text('cosignatures') : '',
  }
}

export interface NewestAnchor extends Anchor {
  readonly log: string
  /** Whether the log still has the tree that was stamped. */
  readonly holds: boolean
}

/** Lists the newest anchor of every log that has one, and holds it against the records of the log. */
export async function listNewestAnchors(store: LedgerStore): Promise<readonly NewestAnchor[]> {
  const found: NewestAnchor[] = []
  for (const log of (await store.logs()).filter((name) => !isAnchorLog(name))) {
    const anchor = await findAnchor(store, log, Number.MAX_SAFE_INTEGER)
    const checkpoint = anchor && parseCheckpoint(anchor.checkpoint)
    if (anchor === undefined) continue
    const root = await createProver(store, log)
      .root(anchor.size)
      .catch(() => undefined)
    const holds = checkpoint?.size === anchor.size && root !== undefined && sameBytes(root, checkpoint.root)
    found.push({ log, ...anchor, holds })
  }
  return found
}
