import type { Head, Place } from './ports.ts'
import { type Draft, recordText, type Subject } from './record.ts'
import { type Frontier, openFrontier, type TreeNode } from './tree.ts'
import { genesisLink, sha256Hex } from './verify/hash.ts'

/** A record with its place and its bytes, ready to be written. */
export interface PlacedRecord extends Place {
  readonly log: string
  readonly bytes: Buffer
  readonly issuedAt: number
  readonly subject: Subject | undefined
}

/** All that one transaction writes. */
export interface Batch {
  readonly records: readonly PlacedRecord[]
  readonly nodes: readonly (TreeNode & { readonly log: string })[]
  readonly heads: ReadonlyMap<string, Head>
  readonly nextId: number
}

/**
 * Gives drafts their places: ids from `nextId` on, each behind the last of its log, no earlier in time than that one.
 * Pure, so that every store appends the same bytes. `headOf` gives the head of a log as the transaction sees it.
 */
export function placeBatch(
  origin: string,
  nextId: number,
  drafts: readonly Draft[],
  headOf: (log: string) => Head | undefined,
): Batch {
  const tips = new Map<string, Tip>()
  const nodes: (TreeNode & { readonly log: string })[] = []
  const records = drafts.map((draft, index): PlacedRecord => {
    const tip = tips.get(draft.log) ?? openTip(`${origin}/${draft.log}`, headOf(draft.log))
    tips.set(draft.log, tip)
    const attestationId = nextId + index
    if (!Number.isSafeInteger(attestationId)) throw new RangeError('The ledger has run out of ids.')
    const seq = tip.tree.size
    // A clock that went back does not take the log with it.
    if (draft.at > tip.issuedAt) {
      tip.issuedAt = draft.at
      tip.moment = new Date(draft.at).toISOString()
    }
    const text = recordText(draft, { attestationId, issuedAt: tip.moment, log: tip.name, prev: tip.link, seq })
    // The prefix of a leaf stands before the record: one piece of memory serves the hash and the store.
    const leafInput = Buffer.from(`\0${text}`)
    const bytes = leafInput.subarray(1)
    const leaf = sha256Hex(leafInput)
    tip.tree.append(leaf, (node) => nodes.push({ ...node, log: draft.log }))
    tip.link = leaf
    return { log: draft.log, attestationId, seq, bytes, issuedAt: tip.issuedAt, subject: draft.subject }
  })
  const heads = new Map([...tips].map(([log, tip]) => [log, headOfTip(tip)]))
  return { records, nodes, heads, nextId: nextId + drafts.length }
}

/** A log while records are being added to it. */
interface Tip {
  readonly name: string
  readonly tree: Frontier
  link: string
  issuedAt: number
  moment: string
}

function openTip(name: string, head: Head | undefined): Tip {
  if (head === undefined)
    return { name, tree: openFrontier(), link: genesisLink(name), issuedAt: Number.NEGATIVE_INFINITY, moment: '' }
  const { size, peaks, link, issuedAt } = head
  return { name, tree: openFrontier(size, peaks), link, issuedAt, moment: new Date(issuedAt).toISOString() }
}

function headOfTip({ tree, link, issuedAt }: Tip): Head {
  return { size: tree.size, link, issuedAt, peaks: tree.encode() }
}
