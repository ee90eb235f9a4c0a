import type { Randomness } from './ports.ts'

const AT_ONCE = 8192

/** Randomness drawn ahead: 32 bytes of the system's cost as much as all the rest of a record, and many no more than few. */
export function pooledRandomness(randomness: Randomness): Randomness {
  let drawn: Uint8Array = new Uint8Array()
  return (bytes) => {
    if (drawn.length < bytes) drawn = randomness(Math.max(bytes, AT_ONCE))
    const taken = drawn.subarray(0, bytes)
    drawn = drawn.subarray(bytes)
    return taken
  }
}
