import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Prefix, parseHostOrPrefix } from '@sallyport/core'
import { type ConfigInput, open, openBans, type Sallyport } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { inspection } from '@sallyport/express'
import type { AdminPages } from '@sallyport/proxy'
import express from 'express'
import t, { type Test } from 'tap'
import { HOSTS, type Host, type RunningHost } from './hosts.ts'
import { startProxy } from './proxy.ts'
import { exchange, parseResponse, requestBytes } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A client that repeats a wrong is refused for a while: by what was decided, and by what the origin answered. */
const STRIKES = { count: 3, window: '10m', on: ['blocked', 'status:401'], for: '1h' }

const POLICY = {
  preset: 'observe',
  rules: [{ id: 'secret', match: { path: ['/.env'] }, action: 'block' }],
  strikes: STRIKES,
} satisfies ConfigInput['policy']

async function ask(at: Pick<RunningHost, 'port'>, address: string, target: string, more: readonly string[] = []) {
  const fields = ['X-Forwarded-For', address, 'Connection', 'close', ...more]
  return parseResponse(await exchange(at.port, requestBytes('GET', target, fields)))
}

async function status(...asked: Parameters<typeof ask>): Promise<number> {
  return (await ask(...asked)).status
}

/** A strike is counted when its answer has ended, which is a moment after it was read. */
async function banned(sallyport: Sallyport, bans: number): Promise<void> {
  while ((await sallyport.bans.list()).length < bans) await delay(5)
}

/** After a lift a client is banned by as many strikes as before its first ban, and none of those counts. */
async function bannedByThree(t: Test, sallyport: Sallyport, strike: () => Promise<void>): Promise<void> {
  for (let call = 0; call < 3; call++) {
    t.same(await sallyport.bans.list(), [], `after ${call} strikes`)
    await strike()
  }
  await banned(sallyport, 1)
  const [ban] = await sallyport.bans.list()
  t.same(ban?.offences, { blocked: 3 })
}

for (const host of HOSTS) {
  t.test(`${host.name}: three blocks, and all else of the client is refused`, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY })
    const at = await host.start(sallyport, '')
    t.teardown(() => at.close())
    for (let call = 0; call < 2; call++) t.equal(await status(at, '8.1.0.1', '/.env'), 403)
    t.equal(await status(at, '8.1.0.1', '/'), 200)
    await status(at, '8.1.0.1', '/.env')
    await banned(sallyport, 1)
    t.equal(await status(at, '8.1.0.1', '/'), 403)
    const page = await ask(at, '8.1.0.1', '/', ['Accept', '*/*', 'User-Agent', 'Links (2.29; Linux 6.1 x86_64; text)'])
    t.match(page, { status: 403, body: '<title>Access denied</title>' })
    t.equal(await status(at, '8.1.0.2', '/'), 200)
    const [ban] = await sallyport.bans.list()
    t.match(ban, { key: 'client 8.1.0.1', on: 'blocked', count: 3 })
    t.equal((ban?.until ?? 0) - (ban?.since ?? 0), 3_600_000)
    t.ok(await sallyport.bans.lift(ban?.id ?? ''))
    t.equal(await status(at, '8.1.0.1', '/'), 200)
    await bannedByThree(t, sallyport, async () => void (await status(at, '8.1.0.1', '/.env')))
  })
}

/** The proxy and Express in front of a site that refuses every login. */
async function refusingSites(
  t: Test,
  sallyport: Sallyport,
): Promise<Readonly<Record<string, { readonly port: number }>>> {
  const app = express()
  app.use(inspection(sallyport))
  app.use((_, res) => res.status(401).end())
  const site = createServer(app).listen(0, '127.0.0.1')
  const plain = createServer((_, res) => res.writeHead(401).end()).listen(0, '127.0.0.1')
  await Promise.all([site, plain].map((server) => server.listening || once(server, 'listening')))
  t.teardown(() => [site, plain].map((server) => server.close()))
  const upstream = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
  const proxy = await startProxy(t, sallyport, { upstream })
  return { Express: { port: (site.address() as AddressInfo).port }, 'the proxy': proxy }
}

t.test('statuses of the origin are strikes, those of our own are not', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  let address = 0
  for (const [name, at] of Object.entries(await refusingSites(t, sallyport))) {
    const client = `8.2.0.${++address}`
    for (let call = 0; call < 3; call++) t.equal(await status(at, client, '/login'), 401, name)
    await banned(sallyport, address)
    t.equal(await status(at, client, '/login'), 403, name)
  }
  const [host] = HOSTS as readonly [Host]
  const at = await host.start(sallyport, '')
  t.teardown(() => at.close())
  for (let call = 0; call < 5; call++) {
    const answer = await exchange(
      at.port,
      requestBytes('POST', '/v1/ip/lookup', ['X-Forwarded-For', '8.2.1.1', 'Connection', 'close'], '{}'),
    )
    t.equal(parseResponse(answer).status, 401)
  }
  t.equal(await status(at, '8.2.1.1', '/'), 200)
})

