/** Keeps the questions to one server apart. */
export interface Politeness {
  /** Resolves when the server may be asked; rejects with the reason where that would be too late. */
  turn(server: string): Promise<void>
}

export interface PolitenessOptions {
  /** How many questions a server is put at once after a time of rest. */
  readonly burst: number
  /** Time between two questions after that. */
  readonly spacingMs: number
  /** Longest a question waits for its turn; one that would wait longer is not asked. */
  readonly maxWaitMs: number
}

/** Most servers that are remembered. */
const MOST_SERVERS = 4_096

/** A limit of rate for each server, by the time at which all that it was asked would be spread evenly (GCRA). */
export function createPoliteness({ burst, spacingMs, maxWaitMs }: PolitenessOptions): Politeness {
  /** That time, in milliseconds of the monotonic clock; a server whose time has come is forgotten. */
  const spread = new Map<string, number>()
  return {
    async turn(server) {
      const now = performance.now()
      if (spread.size >= MOST_SERVERS) for (const [name, at] of spread) if (at <= now) spread.delete(name)
      const next = Math.max(now, spread.get(server) ?? 0) + spacingMs
      const waitMs = Math.round(next - burst * spacingMs - now)
      if (waitMs > maxWaitMs || (spread.size >= MOST_SERVERS && !spread.has(server))) {
        throw new Error(`too many questions to ${server}`)
      }
      spread.set(server, next)
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    },
  }
}
