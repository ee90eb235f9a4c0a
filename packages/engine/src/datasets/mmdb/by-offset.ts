/** Values that share a slot are rare: most take more bytes than this many bits tell apart. */
const SLOT_BITS = 4

/**
 * Maps the offsets of values in a database's data section to facts about them: a column with a slot for every few bytes, and a map for
 * values that share one. A compile reads it some ten million times.
 */
export function createByOffset<Value>(dataStart: number, dataEnd: number) {
  const slots = Math.max(0, dataEnd - dataStart) >>> SLOT_BITS
  const offsets = new Uint32Array(slots + 1)
  const values: (Value | undefined)[] = new Array(slots + 1).fill(undefined)
  const others = new Map<number, Value>()
  return {
    get(at: number): Value | undefined {
      const slot = (at - dataStart) >>> SLOT_BITS
      return offsets[slot] === at ? values[slot] : others.get(at)
    },
    set(at: number, value: Value): void {
      const slot = (at - dataStart) >>> SLOT_BITS
      if (offsets[slot] !== 0) others.set(at, value)
      else {
        offsets[slot] = at
        values[slot] = value
      }
    },
  }
}
