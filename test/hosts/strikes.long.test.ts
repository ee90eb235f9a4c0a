import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Prefix, parseHostOrPrefix } from '@sallyport/core'
import { type ConfigInput, open, openBans, type Sallyport } from '@sallyport/engine'
import { listening, NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { inspection } from '@sallyport/express'
import express from 'express'
import t, { type Test } from 'tap'
import { awaitBans, everyGate, startHost } from './every-host.ts'
import { HOSTS, type Host } from './hosts.ts'
import { startProxy, startProxyBefore } from './proxy.ts'
import { askAs, readStatus } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A client that repeats a wrong is refused for a while: by what was decided, and by what the origin answered. */
const STRIKES = { count: 3, window: '10m', on: ['blocked', 'status:401'], for: '1h' }

const POLICY = {
  preset: 'observe',
  rules: [{ id: 'secret', match: { path: ['/.env'] }, action: 'block' }],
  strikes: STRIKES,
} satisfies ConfigInput['policy']

/** After a lift a client is banned by as many strikes as before its first ban, and none of those counts. */
async function bannedByThree(t: Test, sallyport: Sallyport, strike: () => Promise<void>): Promise<void> {
  for (let call = 0; call < 3; call++) {
    t.same(await sallyport.bans.list(), [], `after ${call} strikes`)
    await strike()
  }
  await awaitBans(sallyport, 1)
  const [ban] = await sallyport.bans.list()
  t.same(ban?.offences, { blocked: 3 })
}

everyGate('three blocks, and all else of the client is refused', { policy: POLICY }, async (t, at, sallyport) => {
  for (let call = 0; call < 2; call++) t.equal(await readStatus(at, '8.1.0.1', '/.env'), 403)
  t.equal(await readStatus(at, '8.1.0.1', '/'), 200)
  await readStatus(at, '8.1.0.1', '/.env')
  await awaitBans(sallyport, 1)
  t.equal(await readStatus(at, '8.1.0.1', '/'), 403)
  const reader = ['Accept', '*/*', 'User-Agent', 'Links (2.29; Linux 6.1 x86_64; text)']
  const page = await askAs(at, '8.1.0.1', '/', reader)
  t.match(page, { status: 403, body: '<title>Access denied</title>' })
  t.equal(await readStatus(at, '8.1.0.2', '/'), 200)
  const [ban] = await sallyport.bans.list()
  t.match(ban, { key: 'client 8.1.0.1', on: 'blocked', count: 3 })
  t.equal((ban?.until ?? 0) - (ban?.since ?? 0), 3_600_000)
  t.ok(await sallyport.bans.lift(ban?.id ?? ''))
  t.equal(await readStatus(at, '8.1.0.1', '/'), 200)
  await bannedByThree(t, sallyport, async () => void (await readStatus(at, '8.1.0.1', '/.env')))
})

/** The proxy in front of a site that refuses every login. */
const startRefusing = (t: Test, sallyport: Sallyport) =>
  startProxyBefore(t, sallyport, (_, res) => res.writeHead(401).end())

t.test('statuses of the origin are strikes, those of our own are not', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const app = express()
  app.use(inspection(sallyport), (_, res) => void res.status(401).end())
  const sites = [{ port: await listening(t, createServer(app)) }, await startRefusing(t, sallyport)]
  for (const [address, at] of sites.entries()) {
    for (let call = 0; call < 3; call++) t.equal(await readStatus(at, `8.2.0.${address}`, '/login'), 401)
    await awaitBans(sallyport, address + 1)
    t.equal(await readStatus(at, `8.2.0.${address}`, '/login'), 403)
  }
  const at = await startHost(t, HOSTS[0] as Host, sallyport)
  for (let call = 0; call < 5; call++) {
    t.equal(await readStatus(at, '8.2.1.1', '/v1/ip/lookup', [], { method: 'POST', body: '{}' }), 401)
  }
  t.equal(await readStatus(at, '8.2.1.1', '/'), 200)
})

t.test('allowlisted and reserved addresses are never banned', async (t) => {
  const sallyport = await openWithoutData(t, { policy: { ...POLICY, allowlist: ['8.3.0.0/24'] } })
  const at = await startRefusing(t, sallyport)
  for (const address of ['8.3.0.1', '192.168.1.1', '100.64.0.1']) {
    for (let call = 0; call < 6; call++) t.equal(await readStatus(at, address, '/login'), 401, address)
  }
  t.same(await sallyport.bans.list(), [])
  const translated = '64:ff9b::b9dc:650a'
  for (let call = 0; call < 3; call++) t.equal(await readStatus(at, translated, '/login'), 401)
  await awaitBans(sallyport, 1)
  t.equal(await readStatus(at, translated, '/login'), 403)
  t.equal(await readStatus(at, '64:ff9b::b9dc:650b', '/login'), 401, 'and nobody else of IPv4')
})

t.test('a shared address is banned by browser, unless the whole is meant', async (t) => {
  const visitor = { networkClass: 'mobile' } as const
  for (const [key, other] of [
    ['client', 200],
    ['address', 403],
  ] as const) {
    const sallyport = await openWithoutData(t, { policy: { ...POLICY, strikes: { ...STRIKES, key } } })
    await sallyport.overrides.set(parseHostOrPrefix('8.8.8.8') as Prefix, visitor)
    const at = await startHost(t, HOSTS[0] as Host, sallyport)
    for (let call = 0; call < 3; call++) await readStatus(at, '8.8.8.8', '/.env', ['User-Agent', 'one'])
    await awaitBans(sallyport, 1)
    t.equal(await readStatus(at, '8.8.8.8', '/', ['User-Agent', 'one']), 403)
    t.equal(await readStatus(at, '8.8.8.8', '/', ['User-Agent', 'another']), other, key)
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
    const host = HOSTS[0] as Host
    const nodes = [await startHost(t, host, first), await startHost(t, host, second)] as const
    for (const node of [...nodes, nodes[0]]) await readStatus(node, '8.5.0.1', '/.env')
    for (const node of nodes) while ((await readStatus(node, '8.5.0.1', '/')) !== 403) await delay(10)
    const opening = await openBans(options as ConfigInput)
    const [ban] = await opening.bans.list()
    await opening.lift(ban?.id ?? '')
    await t.rejects(opening.lift('gone'), { code: 'unknown_ban' })
    await opening.close()
    for (const node of nodes) while ((await readStatus(node, '8.5.0.1', '/')) !== 200) await delay(10)
    let calls = 0
    await bannedByThree(t, first, async () => void (await readStatus(nodes[calls++ % 2 ? 1 : 0], '8.5.0.1', '/.env')))
  })
}

t.test('the admin listener lists and lifts', async (t) => {
  const file = join(t.testdir(), 'audit.log')
  const sallyport = await openWithoutData(t, { policy: POLICY, log: { requests: 'off', file } })
  const proxy = await startProxy(t, sallyport, { adminPages: { permits: () => true } })
  for (let call = 0; call < 3; call++) await readStatus(proxy, '8.6.0.1', '/.env')
  await awaitBans(sallyport, 1)
  const all = `${proxy.adminUrl}/bans`
  const { bans } = (await (await fetch(all)).json()) as { readonly bans: readonly { readonly id: string }[] }
  t.match(bans, [{ key: 'client 8.6.0.1', count: 3 }])
  const answers = []
  for (const method of ['GET', 'POST', 'DELETE', 'DELETE']) {
    answers.push((await fetch(`${all}/${bans[0]?.id}`, { method })).status)
  }
  t.same(answers, [405, 405, 200, 404])
  t.equal((await fetch(all, { method: 'DELETE' })).status, 405)
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
