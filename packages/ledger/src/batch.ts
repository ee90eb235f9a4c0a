import type { Batch, Head, Heads, PlacedRecord } from './ports.ts'
import { type Draft, recordText } from './record.ts'
import { type Frontier, openFrontier } from './tree.ts'
import { genesisLink, leafHash } from './verify/hash.ts'

/**
 * Gives drafts their places: ids from the next one on, each record at the end of its log, no earlier in time than the one
 * before it. Pure, so that every store keeps the same bytes. Throws RangeError when the ids have run out.
 */
export function placeBatch(origin: string, drafts: readonly Draft[], { nextId, logs }: Heads): Batch {
  const ends = new Map<string, LogEnd>()
  const nodes: Batch['nodes'][number][] = []
  const records = drafts.map((draft, index): PlacedRecord => {
    const { log } = draft
    const end = ends.get(log) ?? openEnd(`${origin}/${log}`, logs.get(log))
    ends.set(log, end)
    const attestationId = nextId + index
    if (!Number.isSafeInteger(attestationId)) throw new RangeError('The ledger has run out of ids.')
    const seq = end.tree.size
    // Time never goes back within a log, whatever the clock does.
    end.issuedAt = Math.max(end.issuedAt, draft.at)
    const issuedAt = new Date(end.issuedAt).toISOString()
    const text = recordText(draft, { attestationId, issuedAt, log: end.name, prev: end.link, seq })
    const leaf = leafHash(text)
    end.tree.append(leaf, (node) => nodes.push({ ...node, log }))
    end.link = leaf.toString('hex')
    return { log, attestationId, seq, text, issuedAt: end.issuedAt, subject: draft.subject }
  })
  return { records, nodes, heads: new Map([...ends].map(([log, end]) => [log, makeHead(end)])) }
}

/** The end of a log while records are added to it. */
interface LogEnd {
  readonly name: string
  readonly tree: Frontier
  link: string
  issuedAt: number
}

function openEnd(name: string, head: Head | undefined): LogEnd {
  const { size, peaks, link, issuedAt } = head ?? { link: genesisLink(name), issuedAt: Number.NEGATIVE_INFINITY }
  return { name, tree: openFrontier(size, peaks), link, issuedAt }
}

function makeHead({ tree, link, issuedAt }: LogEnd): Head {
  return { size: tree.size, link, issuedAt, peaks: tree.encode() }
}