t.test('allowlisted and reserved addresses are never banned', async (t) => {
  const sallyport = await openWithoutData(t, { policy: { ...POLICY, allowlist: ['8.3.0.0/24'] } })
  const { 'the proxy': at } = await refusingSites(t, sallyport)
  for (const address of ['8.3.0.1', '192.168.1.1', '100.64.0.1']) {
    for (let call = 0; call < 6; call++) t.equal(await status(at as { port: number }, address, '/login'), 401, address)
  }
  t.same(await sallyport.bans.list(), [])
  const translated = '64:ff9b::b9dc:650a'
  for (let call = 0; call < 3; call++) t.equal(await status(at as { port: number }, translated, '/login'), 401)
  await banned(sallyport, 1)
  t.equal(await status(at as { port: number }, translated, '/login'), 403)
  t.equal(await status(at as { port: number }, '64:ff9b::b9dc:650b', '/login'), 401, 'and nobody else of IPv4')
})

t.test('a shared address is banned by browser, unless the whole is meant', async (t) => {
  const visitor = { networkClass: 'mobile' } as const
  for (const [key, other] of [
    ['client', 200],
    ['address', 403],
  ] as const) {
    const sallyport = await openWithoutData(t, { policy: { ...POLICY, strikes: { ...STRIKES, key } } })
    await sallyport.overrides.set(parseHostOrPrefix('8.8.8.8') as Prefix, visitor)
    const [host] = HOSTS as readonly [Host]
    const at = await host.start(sallyport, '')
    for (let call = 0; call < 3; call++) await status(at, '8.8.8.8', '/.env', ['User-Agent', 'one'])
    await banned(sallyport, 1)
    t.equal(await status(at, '8.8.8.8', '/', ['User-Agent', 'one']), 403)
    t.equal(await status(at, '8.8.8.8', '/', ['User-Agent', 'another']), other, key)
    await at.close()
    await sallyport.close()
  }
})

const SHARED: Readonly<Record<string, (t: Test) => Promise<Partial<ConfigInput>>>> = {
  'one dataDir': async () => ({ counting: { place: 'dataDir' } }),
  'one Redis': async (t) => ({ redis: (await startRedis(t)).url, timeouts: { counting: '5s' } }),
}

for (const [place, config] of Object.entries(SHARED)) {
  t.test(`two nodes of ${place} ban together`, { skip: /Redis/.test(place) && NO_REDIS }, async (t) => {
    const shared = await config(t)
    const first = await openWithoutData(t, { policy: POLICY, ...shared })
    const options = {
      ...first.config,
      dataDir: place === 'one dataDir' ? first.config.dataDir : join(t.testdir(), 'other'),
    }
    const second = await open(options as ConfigInput)
    t.teardown(() => second.close())
    const [host] = HOSTS as readonly [Host]
    const nodes = [await host.start(first, ''), await host.start(second, '')] as const
    for (const node of nodes) t.teardown(() => node.close())
    for (const node of [...nodes, nodes[0]]) await status(node, '8.5.0.1', '/.env')
    for (const node of nodes) while ((await status(node, '8.5.0.1', '/')) !== 403) await delay(10)
    const opening = await openBans(options as ConfigInput)
    const [ban] = await opening.bans.list()
    await opening.lift(ban?.id ?? '')
    await t.rejects(opening.lift('gone'), { code: 'unknown_ban' })
    await opening.close()
    for (const node of nodes) while ((await status(node, '8.5.0.1', '/')) !== 200) await delay(10)
    let calls = 0
    await bannedByThree(t, first, async () => void (await status(nodes[calls++ % 2 ? 1 : 0], '8.5.0.1', '/.env')))
  })
}

t.test('the admin listener lists and lifts', async (t) => {
  const file = join(t.testdirName, 'audit.log')
  const sallyport = await openWithoutData(t, { policy: POLICY, log: { requests: 'off', file } })
  const roles = new Map([
    ['Bearer reader', 'read'],
    ['Bearer admin', 'admin'],
  ])
  const adminPages: AdminPages = {
    permits: ({ headers }, wanted) => ['admin', wanted].includes(roles.get(headers.authorization ?? '') ?? ''),
  }
  const proxy = await startProxy(t, sallyport, { adminPages })
  const ask = (url: string, method = 'GET', token = 'admin') =>
    fetch(url, { method, headers: { authorization: `Bearer ${token}` } })
  for (let call = 0; call < 3; call++) await status(proxy, '8.6.0.1', '/.env')
  await banned(sallyport, 1)
  const listed = (await (await ask(`${proxy.adminUrl}/bans`, 'GET', 'reader')).json()) as {
    readonly bans: readonly { readonly id: string }[]
  }
  t.match(listed, { bans: [{ key: 'client 8.6.0.1', count: 3 }] })
  const one = `${proxy.adminUrl}/bans/${listed.bans[0]?.id}`
  const answers = []
  t.equal((await ask(one, 'DELETE', 'reader')).status, 401)
  t.equal((await ask(`${proxy.adminUrl}/bans`, 'GET', 'nobody')).status, 401)
  for (const method of ['GET', 'POST', 'DELETE', 'DELETE']) answers.push((await ask(one, method)).status)
  t.same(answers, [405, 405, 200, 404])
  t.equal((await ask(`${proxy.adminUrl}/bans`, 'DELETE')).status, 405)
  await sallyport.close()
  const written = readFileSync(file, 'utf8').trim().split('\n')
  t.match(
    written.map((line) => JSON.parse(line)),
    [
      { audit: 'ban', who: 'service', details: { address: '8.6.0.1', seconds: 3_600, rule: 'strikes' } },
      { audit: 'bans lift', who: 'admin listener' },
    ],
  )
})
