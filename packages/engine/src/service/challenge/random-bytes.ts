import { randomBytes } from 'node:crypto'

/** Bytes that are drawn at a time: a draw of the system takes longer than all else of a challenge. */
const DRAWN = 4_096

/** Random bytes, of which none is given twice; at most as many at a time as are drawn. */
export function createRandom(): (bytes: number) => Uint8Array {
  let drawn = randomBytes(DRAWN)
  let given = 0
  return (bytes) => {
    if (given + bytes > DRAWN) {
      drawn = randomBytes(DRAWN)
      given = 0
    }
    given += bytes
    return drawn.subarray(given - bytes, given)
  }
}
