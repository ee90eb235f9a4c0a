import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { open } from '@sallyport/engine'
import { browserFields, makeRequest } from '../browser.ts'
import { computeSpread, type Figure, makeFigure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { scratch } from '../scratch.ts'
import { visitorAddresses } from '../visitors.ts'

/** Each round has users of its own: a login that is challenged writes a line of the log, as few do. */
const USERS = 500
const WARM = 20
const ROUNDS = 21

/** Measures the processor time of an event of a user who is remembered, by the limits of `account-guard`, and of the store alone. */
export async function benchAssess(run: Run): Promise<void> {
  await scratch(async (dataDir) => {
    const policy = { preset: 'observe' as const, limits: ['account-guard' as const] }
    const sallyport = await open({ dataDir, data: { refresh: false }, policy })
    const visits = visitorAddresses(USERS * run.pick(WARM + ROUNDS, 2)).map((peer, at) => {
      const fields = [...browserFields('shop.example')]
      const request = makeRequest({ peer, method: 'POST', target: '/login', scheme: 'https', fields })
      return { request: { sallyport: sallyport.decide(request), rawHeaders: fields }, user: `user-${at}` }
    })
    const assess = async (round: number, outcome?: 'failure') => {
      for (const { request, user } of visits.slice(round * USERS, (round + 1) * USERS)) {
        await sallyport.accounts.assess(request, { event: 'login', user, identifier: `${user}@shop.example`, outcome })
      }
    }
    for (const { request, user } of visits) {
      const identifier = `${user}@shop.example`
      await sallyport.accounts.assess(request, { event: 'login', user, identifier, outcome: 'success' })
    }
    const database = new DatabaseSync(join(dataDir, 'logins.db'))
    const keys = database.prepare('SELECT key FROM login LIMIT ?').all(USERS)
    const read = database.prepare('SELECT seen FROM login WHERE key = ? AND until > ?')
    const cases: Readonly<Record<string, (round: number) => unknown>> = {
      'before the password is checked': (round) => assess(round),
      'after a wrong password': (round) => assess(round, 'failure'),
      'the read of the store alone': () => keys.map((row) => read.get((row as { key: string }).key, Date.now())),
    }
    const figures: Figure[] = []
    for (const [name, work] of Object.entries(cases)) {
      run.step(name)
      const warm = run.pick(WARM, 1)
      for (let round = 0; round < warm; round++) await work(round)
      const taken: number[] = []
      for (let round = warm; round < warm + run.pick(ROUNDS, 1); round++) {
        const before = process.cpuUsage()
        await work(round)
        const { user, system } = process.cpuUsage(before)
        taken.push((user + system) / USERS)
      }
      const goal = figures.length < 2 ? { atMost: 60 } : undefined
      figures.push(makeFigure(name, 'processor time', 'µs', computeSpread(taken), goal))
    }
    database.close()
    await sallyport.close()
    run.table({ title: 'An event of an account', figures })
  })
}
