import { createHash } from 'node:crypto'

interface Puzzles {
  readonly challenge: string
  readonly puzzles: number
  readonly bits: number
}

const ASKED = /data-challenge="([^"]+)" data-puzzles="(\d+)" data-bits="(\d+)"/

/** The challenge that a page asks, and its solution as a page finds it. */
export function solved(page: string): { readonly challenge: string; readonly solution: string } {
  const [, challenge = '', puzzles, bits] = ASKED.exec(page) ?? []
  return { challenge, solution: solutionTo({ challenge, puzzles: Number(puzzles), bits: Number(bits) }) }
}

/** The solution of a challenge as JSON has it. */
export function solutionTo({ challenge, puzzles, bits }: Puzzles): string {
  const block = Buffer.concat([Buffer.from(challenge, 'base64url').subarray(-32), Buffer.alloc(8)])
  const numbers = Array.from({ length: puzzles }, (_, place) => {
    block.writeUInt32BE(place, 32)
    for (let number = 0; ; number++) {
      block.writeUInt32BE(number, 36)
      if (createHash('sha256').update(block).digest().readUInt32BE() >>> (32 - bits) === 0) return number
    }
  })
  return `${challenge}.${numbers.join(',')}`
}
