import type { Fetch } from '@sallyport/core'
import { reasonOf } from './deadline.ts'

/** A rate limit for the questions to each server. */
export interface Politeness {
  /** Resolves when the server may be asked; rejects with the reason where that would be too late. */
  turn(server: string): Promise<void>
}

export interface PolitenessOptions {
  /** Questions to an idle server that need not wait. */
  readonly burst: number
  /** Time between two questions after the burst. */
  readonly spacingMs: number
  /** Longest a question waits for its turn; one that would wait longer is not asked. */
  readonly maxWaitMs: number
}

const MAX_SERVERS = 4_096

/** GCRA: keeps the theoretical arrival time of each server's next question. */
export function createPoliteness({ burst, spacingMs, maxWaitMs }: PolitenessOptions): Politeness {
  /** In milliseconds of the monotonic clock; a time in the past needs no entry. */
  const arrivals = new Map<string, number>()
  return {
    async turn(server) {
      const now = performance.now()
      if (arrivals.size >= MAX_SERVERS) for (const [name, at] of arrivals) if (at <= now) arrivals.delete(name)
      const next = Math.max(now, arrivals.get(server) ?? 0) + spacingMs
      const waitMs = Math.round(next - burst * spacingMs - now)
      if (waitMs > maxWaitMs || (arrivals.size >= MAX_SERVERS && !arrivals.has(server))) {
        throw new Error(`too many questions to ${server}`)
      }
      arrivals.set(server, next)
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    },
  }
}

/** Outbound HTTP with a rate limit for each host; the wait is part of a request's time. */
export function createPoliteFetch(outbound: Fetch, options: PolitenessOptions): Fetch {
  const politeness = createPoliteness(options)
  return {
    async fetch(request) {
      const start = performance.now()
      try {
        await politeness.turn(URL.canParse(request.url) ? new URL(request.url).host : request.url)
      } catch (error) {
        return { state: 'failed', reason: reasonOf(error) }
      }
      const timeoutMs = request.timeoutMs - Math.round(performance.now() - start)
      return timeoutMs > 0 ? outbound.fetch({ ...request, timeoutMs }) : { state: 'failed', reason: 'no time left' }
    },
  }
}
