/** What a visitor is found by: the socket, and what the configured header said, or ''. */
export interface FoundBy {
  readonly peer: string
  readonly line: string
}

/** Visitors by the peer and the line they came with. */
export interface VisitorMemory<Visitor extends FoundBy> {
  find(peer: string, line: string): Visitor | undefined
  keep(visitor: Visitor): void
  forget(): void
}

/** Sets, a power of two, and the visitors of each: room for those of some minutes at a busy site. */
const SETS = 2048
const WAYS = 4
/** A set in the table: hash and visitor by turns. */
const SET_LENGTH = 2 * WAYS

/**
 * A table of sets, as a processor's cache is one. To find a visitor reads one set and the visitor, and writes nothing:
 * between two requests a framework sweeps the processor's caches, and each further object that is touched costs more than
 * what is done with it. Who is not kept is looked up again, so it is of no account which of a full set makes way.
 */
export function createVisitorMemory<Visitor extends FoundBy>(): VisitorMemory<Visitor> {
  const table = new Array<number | Visitor | undefined>(SETS * SET_LENGTH).fill(undefined)
  let turn = 0

  return {
    find(peer, line) {
      const hash = hashOf(line === '' ? peer : line)
      const set = (hash & (SETS - 1)) * SET_LENGTH
      for (let place = set; place < set + SET_LENGTH; place += 2) {
        if (table[place] !== hash) continue
        const visitor = table[place + 1] as Visitor
        if (visitor.line === line && visitor.peer === peer) return visitor
      }
      return undefined
    },
    keep(visitor) {
      const { peer, line } = visitor
      const hash = hashOf(line === '' ? peer : line)
      const set = (hash & (SETS - 1)) * SET_LENGTH
      const place = set + placeIn(set, hash)
      table[place] = hash
      table[place + 1] = visitor
    },
    forget() {
      table.fill(undefined)
    },
  }

  /** Where in a set: in place of an earlier one by this hash, where it is free, or in turn. */
  function placeIn(set: number, hash: number): number {
    for (let place = 0; place < SET_LENGTH; place += 2) {
      const taken = table[set + place]
      if (taken === undefined || taken === hash) return place
    }
    turn = (turn + 2) % SET_LENGTH
    return turn
  }
}

/** A number of 32 bits that few texts share (FNV-1a, mixed once more because sets are chosen by its lowest bits). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
