import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { openCheckpointFolder, openPostgresLedger, openSqliteLedger } from '@sallyport/engine'
import { openLedger } from '@sallyport/ledger'
import { MADE_ATTESTATION, madeSigner } from '@sallyport/ledger/testing'
import { type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { ratiosOf, takeTurns } from './rounds.ts'

/* Several processes append to one ledger. As a process of its own this file is one of the writers. */

const CALLERS = 64
const ROUND_MS = 2000
const ROUNDS = 3

interface Outcome {
  readonly records: number
  readonly seconds: number
}

/** Several writers together, beside one: `target` is a SQLite file or the URL of a PostgreSQL database, `store` its name. */
export async function benchWriters(
  run: Run,
  { store, target, folder, writers }: { store: string; target: string; folder: string; writers: number },
): Promise<readonly Figure[]> {
  const counts = [1, writers]
  const names = [`1 writer on ${store}`, `${writers} writers on ${store}`]
  const rounds = { rounds: run.pick(ROUNDS, 1), warmUp: 0 }
  const taken = await takeTurns(run, names, rounds, (index) => together(counts[index] as number, target, folder, run))
  const ratesOf = (all: readonly (readonly Outcome[])[]) =>
    all.map((outcomes) => outcomes.reduce((sum, { records, seconds }) => sum + records / seconds, 0))
  const [one = []] = taken
  return names.flatMap((name, index): readonly Figure[] => {
    const own = taken[index] ?? []
    const beside =
      index === 0
        ? {}
        : {
            ratio: ratiosOf(ratesOf(own), ratesOf(one)),
            peer: '1 writer',
            goal: { atLeast: 0.6, of: 'ratio' } as const,
          }
    return [{ case: name, what: 'together', unit: 'records/s', value: spreadOf(ratesOf(own)), ...beside }]
  })
}

/** All begin when all are ready. */
async function together(count: number, target: string, folder: string, run: Run): Promise<readonly Outcome[]> {
  const writers = Array.from({ length: count }, () =>
    fork(import.meta.filename, [target, folder, String(run.pick(ROUND_MS, 200))]),
  )
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

async function write(target: string, folder: string, milliseconds: number): Promise<void> {
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
  const end = performance.now() + milliseconds
  let records = 0
  const call = async () => {
    for (; performance.now() < end; records++) {
      await ledger.attest('t/a', MADE_ATTESTATION, { address: '203.0.113.7' })
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  process.send?.({ records, seconds: milliseconds / 1000 } satisfies Outcome)
  await store.close()
  process.disconnect()
}

const [target, folder, milliseconds] = process.argv.slice(2)
if (process.send !== undefined && target !== undefined && folder !== undefined) {
  await write(target, folder, Number(milliseconds))
}
