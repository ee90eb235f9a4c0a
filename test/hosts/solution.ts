import { createHash } from 'node:crypto'

const ASKED = /data-challenge="([^"]+)" data-puzzles="(\d+)" data-bits="(\d+)"/

/** The challenge that a page asks, and its solution as a page finds it. */
export function solved(page: string): { readonly challenge: string; readonly solution: string } {
  const [, challenge = '', puzzles, bits] = ASKED.exec(page) ?? []
  const seed = Buffer.from(challenge, 'base64url').subarray(-32)
  const numbers = Array.from({ length: Number(puzzles) }, (_, place) => {
    const block = Buffer.concat([seed, Buffer.alloc(8)])
    block.writeUInt32BE(place, 32)
    for (let number = 0; ; number++) {
      block.writeUInt32BE(number, 36)
      if (createHash('sha256').update(block).digest().readUInt32BE() >>> (32 - Number(bits)) === 0) return number
    }
  })
  return { challenge, solution: `${challenge}.${numbers.join(',')}` }
}
