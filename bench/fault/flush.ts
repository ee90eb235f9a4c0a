import { createClient } from '@redis/client'
import { openLimits } from '@sallyport/stores'
import { startRedis } from '@sallyport/stores/testing'
import type { Measured } from '../promises.ts'
import { scratch } from './scratch.ts'

const LIMIT = { name: 'FLUSHED', max: 200, windowSeconds: 3600 }
const CALLS = 1_000
/** Clients by whom their room is measured. */
const KEYS = 5_000

/** Redis loses all it has, once by FLUSHALL and once by a kill, while a client goes on. */
export function faultFlush(): Promise<Measured> {
  return scratch(async (_, cleanup) => {
    const redis = await startRedis(cleanup)
    const limits = await openLimits(redis.url)
    const client = await createClient({ url: redis.url }).connect()
    // A kill ends this connection too.
    client.on('error', () => {})
    cleanup.teardown(() => client.destroy())
    const memory = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
    await limits.take(LIMIT, 'first')
    const before = await memory()
    for (let key = 0; key < KEYS; key++) await limits.take(LIMIT, `4:${key.toString(16).padStart(8, '0')}`)
    const bytes = Math.round(((await memory()) - before) / KEYS)
    const allowed = async (client: string, lose: () => Promise<unknown>) => {
      let count = 0
      for (let call = 0; call < CALLS; call++) {
        if (call === CALLS / 2) await lose()
        const state = await limits.take(LIMIT, client).catch(() => undefined)
        if (state?.allowed === true) count++
      }
      return count
    }
    const flushed = await allowed('flushed', () => client.flushAll())
    const failedOver = await allowed('failed over', async () => {
      await redis.kill()
      await redis.restart()
    })
    await limits.close()
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
