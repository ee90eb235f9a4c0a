import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { createKey, KEY_BYTES, open, openAccountsAt } from '@sallyport/engine'
import { makeRequest } from './browser.ts'
import { computeSpread, type Figure, makeFigure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { scratch } from './scratch.ts'

/** Calls in a round, each with the key of another account. */
const CALLS = 2_048
/** This number of clients makes calls at the same time. */
const CLIENTS = [1, 32]
const ROUNDS = 7

/**
 * Cost of a keyed and metered call as accounts grow, of which each has one key. They call in turn: of few accounts the
 * keys are remembered and the calls leased, of many each call is an account's first.
 */
export async function benchLimits(run: Run): Promise<void> {
  await scratch(async (folder) => {
    const figures: Figure[] = []
    for (const count of run.pick([100, 1_000, 10_000, 100_000, 1_000_000], [100])) {
      run.step(`${count.toLocaleString('en')} accounts and keys`)
      const file = join(folder, `keys-${count}.db`)
      await fillAccounts(file, count)
      const sallyport = await open({
        store: `sqlite:${file}`,
        dataDir: join(folder, `keys-${count}`),
        data: { refresh: false, city: false },
      })
      const call = async (key: string): Promise<void> => {
        const path = '/v1/vpn/9.9.9.9'
        const answer = await sallyport.api({
          ...makeRequest({ peer: '203.0.113.7', target: path, fields: ['Authorization', `Bearer ${key}`] }),
          path,
          query: new URLSearchParams(),
          json: async () => undefined,
        })
        if (answer?.status !== 200) throw new Error(`a keyed call: ${answer?.status}`)
      }
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
      await sallyport.close()
      for (const [place, clients] of CLIENTS.entries()) {
        const what = clients === 1 ? 'one call at a time' : `${clients} at a time`
        const goal = clients > 1 && count === 1_000_000 ? { atMost: 60 } : undefined
        figures.push({ ...makeFigure('Sallyport', what, 'µs', computeSpread(taken[place] ?? []), goal), at: count })
      }
    }
    run.table({ title: 'A keyed, metered call as accounts grow', work: 'accounts', figures })
  })
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
