/** Returns a whole number from 0 up to the one before `below`. */
export type Random = (below: number) => number

/** Makes numbers that look random and are the same in every run (xorshift32). */
export function createRandom(seed: number): Random {
  let state = seed | 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}
