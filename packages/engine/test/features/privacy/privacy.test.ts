import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parseHostOrPrefix } from '@sallyport/core'
import t, { type Test } from 'tap'
import { openBansAt, openSqliteReverseChecks } from '#stores'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '#stores/testing'
import { parseConfig } from '../../../src/config/parse.ts'
import type { ConfigInput } from '../../../src/config/schema.ts'
import * as privacy from '../../../src/features/privacy/index.ts'
import { open, openOverrides } from '../../../src/open/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { apiRequest, requestFrom } from '../../open/requests.ts'

/* Facts about an address are found and erased in real stores; a place that does not answer is named. */
const ADDRESS = '8.3.0.7'
const HOUR = 3_600_000

/** Fills every place with the address and a neighbour. */
async function filled(t: Test, stores: ConfigInput): Promise<ConfigInput> {
  const folder = t.testdir()
  const dataDir = join(folder, 'state')
  const file = join(folder, 'decisions.log')
  const timeouts = { counting: '5s' } as const
  const config: ConfigInput = { ...madeConfig(folder), log: { file, requests: 'off' }, timeouts, ...stores }
  const sallyport = await open(config, { onNotice: () => {} })
  for (const peer of [ADDRESS, '8.3.0.8', ADDRESS]) {
    await sallyport.provenance.attestDecision(sallyport.decide(requestFrom(peer)), 'DE')
  }
  for (const peer of [ADDRESS, ADDRESS, '8.3.0.8']) await sallyport.api({ ...apiRequest('/v1/myip'), peer })
  await sallyport.close()
  const common = { time: '2026-11-25T00:00:00.000Z', method: 'GET', host: 'a', status: 200 }
  const line = (client: string, path: string) => `${JSON.stringify({ ...common, requestId: path, path, client })}\n`
  appendFileSync(file, line(ADDRESS, '/a') + line('8.3.0.70', '/b') + line('8.3.0.0/24', '/c'))
  writeFileSync(`${file}.1.gz`, gzipSync(line(ADDRESS, '/d')))
  const bans = await openBansAt(stores.redis ?? `sqlite:${join(dataDir, 'bans.db')}`, () => {})
  const ban = { on: 'blocked', count: 5, since: Date.now(), until: Date.now() + HOUR }
  const keys = { one: `client ${ADDRESS} browser x`, two: 'client 8.3.0.8', three: `user ${ADDRESS}` }
  for (const [id, key] of Object.entries(keys)) await bans.put({ ...ban, id, key })
  await bans.close()
  const { overrides, close } = await openOverrides(config)
  for (const text of [ADDRESS, '8.3.0.0/16', '8.3.0.8']) {
    const prefix = parseHostOrPrefix(text)
    if (prefix !== undefined) await overrides.set(prefix, { networkClass: 'hosting', note: text })
  }
  await close()
  const checks = await openSqliteReverseChecks(join(dataDir, 'crawler-verdicts.db'))
  const check = { status: 'refuted', detail: 'no name', until: Date.now() + HOUR } as const
  const known = [ADDRESS, '8.3.0.70'].map((text) => ({ ...check, key: `${text} *.googlebot.com` }))
  checks.save(known, Date.now(), 9)
  checks.close()
  return config
}

const exportKnown = (config: ConfigInput, text: string) => privacy.exportKnown(parseConfig(config), text)
const eraseKnown = (config: ConfigInput, text: string) => privacy.eraseKnown(parseConfig(config), text)

const listCounts = (places: readonly { place: string; state: string; entries: readonly unknown[] }[]) =>
  Object.fromEntries(places.map(({ place, state, entries }) => [place, `${state} ${entries.length}`]))

const listErased = (places: readonly { place: string; state: string; erased: number }[]) =>
  Object.fromEntries(places.map(({ place, state, erased }) => [place, `${state} ${erased}`]))

