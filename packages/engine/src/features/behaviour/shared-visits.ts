import { randomInt, randomUUID } from 'node:crypto'
import type { VisitEvent } from '@sallyport/core'
import { openRedis } from '#stores/redis'

/** The server keeps so many batches; a process that falls further behind misses the oldest. */
const MAX_BATCHES = 500
/** The server forgets all of them after so many milliseconds without another. */
const KEPT_MS = 60_000
/** How often a process reads what the others have counted, in milliseconds. */
const LOOK_MS = 100

const SEED = 'sallyport:{visits}:seed'
/** Another form of events is another stream. */
const BATCHES = 'sallyport:{visits}:batches:2'

export interface SharedVisitsPorts {
  /** Gets the number from which all processes make the keys of visits. */
  readonly onSeed: (seed: number) => void
  readonly takeAll: (events: readonly VisitEvent[]) => void
}

/**
 * Shares visits through the Redis at `url`: each process adds what ended there, and counts what the others added, also in the minute
 * before it started. While the server is away, each process counts alone, and what it counted then stays with it; the store of counts
 * reports the outage.
 */
export function openSharedVisits(url: string, { onSeed, takeAll }: SharedVisitsPorts) {
  const own = randomUUID()
  const opening = openRedis(url)
  let seed = randomInt(2 ** 31)
  let last = '0-0'
  let isLooking = false

  async function look(): Promise<void> {
    const client = (await opening).client()
    // Also after the server lost what it held: it gets the common number again, so that no visit ends.
    await client.set(SEED, seed, { condition: 'NX' })
    seed = Number(await client.get(SEED))
    onSeed(seed)
    const batches = await client.xRange(BATCHES, `(${last}`, '+', { COUNT: MAX_BATCHES })
    for (const { id, message } of batches ?? []) {
      last = id
      if (message['by'] !== own) takeAll(JSON.parse(message['events'] ?? '[]') as readonly VisitEvent[])
    }
  }

  async function add(events: readonly VisitEvent[]): Promise<void> {
    const client = (await opening).client()
    const trim = { strategy: 'MAXLEN', strategyModifier: '~', threshold: MAX_BATCHES } as const
    const message = { by: own, events: JSON.stringify(events) }
    await client.multi().xAdd(BATCHES, '*', message, { TRIM: trim }).pExpire(BATCHES, KEPT_MS).exec()
  }

  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    const end = (): void => {
      isLooking = false
    }
    look().then(end, end)
  }, LOOK_MS).unref()

  return {
    send: (events: readonly VisitEvent[]): void => void add(events).catch(() => {}),
    close(): void {
      clearInterval(timer)
      opening.then((connection) => connection.close()).catch(() => {})
    },
  }
}
