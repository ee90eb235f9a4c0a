import { createClient } from '@redis/client'
import { clientTasks, openCounts } from '@sallyport/engine'
import { startRedis } from '@sallyport/engine/testing'
import type { Measured } from '../promises.ts'
import { scratch } from './scratch.ts'

const LIMIT = { name: 'FLUSHED', max: 200, windowMs: 3_600_000 }
const CALLS = 1_000
/** Clients by whom their room is measured. */
const KEYS = 5_000

/** Redis loses all it has, once by FLUSHALL and once by a kill, while a client goes on. */
export function faultFlush(): Promise<Measured> {
  return scratch(async (_, cleanup) => {
    const redis = await startRedis(cleanup)
    const counts = await openCounts(redis.url)
    const take = async (client: string) =>
      (await counts.take(clientTasks(LIMIT, { narrow: client }, 1), '')).states[0]?.allowed === true
    const client = await createClient({ url: redis.url }).connect()
    // A kill ends this connection too.
    client.on('error', () => {})
    cleanup.teardown(() => client.destroy())
    const memory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
    await take('first')
    const before = await memory()
    for (let key = 0; key < KEYS; key++) await take(`10.${key >> 16}.${(key >> 8) & 255}.${key & 255}`)
    const bytes = Math.round(((await memory()) - before) / KEYS)
    const allowed = async (client: string, lose: () => Promise<unknown>) => {
      let count = 0
      for (let call = 0; call < CALLS; call++) {
        if (call === CALLS / 2) await lose()
        if (await take(client).catch(() => false)) count++
      }
      return count
    }
    const flushed = await allowed('flushed', () => client.flushAll())
    const failedOver = await allowed('failed over', async () => {
      await redis.kill()
      await redis.restart()
    })
    await counts.close()
    const most = 2 * LIMIT.max
    return {
      measured: `of a limit of ${LIMIT.max}: ${flushed} pass with a FLUSHALL between, ${failedOver} with an empty server; ${bytes} bytes a client`,
      broken: [
        ...(flushed > most || failedOver > most ? ['more than twice the limit'] : []),
        ...(flushed < LIMIT.max ? ['less than the limit'] : []),
      ],
    }
  })
}
