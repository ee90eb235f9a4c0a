import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConfigInput, open } from '@sallyport/open'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis, type TestServer } from '@sallyport/stores/testing'
import { scratch } from './scratch.ts'

const NO_DATA = Object.fromEntries(
  ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6'].map((id) => [
    id,
    { enabled: false },
  ]),
)

/** Requests for as long as this, one after another in each of some lanes. */
const OUTAGE_MS = 5_000
const LANES = 8

const OUTAGES: Readonly<Record<string, (server: TestServer) => Promise<void>>> = {
  stop: (server) => server.stop(),
  'kill -9': (server) => server.kill(),
  SIGSTOP: async (server) => server.freeze(),
}

/** Each store goes for some seconds, in three ways, under load: how long the slowest answer and the way back take. */
export async function faultOutages(): Promise<readonly string[]> {
  return scratch(async (folder, cleanup) => {
    const rows: Record<string, object> = {}
    const broken: string[] = []
    const run = async (
      name: string,
      server: TestServer,
      config: ConfigInput,
      path: string,
      most: number,
      wanted: string,
    ) => {
      for (const [outage, begin] of Object.entries(OUTAGES)) {
        const dataDir = join(folder, `${name}-${outage}`)
        const sallyport = await open(
          { dataDir, data: { refresh: false, sources: NO_DATA }, ...config },
          { onFault: () => {} },
        )
        const { key } = await sallyport.keyring.issue({ plan: 'enterprise' })
        let client = 0
        const ask = async () => {
          const start = performance.now()
          const response = await sallyport.api({
            ...{
              peer: `11.0.${(client >> 6) & 255}.${client++ & 63}`,
              method: 'GET',
              target: path,
              path,
              scheme: 'http',
            },
            ...{ httpVersion: '1.1', fields: ['Authorization', `Bearer ${key}`], query: new URLSearchParams() },
            json: async () => undefined,
          })
          const limit = Number(response?.headers['X-RateLimit-Limit'] ?? 0)
          return { status: response?.status ?? 0, limit, ms: performance.now() - start }
        }
        const whole = await ask()
        await begin(server)
        const answers: Awaited<ReturnType<typeof ask>>[] = []
        const until = performance.now() + OUTAGE_MS
        const lane = async () => {
          while (performance.now() < until) {
            answers.push(await ask())
            await delay(5)
          }
        }
        await Promise.all(Array.from({ length: LANES }, lane))
        const returned = performance.now()
        if (outage === 'SIGSTOP') server.thaw()
        else await server.restart()
        const started = performance.now()
        let last = await ask()
        while ((last.status !== whole.status || last.limit !== whole.limit) && performance.now() < returned + 30_000) {
          await delay(20)
          last = await ask()
        }
        const slowest = Math.max(...answers.map(({ ms }) => ms))
        const statuses = [...new Set(answers.map(({ status, limit }) => `${status} (limit ${limit})`))]
        rows[`${name}, ${outage}`] = {
          answers: statuses.join(', '),
          'slowest, ms': Math.round(slowest),
          'back after, ms': Math.round(performance.now() - started),
        }
        const others = statuses.filter((status) => status !== wanted)
        if (others.length > 0) broken.push(`${name}, ${outage}: answered ${others.join(', ')}, not ${wanted}`)
        if (slowest > most) broken.push(`${name}, ${outage}: an answer took ${Math.round(slowest)} ms, not ${most}`)
        if (last.status !== whole.status || last.limit !== whole.limit) broken.push(`${name}, ${outage}: not back`)
        await sallyport.close()
      }
    }
    if (!NO_POSTGRES) {
      const server = await startPostgres(cleanup)
      await run('PostgreSQL', server, { store: await server.database() }, '/v1/user/limits', 1_000, '503 (limit 0)')
    }
    if (!NO_REDIS) {
      const server = await startRedis(cleanup)
      await run('Redis', server, { redis: server.url }, '/v1/myip', 300, '200 (limit 30)')
    }
    console.log(`\nan outage of ${OUTAGE_MS / 1000} s, ${LANES} callers`)
    console.table(rows)
    return broken
  })
}
