import type { Draft } from './record.ts'
import { sha256Hex } from './verify/hash.ts'

/** A record that has been written, and the hash of its leaf in hexadecimal (RFC 6962 2.1). */
export interface WrittenRecord {
  readonly bytes: Buffer
  readonly leaf: string
}

/** Memory that records are written into. */
export interface RecordMemory {
  /** Writes a text in UTF-8, behind the last without a gap where there was room. Nothing is written over. */
  write(text: string): WrittenRecord
}

/** Some twenty records. */
const PIECE_BYTES = 16_384

const BYTES_OF_A_CHARACTER = 3

/** Of a record, what its place fills in and what stands around it: not as many characters as this. */
const PLACE_CHARACTERS = 300

/** Memory that the record of a draft asks for at most. */
export function mostBytesOf({ log, front, middle, back }: Draft): number {
  return bytesFor(PLACE_CHARACTERS + log.length + front.length + middle.length + back.length)
}

/** For a text, and the byte before the first. */
function bytesFor(characters: number): number {
  return 1 + characters * BYTES_OF_A_CHARACTER
}

/**
 * Records in pieces of memory: to make one for each takes longer than to fill it. `nextPiece` is asked where the last
 * has no room for so many bytes.
 */
export function createRecordMemory(nextPiece: (bytes: number) => Buffer = newPiece): RecordMemory {
  let piece: Buffer = Buffer.alloc(0)
  let end = 0
  return {
    write(text) {
      const most = bytesFor(text.length)
      if (most > piece.length - end) {
        piece = nextPiece(most)
        end = 1
      }
      const start = end
      end += piece.write(text, start)
      // The prefix of a leaf stands in the place of the byte before the record, for so long as its hash takes: so records
      // lie without gaps, as they are stored, and none is copied for its hash.
      const before = piece[start - 1] as number
      piece[start - 1] = LEAF_PREFIX
      const leaf = sha256Hex(piece.subarray(start - 1, end))
      piece[start - 1] = before
      return { bytes: piece.subarray(start, end), leaf }
    },
  }
}

const LEAF_PREFIX = 0

function newPiece(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(Math.max(bytes, PIECE_BYTES))
}
