import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { openLedger } from '@sallyport/ledger'
import { MADE_ATTESTATION, madeSigner } from '@sallyport/ledger/testing'
import { openCheckpointFolder, openPostgresLedger, openSqliteLedger } from '@sallyport/stores'
import { median } from './rounds.ts'

/* Several processes append to one ledger. As a process of its own this file is one of the writers. */

const CALLERS = 64
const ROUND_MS = 2000
const ROUNDS = 3

interface Outcome {
  readonly records: number
  readonly longestMs: number
}

/** What `counts` writers do together, beside one: `target` is a SQLite file or the URL of a PostgreSQL database. */
export async function benchWriters(title: string, target: string, folder: string, counts: readonly number[]) {
  const rates = new Map(counts.map((count): [number, number[]] => [count, []]))
  const longest = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const count of counts) {
      const outcomes = await together(count, target, folder)
      rates.get(count)?.push(outcomes.reduce((sum, { records }) => sum + records, 0) / (ROUND_MS / 1000))
      longest.set(count, Math.max(longest.get(count) ?? 0, ...outcomes.map(({ longestMs }) => longestMs)))
    }
  }
  const one = rates.get(counts[0] as number) as number[]
  console.log(`\n${title}`)
  console.table(
    Object.fromEntries(
      counts.map((count) => {
        const own = rates.get(count) as number[]
        return [
          `${count} of ${CALLERS} callers each`,
          {
            'records/s together': Math.round(median(own)),
            'of one': Number(median(own.map((rate, round) => rate / (one[round] as number))).toFixed(2)),
            'longest append, ms': Math.round(longest.get(count) as number),
          },
        ]
      }),
    ),
  )
}

/** All begin when all are ready. */
async function together(count: number, target: string, folder: string): Promise<readonly Outcome[]> {
  const writers = Array.from({ length: count }, () => fork(import.meta.filename, [target, folder]))
  const exits = writers.map((writer) => once(writer, 'exit'))
  await Promise.all(writers.map(nextMessage))
  const outcomes = writers.map(nextMessage)
  for (const writer of writers) writer.send('begin')
  const found = (await Promise.all(outcomes)) as readonly Outcome[]
  await Promise.all(exits)
  return found
}

async function nextMessage(writer: ChildProcess): Promise<unknown> {
  return (await once(writer, 'message'))[0]
}

async function write(target: string, folder: string): Promise<void> {
  const store = await (target.startsWith('postgres:') ? openPostgresLedger(target) : openSqliteLedger(target))
  const ledger = await openLedger({
    store,
    archive: openCheckpointFolder(join(folder, 'checkpoints')),
    clock: { now: () => Date.now() },
    randomness: randomBytes,
    loadSigner: async () => madeSigner(1),
  })
  process.send?.('ready')
  await once(process, 'message')
  const end = performance.now() + ROUND_MS
  let records = 0
  let longestMs = 0
  const call = async () => {
    for (let before = performance.now(); before < end; records++) {
      await ledger.attest('t/a', MADE_ATTESTATION, { address: '203.0.113.7' })
      const after = performance.now()
      longestMs = Math.max(longestMs, after - before)
      before = after
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  process.send?.({ records, longestMs } satisfies Outcome)
  await store.close()
  process.disconnect()
}

const [target, folder] = process.argv.slice(2)
if (process.send !== undefined && target !== undefined && folder !== undefined) await write(target, folder)
