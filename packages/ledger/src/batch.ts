import type { Head, Place } from './ports.ts'
import { type Draft, recordText, type Subject } from './record.ts'
import { createRecordMemory, type RecordMemory } from './record-memory.ts'
import { type Frontier, openFrontier, type TreeNode } from './tree.ts'
import { createNodeHasher, genesisLink, type NodeHasher } from './verify/hash.ts'

/** A record with its place and its bytes, ready to be written. */
export interface PlacedRecord extends Place {
  readonly log: string
  readonly bytes: Buffer
  /** What the next record links to, hexadecimal. */
  readonly leaf: string
  readonly issuedAt: number
  readonly subject: Subject | undefined
}

/** Records with their places, and the nodes of the trees that they completed. */
export interface Placed {
  readonly records: readonly PlacedRecord[]
  readonly nodes: readonly (TreeNode & { readonly log: string })[]
}

/** All that one transaction writes. */
export interface Batch extends Placed {
  readonly heads: ReadonlyMap<string, Head>
  readonly nextId: number
}

/**
 * Gives the drafts of one transaction their places: ids from `firstId` on, each behind the last of its log, no earlier in
 * time than that one. Pure, so that every store appends the same bytes. `headOf` gives the head of a log as the transaction
 * sees it, and is asked once for each log; `memory` is what the records are written into.
 */
export function placeBatch(
  origin: string,
  firstId: number,
  drafts: readonly Draft[],
  headOf: (log: string) => Head | undefined,
  memory: RecordMemory = createRecordMemory(),
): Batch {
  const tips = new Map<string, Tip>()
  const nodes: Placed['nodes'][number][] = []
  const momentOf = createMomentWriter()
  const hashNode = createNodeHasher()
  let nextId = firstId

  function tipOf(log: string): Tip {
    const known = tips.get(log)
    if (known !== undefined) return known
    const tip = openTip(`${origin}/${log}`, headOf(log), hashNode)
    tips.set(log, tip)
    return tip
  }

  function place(draft: Draft): PlacedRecord {
    const tip = tipOf(draft.log)
    const attestationId = nextId
    if (!Number.isSafeInteger(attestationId)) throw new RangeError('The ledger has run out of ids.')
    nextId++
    const seq = tip.tree.size
    // A clock that went back does not take the log with it.
    tip.issuedAt = Math.max(tip.issuedAt, draft.at)
    const issuedAt = momentOf(tip.issuedAt)
    const text = recordText(draft, { attestationId, issuedAt, log: tip.name, prev: tip.link, seq })
    const { bytes, leaf } = memory.write(text)
    tip.tree.append(leaf, (node) => nodes.push({ ...node, log: draft.log }))
    tip.link = leaf
    return { log: draft.log, attestationId, seq, bytes, leaf, issuedAt: tip.issuedAt, subject: draft.subject }
  }

  const records = drafts.map(place)
  return { records, nodes, heads: new Map([...tips].map(([log, tip]) => [log, headOfTip(tip)])), nextId }
}

/** ISO 8601, UTC. Neighbours mostly are of one millisecond. */
function createMomentWriter(): (at: number) => string {
  let last = Number.NaN
  let text = ''
  return (at) => {
    if (at !== last) text = new Date(at).toISOString()
    last = at
    return text
  }
}

/** A log while records are being added to it. */
interface Tip {
  readonly name: string
  readonly tree: Frontier
  link: string
  issuedAt: number
}

function openTip(name: string, head: Head | undefined, hashNode: NodeHasher): Tip {
  const { size, peaks, link, issuedAt } = head ?? { link: genesisLink(name), issuedAt: Number.NEGATIVE_INFINITY }
  return { name, tree: openFrontier(size, peaks, hashNode), link, issuedAt }
}

function headOfTip({ tree, link, issuedAt }: Tip): Head {
  return { size: tree.size, link, issuedAt, peaks: tree.encode() }
}
