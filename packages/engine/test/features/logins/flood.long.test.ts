import { createClient } from '@redis/client'
import t from 'tap'
import { createMemoryCounts } from '#stores'
import { NO_REDIS, startRedis } from '#stores/testing'
import { open } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { requestFrom } from '../../open/requests.ts'

/* Attackers write names that no account has: the counts of such names have a bound. */

const NAMES = 10_000_000
const WEEK = 7 * 86_400_000

t.test('ten million identifiers in the memory of a process', async (t) => {
  const counts = createMemoryCounts()
  const limit = { kind: 'sliding', max: 60, windowMs: WEEK, refill: 60 } as const
  const take = (key: string) => counts.take([{ key, cost: 1, limit, max: 60, binding: false }], 'none')
  for (let at = 0; at < 60; at++) await take('ada')
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  for (let at = 0; at < NAMES; at++) void take(`account-guess-week identifier ${at}`)
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  t.ok(grown < 256, `${Math.round(grown)} MB more`)
  t.match(await take('ada'), { states: [{ allowed: false }] }, 'who was guessed before is still guarded')
})

for (const policy of ['volatile-ttl', 'noeviction']) {
  t.test(`a Redis with 4 MB, ${policy}`, { skip: NO_REDIS }, async (t) => {
    const { url } = await startRedis(t)
    const client = createClient({ url })
    await client.connect()
    t.teardown(() => client.close())
    await client.configSet({ maxmemory: '4mb', 'maxmemory-policy': policy })
    const sallyport = await open(
      {
        ...madeConfig(t.testdir()),
        policy: { preset: 'observe', limits: ['account-guard'] },
        redis: url,
        challenge: { secret: 'a secret of more than thirty-two characters' },
        timeouts: { counting: '9s' },
      },
      { onNotice() {}, onFault() {} },
    )
    t.teardown(() => sallyport.close())
    const guess = (at: number, identifier: string) => {
      const peer = `${11 + (at % 80)}.${(at >> 8) & 255}.${at & 255}.9`
      const decision = sallyport.decide({ ...requestFrom(peer, []), method: 'POST', target: '/login' })
      return sallyport.accounts.assess({ sallyport: decision }, { event: 'login', identifier, outcome: 'unknown_user' })
    }
    for (let at = 0; at < 6_000; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, of) => guess(at + of, `nobody-${at + of}@shop.example`)))
    }
    const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
    t.ok(used < 5 * 2 ** 20, `${used} bytes`)
    const actions: string[] = []
    for (let at = 0; at < 12; at++) actions.push((await guess(at, 'ada@shop.example')).action)
    // A process that counts alone has a share of each limit.
    t.equal(actions[0], 'allow')
    t.same(actions.slice(10), ['challenge', 'challenge'])
  })
}
