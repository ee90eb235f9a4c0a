import { createClient } from '@redis/client'
import t from 'tap'
import { NO_REDIS, startRedis } from '#stores/testing'
import { openGuarded, SECRET, stranger } from './guarded.ts'

/* Attackers write names that no account has: the counts of such names have a bound. */

for (const policy of ['volatile-ttl', 'noeviction']) {
  t.test(`a Redis with 4 MB, ${policy}`, { skip: NO_REDIS }, async (t) => {
    const { url } = await startRedis(t)
    const client = createClient({ url })
    await client.connect()
    t.teardown(() => client.close())
    await client.configSet({ maxmemory: '4mb', 'maxmemory-policy': policy })
    const shared = { redis: url, challenge: { secret: SECRET }, timeouts: { counting: '9s' } }
    const { assess } = await openGuarded(t, shared, { onFault() {} })
    const guess = (at: number, identifier: string) => assess({ identifier, outcome: 'unknown_user' }, stranger(at))
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
