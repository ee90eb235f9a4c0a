export type Series = ReturnType<typeof createSeries>

/** Counts several kinds in equal slots of time, and keeps the last slots. */
export function createSeries({ slots, slotMs, kinds }: Readonly<Record<'slots' | 'slotMs' | 'kinds', number>>) {
  const counts = new Uint32Array(slots * kinds)
  /** Says which slot since the epoch each place holds. */
  const held = new Float64Array(slots).fill(-1)

  return {
    slotMs,
    add(at: number, kind: number, by: number): void {
      const slot = Math.floor(at / slotMs)
      const place = slot % slots
      const before = held[place] as number
      if (slot < before) return
      if (slot > before) {
        counts.fill(0, place * kinds, (place + 1) * kinds)
        held[place] = slot
      }
      const index = place * kinds + kind
      counts[index] = (counts[index] as number) + by
    },
    /** Returns a row for each of the last `count` slots up to the slot of `now`, oldest first. */
    read(now: number, count: number): readonly (readonly number[])[] {
      const last = Math.floor(now / slotMs)
      return Array.from({ length: Math.min(count, slots) }, (_, index) => {
        const slot = last - Math.min(count, slots) + 1 + index
        const place = ((slot % slots) + slots) % slots
        if (held[place] !== slot) return new Array<number>(kinds).fill(0)
        return [...counts.subarray(place * kinds, (place + 1) * kinds)]
      })
    },
  }
}
