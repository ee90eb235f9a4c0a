import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '#stores/testing'
import { open, type Sallyport } from '../../src/open/index.ts'
import type { OpenHooks } from '../../src/service/hooks.ts'
import { madeConfig } from './made-sources.ts'
import { openService } from './opened.ts'
import { apiRequest, callApi, requestFrom } from './requests.ts'

type Server = Awaited<ReturnType<typeof startRedis>> | Awaited<ReturnType<typeof startPostgres>>

const OUTAGES: Readonly<Record<string, (server: Server) => Promise<void>>> = {
  'stopped in good order': (server) => server.stop(),
  'killed, connections refused': (server) => server.kill(),
  'SIGSTOP, nothing is answered': async (server) => server.freeze(),
}

async function back(server: Server, name: string): Promise<void> {
  if (name.startsWith('SIGSTOP')) server.thaw()
  else await server.restart()
}

const readStatus = async (sallyport: Sallyport, path: string, key?: string) =>
  (await callApi(sallyport, path, key)).status

/** Asks until the answer is as wanted: a store is back without help. */
async function becomes(wanted: number, ask: () => Promise<number>): Promise<void> {
  while ((await ask()) !== wanted) await delay(50)
}

t.test('PostgreSQL goes and comes back', { skip: NO_POSTGRES }, async (t) => {
  const server = await startPostgres(t)
  for (const [name, begin] of Object.entries(OUTAGES)) {
    t.test(name, async (t) => {
      const faults: unknown[] = []
      const hooks: OpenHooks = { onFault: (error) => faults.push(error) }
      const config = { ...madeConfig(t.testdir()), store: await server.database() }
      const [sallyport, other] = [await openService(t, config, hooks), await openService(t, config, hooks)]
      const { key } = await sallyport.keyring.issue({ plan: 'starter' })
      t.equal(await readStatus(sallyport, '/v1/vpn/8.3.0.1', key), 200)

      await begin(server)
      const answers = await Promise.all([key, key, key].map((given) => callApi(sallyport, '/v1/vpn/8.3.0.1', given)))
      for (const answer of answers) t.match(answer, { status: 503, headers: { 'Retry-After': /^\d+$/ } })
      t.ok(faults.length > 0, 'reported to the host')
      t.equal(await readStatus(other, '/v1/vpn/8.3.0.1', key), 503, 'a key it has not seen is not guessed to be bad')
      t.equal(await readStatus(sallyport, '/v1/vpn/8.3.0.1', `${key}x`), 401, 'what cannot be a key needs no store')
      t.equal(await readStatus(sallyport, '/v1/demo/8.3.0.1'), 200, 'keyless routes are not touched')
      t.equal(sallyport.decide(requestFrom('8.4.0.1')).action, 'flag', 'nor is the inspection')

      await back(server, name)
      await becomes(200, () => readStatus(sallyport, '/v1/vpn/8.3.0.1', key))
    })
  }

  t.test('a node starts while its PostgreSQL is away', async (t) => {
    const store = await server.database()
    await server.stop()
    const faults: unknown[] = []
    const config = { ...madeConfig(t.testdir()), store }
    const sallyport = await openService(t, config, { onFault: (error) => faults.push(error) })
    t.match(faults, [{ code: 'ECONNREFUSED' }])
    t.equal(await readStatus(sallyport, '/v1/myip'), 200)
    await server.restart()
    const issue = () => sallyport.keyring.issue({}).catch(() => undefined)
    await becomes(200, async () => readStatus(sallyport, '/v1/user/limits', (await issue())?.key))
  })

  t.test('a PostgreSQL that refuses is a wrong configuration, and no password is repeated', async (t) => {
    const store = (await server.database()).replace('sallyport@', 'sallyport:secret@').replace(/\w+$/, 'nothing')
    await t.rejects(open({ ...madeConfig(t.testdir()), store }), {
      code: 'invalid_config',
      message: 'configuration: store: PostgreSQL cannot be used: database "nothing" does not exist',
    })
  })
})

t.test('Redis goes and comes back', { skip: NO_REDIS }, async (t) => {
  const server = await startRedis(t)
  for (const [name, begin] of Object.entries(OUTAGES)) {
    t.test(name, async (t) => {
      const faults: unknown[] = []
      const hooks: OpenHooks = { onFault: (error) => faults.push(error) }
      const folder = t.testdir({ a: {}, b: {} })
      const shared = { redis: server.url, timeouts: { counting: '500ms' } }
      const node = (name: string) => openService(t, { ...madeConfig(join(folder, name)), ...shared }, hooks)
      const nodes = [await node('a'), await node('b')] as const
      const from = `8.1.0.${Object.keys(OUTAGES).indexOf(name) + 1}`
      const readLimit = async (node: Sallyport) =>
        Number((await node.api({ ...apiRequest('/v1/demo/8.3.0.1'), peer: from }))?.headers['X-RateLimit-Remaining'])
      t.same([await readLimit(nodes[0]), await readLimit(nodes[1])], [99, 98], 'one count for both')

      await begin(server)
      t.same([await readLimit(nodes[0]), await readLimit(nodes[1])], [49, 49], 'half of it, each alone')
      // One late answer is no outage: a store is away once it answers no request for a second.
      const told = async () => {
        await Promise.all(nodes.map(readLimit))
        return faults.length
      }
      await becomes(2, told)

      await back(server, name)
      await becomes(1, async () => Number((await readLimit(nodes[0])) > 49))
    })
  }
})
