import type { Randomness } from './ports.ts'

const AT_ONCE = 8192

/** Randomness drawn ahead: 32 bytes of the system's cost as much as all the rest of a record, and many no more than few. */
export function pooledRandomness(randomness: Randomness): Randomness {
  let drawn: Uint8Array = new Uint8Array()
  let end = 0
  return (bytes) => {
    if (drawn.length - end < bytes) {
      drawn = randomness(Math.max(bytes, AT_ONCE))
      end = 0
    }
    const start = end
    end += bytes
    return drawn.subarray(start, end)
  }
}
