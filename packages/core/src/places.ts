/** Bounds how much work runs at once; other work waits for a place, in the order of the calls. */
export type Places = ReturnType<typeof createPlaces>

export function createPlaces(max: number) {
  const waiting: (() => void)[] = []
  let taken = 0

  /** Passes the place from the work that ended to the work that waited longest. */
  function release(): void {
    const next = waiting.shift()
    if (next === undefined) taken--
    else next()
  }

  /** Takes a place where one is free. Call the result once, when the work has ended. */
  function take(): (() => void) | undefined {
    if (taken >= max) return undefined
    taken++
    return release
  }

  return {
    get taken() {
      return taken
    },
    get waiting() {
      return waiting.length
    },
    take,
    async run<T>(work: () => Promise<T>): Promise<T> {
      if (take() === undefined) await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        release()
      }
    },
  }
}
