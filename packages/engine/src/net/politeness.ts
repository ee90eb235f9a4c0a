/** A rate limit for the questions to each server, in which askers take turns. */
export interface Politeness {
  /**
   * Resolves to true when the server may be asked, to false where that would be too late. An asker with fewer questions
   * comes first; where too many wait, the one that would come last is refused.
   */
  turn(server: string, asker?: string): Promise<boolean>
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

interface Waiting {
  readonly asker: string
  readonly rank: number
  readonly answer: (isTurn: boolean) => void
}

/** Start-time fair queueing: a question ranks behind those of its own asker, and not before the question that went last. */
interface Queue {
  /** GCRA: the theoretical arrival of the next question, in milliseconds of the monotonic clock. */
  arrival: number
  /** Rank of the question that went last. */
  rank: number
  /** Rank of each asker's next question, where it is above that. */
  readonly ranks: Map<string, number>
  /** In the order of their ranks. */
  readonly waiting: Waiting[]
  timer?: NodeJS.Timeout | undefined
}

export function createPoliteness({ burst, spacingMs, maxWaitMs }: PolitenessOptions): Politeness {
  const queues = new Map<string, Queue>()

  /** How long the question at a place in the queue waits, counted from 0. */
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
    turn(server, asker = '') {
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

/** A server that nobody waits for and that may be asked a whole burst again: who asked it before no longer matters. */
function isIdle({ waiting, arrival }: Queue, now: number): boolean {
  return waiting.length === 0 && arrival <= now
}
