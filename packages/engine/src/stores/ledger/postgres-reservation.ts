import { RESERVE_MS } from '@sallyport/ledger'
import type { Postgres, PostgresQuery } from '../postgres/pool.ts'

type Work = (query: PostgresQuery) => Promise<boolean>

interface OpenTransaction {
  /** Ends the transaction, after this work where there is some. */
  end(work?: Work): void
  readonly ended: Promise<boolean>
}

/** Creates the transaction that stays open between the read that locks and the write that follows. */
export function createReservation(postgres: Postgres) {
  let open: OpenTransaction | undefined

  async function release(): Promise<void> {
    const released = open
    open = undefined
    released?.end()
    await released?.ended.catch(() => {})
  }

  return {
    /** Runs a read that locks, and leaves its transaction open for RESERVE_MS at most. */
    async reserve<T>(read: (query: PostgresQuery) => Promise<T>): Promise<T> {
      await release()
      return new Promise((resolve, reject) => {
        let end: OpenTransaction['end'] = () => {}
        const next = new Promise<Work | undefined>((give) => {
          end = give
        })
        const ended = postgres.transaction(async (query) => {
          const found = await read(query)
          const own: OpenTransaction = { end, ended }
          open = own
          const timer = setTimeout(() => {
            if (open === own) open = undefined
            end()
          }, RESERVE_MS)
          resolve(found)
          const work = await next
          clearTimeout(timer)
          return work === undefined ? false : work(query)
        })
        ended.catch(reject)
      })
    },
    /** Runs work in the open transaction; returns `undefined` when there is none. */
    use(work: Work): Promise<boolean> | undefined {
      const used = open
      open = undefined
      used?.end(work)
      return used?.ended
    },
  }
}
