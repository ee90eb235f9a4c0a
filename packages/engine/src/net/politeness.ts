export interface PolitenessOptions {
  /** Questions that an idle server receives without a wait. */
  readonly burst: number
  /** Time between two questions after the burst. */
  readonly spacingMs: number
  /** Longest wait of a question for its turn; a question that would wait longer is not sent. */
  readonly maxWaitMs: number
}

const MAX_SERVERS = 4_096

interface Waiting {
  readonly asker: string
  readonly rank: number
  readonly answer: (isTurn: boolean) => void
}

/** Start-time fair queueing: a question ranks behind those of its own asker, and not before the question that went last. */
interface Queue {
  /** Holds the theoretical arrival of the next question (GCRA), in milliseconds of the monotonic clock. */
  arrival: number
  /** Rank of the question that went last. */
  rank: number
  /** Rank of each asker's next question, if it is above `rank`. */
  readonly ranks: Map<string, number>
  /** Questions are kept in the order of their ranks. */
  readonly waiting: Waiting[]
  timer?: NodeJS.Timeout | undefined
}

/** Limits the rate of questions to each server, and lets askers take turns. */
export function createPoliteness({ burst, spacingMs, maxWaitMs }: PolitenessOptions) {
  const queues = new Map<string, Queue>()

  /** Returns how long the question at a place in the queue waits; the first place is 0. */
  const computeWait = ({ arrival }: Queue, place: number, now: number): number =>
    Math.round(Math.max(now, arrival) + (place + 1 - burst) * spacingMs - now)

  function findQueue(server: string, now: number): Queue | undefined {
    const found = queues.get(server)
    if (found !== undefined && !isIdle(found, now)) return found
    if (queues.size >= MAX_SERVERS) for (const [name, queue] of queues) if (isIdle(queue, now)) queues.delete(name)
    if (queues.size >= MAX_SERVERS) return undefined
    const queue: Queue = { arrival: now, rank: 0, ranks: new Map(), waiting: [] }
    queues.set(server, queue)
    return queue
  }

  function advance(queue: Queue): void {
    clearTimeout(queue.timer)
    const now = performance.now()
    while (queue.waiting.length > 0 && computeWait(queue, 0, now) <= 0) {
      const next = queue.waiting.shift() as Waiting
      queue.arrival = Math.max(now, queue.arrival) + spacingMs
      queue.rank = next.rank
      next.answer(true)
    }
    while (queue.waiting.length > 0 && computeWait(queue, queue.waiting.length - 1, now) > maxWaitMs) {
      const last = queue.waiting.pop() as Waiting
      queue.ranks.set(last.asker, last.rank)
      last.answer(false)
    }
    if (queue.waiting.length > 0) queue.timer = setTimeout(advance, computeWait(queue, 0, now), queue)
  }

  return {
    /**
     * Resolves to true when the server may be asked, and to false if that would be too late. An asker with fewer questions comes first; if
     * too many wait, the question that would come last is refused.
     */
    turn(server: string, asker = ''): Promise<boolean> {
      return new Promise((answer) => {
        const queue = findQueue(server, performance.now())
        if (queue === undefined) return answer(false)
        const rank = Math.max(queue.rank, queue.ranks.get(asker) ?? 0)
        queue.ranks.set(asker, rank + 1)
        const place = queue.waiting.findIndex((other) => other.rank > rank)
        queue.waiting.splice(place < 0 ? queue.waiting.length : place, 0, { asker, rank, answer })
        advance(queue)
      })
    },
  }
}

/** Reports whether no question waits and a whole burst is permitted: earlier askers no longer matter then. */
function isIdle({ waiting, arrival }: Queue, now: number): boolean {
  return waiting.length === 0 && arrival <= now
}
