import { createServer, type RequestListener } from 'node:http'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { listener } from '@sallyport/node'
import type { Test } from 'tap'
import { type RunningHost, running } from './host.ts'
import { startProxyBefore } from './proxy.ts'

/** Lists places that see the answers of a site: within its server, and before it. */
export const SERVERS: Readonly<
  Record<string, (t: Test, sallyport: Sallyport, listen: RequestListener) => Promise<RunningHost>>
> = {
  async 'node:http'(t, sallyport, listen) {
    const at = await running(createServer(listener(sallyport, listen)))
    t.teardown(() => at.close())
    return at
  },
  'the proxy': startProxyBefore,
}

/** Lists places in which counts are kept, with their configuration and why one is skipped here. */
export const COUNTS: readonly {
  readonly place: string
  readonly skip: string | false
  readonly config: (t: Test) => Promise<Partial<ConfigInput>>
}[] = [
  { place: 'memory', skip: false, config: async () => ({ counting: { place: 'memory' } }) },
  { place: 'dataDir', skip: false, config: async () => ({ counting: { place: 'dataDir' } }) },
  {
    place: 'Redis',
    skip: NO_REDIS,
    config: async (t) => ({ redis: (await startRedis(t)).url, timeouts: { counting: '5s' } }),
  },
]
