import type { Database } from './driver.ts'
import { inTransaction, whenFree } from './open-database.ts'

interface Waiting<Asked, Answer> {
  readonly asked: Asked
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/**
 * Creates a function that works in transactions: all calls of one turn of the event loop share one, which waits while another process
 * holds the lock. Calls resolve after the commit, and those of a transaction that fails all reject.
 */
export function createTurns<Asked, Answer>(
  database: Database,
  work: (asked: Asked) => Answer,
): (asked: Asked) => Promise<Answer> {
  let waiting: Waiting<Asked, Answer>[] = []

  async function runWaiting(): Promise<void> {
    const batch = waiting
    waiting = []
    try {
      const answers = await whenFree(() => inTransaction(database, () => batch.map(({ asked }) => work(asked))))
      for (const [at, { resolve }] of batch.entries()) resolve(answers[at] as Answer)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (asked) =>
    new Promise((resolve, reject) => {
      waiting.push({ asked, resolve, reject })
      if (waiting.length === 1) setImmediate(() => void runWaiting())
    })
}
