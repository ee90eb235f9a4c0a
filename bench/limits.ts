import { type ChildProcess, fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { createKey, KEY_BYTES, open, openAccountsAt } from '@sallyport/engine'
import { makeRequest } from './browser.ts'
import { computeSpread, type Figure, type Goal, makeFigure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { compareRounds, takeTurns } from './rounds.ts'
import { scratch } from './scratch.ts'

/** Calls in a round, each with the key of another account. */
const CALLS = 2_048
/** This number of clients makes calls at the same time. */
const CLIENTS = [1, 32]
const ROUNDS = 7
const WRITERS = 4
const WRITER_CLIENTS = 32
const SHARE: Goal = { atLeast: 0.6, of: 'ratio' }

/* As a process of its own this file is one of several that write. */

/**
 * Cost of a keyed and metered call as accounts grow, of which each has one key. They call in turn: of few accounts the
 * keys are remembered and the calls leased, of many each call is an account's first.
 */
export async function benchLimits(run: Run): Promise<void> {
  await scratch(async (folder) => {
    const figures: Figure[] = []
    const counts = run.pick([100, 1_000, 10_000, 100_000, 1_000_000], [100])
    for (const count of counts) {
      run.step(`${count.toLocaleString('en')} accounts and keys`)
      const file = join(folder, `keys-${count}.db`)
      await fillAccounts(file, count)
      const { call, close } = await openCalls(file, join(folder, `keys-${count}`))
      const calls = run.pick(CALLS, 128)
      const taken = CLIENTS.map((): number[] => [])
      let next = 0
      // Spread over all accounts; the first round is not counted.
      for (let round = -1; round < run.pick(ROUNDS, 1); round++) {
        for (const [place, clients] of CLIENTS.entries()) {
          const keys = Array.from({ length: calls }, () => makeKey((next++ * 7_919) % count).text)
          const before = process.cpuUsage()
          for (let at = 0; at < calls; at += clients) await Promise.all(keys.slice(at, at + clients).map(call))
          const { user, system } = process.cpuUsage(before)
          if (round >= 0) taken[place]?.push((user + system) / calls)
        }
      }
      await close()
      for (const [place, clients] of CLIENTS.entries()) {
        const what = clients === 1 ? 'one call at a time' : `${clients} at a time`
        const goal = clients > 1 && count === 1_000_000 ? { atMost: 60 } : undefined
        figures.push({ ...makeFigure('Sallyport', what, 'µs', computeSpread(taken[place] ?? []), goal), at: count })
      }
    }
    run.table({ title: 'A keyed, metered call as accounts grow', work: 'accounts', figures })
    const figure = await compareWriters(run, folder, counts.at(-1) as number)
    run.table({ title: 'Processes that call on one SQLite file', figures: [figure] })
  })
}

/** Opens Sallyport on a file of accounts. `call` makes one call with a key. */
async function openCalls(file: string, dataDir: string) {
  const config = { store: `sqlite:${file}`, dataDir, data: { refresh: false, city: false } }
  const sallyport = await open(config, { onNotice: () => {} })
  const path = '/v1/vpn/9.9.9.9'
  const call = async (key: string): Promise<void> => {
    const answer = await sallyport.api({
      ...makeRequest({ peer: '203.0.113.7', target: path, fields: ['Authorization', `Bearer ${key}`] }),
      path,
      query: new URLSearchParams(),
      json: async () => undefined,
    })
    if (answer?.status !== 200) throw new Error(`a keyed call: ${answer?.status}`)
  }
  return { call, close: () => sallyport.close() }
}

/** Compares the calls of several processes together with those of one, on the file of `count` accounts. */
async function compareWriters(run: Run, folder: string, count: number): Promise<Figure> {
  const writers = Array.from({ length: WRITERS }, (_, at) =>
    fork(import.meta.filename, [folder, String(count), String(at)]),
  )
  const receive = async (writer: ChildProcess) => Number((await once(writer, 'message'))[0])
  try {
    await Promise.all(writers.map(receive))
    const rounds = { rounds: run.pick(ROUNDS, 1), warmUp: run.pick(1, 0) }
    const [one = [], all = []] = await takeTurns(run, ['one process', `${WRITERS}`], rounds, async (index) => {
      const asked = index === 0 ? writers.slice(0, 1) : writers
      for (const writer of asked) writer.send(run.pick(2_000, 200))
      return (await Promise.all(asked.map(receive))).reduce((sum, rate) => sum + rate, 0)
    })
    const value = computeSpread(all)
    const ratio = compareRounds(all, one)
    return { case: `${WRITERS} processes`, what: 'calls', unit: '/s', value, ratio, peer: 'one', goal: SHARE }
  } finally {
    await Promise.all(writers.map((writer) => writer.kill('SIGKILL') && once(writer, 'exit')))
  }
}

/** A writer calls with keys of its own part of the accounts, for the milliseconds of each message, and answers with calls a second. */
async function write([folder = '', count, part]: readonly string[]): Promise<void> {
  const { call } = await openCalls(join(folder, `keys-${count}.db`), join(folder, `writer-${part}`))
  let next = 0
  process.on('message', async (milliseconds: number) => {
    const begun = performance.now()
    let calls = 0
    for (; performance.now() - begun < milliseconds; calls += WRITER_CLIENTS) {
      const keys = Array.from({ length: WRITER_CLIENTS }, () =>
        makeKey((next++ * WRITERS + Number(part)) % Number(count)),
      )
      await Promise.all(keys.map(({ text }) => call(text)))
    }
    process.send?.((calls / (performance.now() - begun)) * 1000)
  })
  process.send?.(0)
}

/** The same in every process, so that no list of keys is kept. */
function makeKey(number: number) {
  const bytes = createHash('sha512').update(`key ${number}`).digest()
  return createKey(bytes.subarray(0, KEY_BYTES))
}

/** Written in one transaction: by the store each account would wait for the disk. */
async function fillAccounts(file: string, count: number): Promise<void> {
  // Creates the tables.
  await (await openAccountsAt(`sqlite:${file}`)).close()
  const database = new DatabaseSync(file)
  const account = database.prepare('INSERT INTO account (id, name, plan, signup_date) VALUES (?, ?, ?, ?)')
  const key = database.prepare('INSERT INTO api_key (id, hash, last4, account_id, created_at) VALUES (?, ?, ?, ?, ?)')
  database.exec('BEGIN')
  for (let number = 0; number < count; number++) {
    const { record } = makeKey(number)
    account.run(record.id, '', 'business', '2026-01-01')
    key.run(record.id, record.hash, record.last4, record.id, '2026-01-01T00:00:00.000Z')
  }
  database.exec('COMMIT')
  database.close()
}

if (process.argv[1] === import.meta.filename) await write(process.argv.slice(2))