async function holds(t: Test, config: ConfigInput): Promise<void> {
  const known = await exportKnown(config, ADDRESS)
  t.equal(known.complete, true)
  t.same(listCounts(known.places), {
    ledger: 'read 2',
    bans: 'read 1',
    counts: 'elsewhere 1',
    observations: 'read 2',
    'crawler checks': 'read 1',
    'decision log': 'read 3',
    'audit log': 'absent 0',
    'memory of running services': 'elsewhere 0',
  })
  const [ledger] = known.places
  t.match(known.places.find(({ place }) => place === 'counts')?.entries, [{ count: `MYIP_LIMIT ${ADDRESS}`, used: 2 }])
  t.match(ledger?.entries, [{ attestationId: Number, log: /site$/, record: { claim: { jurisdiction: 'DE' } } }, {}])
  t.ok(known.places.every(({ where, kept }) => where !== '' && kept !== '' && !where.includes('@')))

  const erasure = await eraseKnown(config, ADDRESS)
  t.same(listErased(erasure.places), {
    ledger: 'erased 2',
    bans: 'kept 0',
    counts: 'kept 0',
    observations: 'kept 1',
    'crawler checks': 'erased 1',
    'decision log': 'kept 0',
    'audit log': 'absent 0',
    'memory of running services': 'kept 0',
  })
  t.match(erasure.places.find(({ place }) => place === 'bans')?.reason, /bans lift one$/)
  const after = await exportKnown(config, ADDRESS)
  t.match(listCounts(after.places), { ledger: 'read 0', observations: 'read 1', 'crawler checks': 'read 0' })
  const neighbour = await exportKnown(config, '8.3.0.8')
  t.match(listCounts(neighbour.places), { ledger: 'read 1', bans: 'read 1', observations: 'read 2' })
}

t.test('in SQLite', async (t) => {
  const config = await filled(t, {})
  await holds(t, config)
  const files = readdirSync(config.dataDir ?? '').filter((name) => name.endsWith('.db'))
  const asked = (await exportKnown(config, ADDRESS)).places.map(({ where }) => basename(where))
  const others = files.filter((name) => !asked.includes(name))
  t.same(others, ['state.db'], 'every database of the dataDir is asked but accounts, which are of customers')
})

t.test('in PostgreSQL and Redis', { skip: NO_POSTGRES || NO_REDIS }, async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)])
  const config = await filled(t, { store: await postgres.database(), redis: redis.url })
  await holds(t, config)
  await Promise.all([postgres.kill(), redis.kill()])
  const known = await exportKnown(config, ADDRESS)
  t.equal(known.complete, false)
  t.match(listCounts(known.places), { ledger: 'unreachable 0', bans: 'unreachable 0', observations: 'read 1' })
  t.ok(known.places.filter(({ state }) => state === 'unreachable').every(({ reason = '' }) => reason.length > 3))
  const erasure = await eraseKnown(config, ADDRESS)
  t.equal(erasure.complete, false)
  t.match(listErased(erasure.places), { ledger: 'unreachable 0', bans: 'unreachable 0' })
})

t.test('a file that is no database is unreachable, and nothing is none', async (t) => {
  const dataDir = t.testdir()
  mkdirSync(join(dataDir, 'data'))
  const config = { dataDir: join(dataDir, 'data') }
  const none = await exportKnown(config, '2001:DB8::1')
  t.match([none.address, none.complete], ['2001:db8::1', true])
  t.match(listCounts(none.places), { ledger: 'absent 0', bans: 'absent 0', 'decision log': 'elsewhere 0' })
  writeFileSync(join(config.dataDir, 'crawler-verdicts.db'), 'no database'.repeat(500))
  const broken = await exportKnown(config, '2001:db8::1')
  t.match([broken.complete, listCounts(broken.places)], [false, { 'crawler checks': 'unreachable 0' }])
  await t.rejects(exportKnown(config, 'me'), { code: 'invalid_ip' })
})
