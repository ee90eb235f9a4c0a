import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createFakeDns } from '@sallyport/core/testing'
import { SOURCES } from '@sallyport/data/sources'
import t from 'tap'
import { openFeedServer } from '#datasets/testing'
import { freePort, listening, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '#stores/testing'
import { type ConfigInput, doctor, open } from '../../src/open/index.ts'
import { answering, bad, DNS, examine, of, soundConfig } from '../config/sound-config.ts'
import { BOUNCER_KEY, openLocalCrowdsec } from '../features/lists/local-crowdsec.ts'
import { madeConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'

const GATE_ANSWER = '{"error":"invalid_request","message":"-","details":{"requestId":"-"}}'

t.test('a service that is well has nothing to do, before its first start, after it and while it runs', async (t) => {
  const config = await soundConfig(t)
  const before = await doctor(config, { dns: DNS })
  t.match(bad(before), [{ check: 'data', state: 'warn', found: 'No data is compiled yet.' }])
  t.match(of(before, 'dataDir'), [{ state: 'ok', found: /does not exist yet; the first start creates it/ }])
  await openService(t, config)
  const findings = await doctor(config, { dns: DNS })
  t.strictSame(bad(findings), [])
  t.match(of(findings, 'store'), [{ found: /^SQLite 3\.\d+\.\d+: [3-9] of [3-9] files can be read\.$/ }])
  t.match(of(findings, 'data'), [{ found: /^\d+ sources are loaded and none is stale\.$/ }])
  t.match(of(findings, 'clock'), [{ found: /^The date is \d{4}-/ }])
  const running = await answering(t, '{"status":"ok"}\n')
  const used = await examine({ ...config, listen: await answering(t, GATE_ANSWER), admin: running }, 'listeners')
  const isOurs = { state: 'ok', found: /in use by a running Sallyport/ }
  t.match(used, [isOurs, isOurs])
})

t.test('servers are asked for their version and clock', { skip: NO_POSTGRES || NO_REDIS }, async (t) => {
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)])
  const config = { ...(await soundConfig(t)), store: await postgres.database(), redis: redis.url }
  const findings = await doctor(config, { dns: DNS })
  t.match(of(findings, 'store'), [{ state: 'ok', found: /^PostgreSQL \d+(\.\d+)* at 127\.0\.0\.1:\d+, \d+ ms\.$/ }])
  t.match(of(findings, 'redis'), [{ state: 'ok', found: /^Redis \d+\.\d+\.\d+ at 127\.0\.0\.1:\d+, \d+ ms\.$/ }])
  t.match(of(findings, 'clock'), [
    { state: 'ok', found: /^The clocks of this machine and PostgreSQL \d\S* agree\.$/ },
    { state: 'ok', found: /^The clocks of this machine and Redis \d\S* agree\.$/ },
  ])
})

t.test('CrowdSec is tried where it is a list, and its stream is left alone', async (t) => {
  const [crowdsec, config] = [await openLocalCrowdsec(t), await soundConfig(t)]
  const found = async (key: string) => {
    const more = { lists: { crowd: { crowdsec: crowdsec.url, key } }, net: { allowPrivate: ['127.0.0.0/8'] } }
    return examine({ ...config, ...more }, 'lists')
  }
  const { host } = new URL(crowdsec.url)
  const known = `CrowdSec at ${host} accepts the key of the list crowd.`
  t.strictSame(await found(BOUNCER_KEY), [{ check: 'lists', state: 'ok', found: known }])
  t.same(crowdsec.asked, ['GET /v1/decisions?ip=192.0.2.1'])
  const wrong = await found('s3cret-key')
  const said = `CrowdSec at ${host} cannot be used: it responds to the key with 403.`
  t.match(wrong, [{ state: 'fail', found: said, path: ['lists', 'crowd'] }])
  t.ok(wrong.every(({ passing }) => passing))
  t.notMatch(JSON.stringify(wrong), /s3cret/)
})

t.test('damaged databases, open keys and a dataDir that is none', async (t) => {
  const config = await soundConfig(t)
  const dataDir = String(config.dataDir)
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'state.db'), 'no database, '.repeat(1_000))
  writeFileSync(join(dataDir, 'signing-key.pem'), '')
  chmodSync(join(dataDir, 'signing-key.pem'), 0o644)
  const findings = await doctor(config, { dns: DNS })
  t.match(of(findings, 'store'), [{ state: 'fail', found: /state\.db is not a SQLite database, or is corrupt\.$/ }])
  t.match(of(findings, 'dataDir'), [{ state: /ok|warn/ }, { state: 'fail', advice: /^chmod 600 \S+signing-key\.pem$/ }])
  rmSync(dataDir, { recursive: true })
  writeFileSync(dataDir, '')
  t.match(await examine(config, 'dataDir'), [{ state: 'fail', found: /is not a folder\.$/ }])
  const prebuilt = { ...config, dataDir: join(t.testdir(), 'none'), data: { ...config.data, readOnly: true } }
  t.match(await examine(prebuilt, 'dataDir'), [{ state: 'fail', advice: /sallyport data compile/ }])
})

t.test('a clock that is behind, data that is old, and names that are not answered', async (t) => {
  const folder = t.testdir()
  const config = { ...(await soundConfig(t)), ...madeConfig(folder) }
  await (await open(config)).close()
  const behind = await doctor(config, { dns: createFakeDns({}), clock: { now: () => Date.UTC(2020, 0, 1) } })
  const shown = /^The clock shows 2020-01-01T\S+, but some data is from 20\d\d-/
  t.match(of(behind, 'clock'), [{ state: 'fail', found: shown }])
  t.match(of(behind, 'dns'), [{ state: /warn|fail/, advice: /dns\.servers/ }])
  const later = await doctor(config, { dns: DNS, clock: { now: () => Date.UTC(2050, 0, 1) } })
  t.match(of(later, 'data'), [{ state: 'warn', found: /are stale: /, advice: /sallyport data update/ }])
  const silent = { ...config, dns: { servers: ['127.0.0.1:9'], timeoutMs: 50 } }
  const none = /^No response from 127\.0\.0\.1:9 within 50 ms: /
  t.match(of(await doctor(silent), 'dns'), [{ state: 'fail', found: none }])
})

t.test('a feed that could not be read for three of its intervals is named, whether it ever was or not', async (t) => {
  const config = { ...(await soundConfig(t)), ...madeConfig(t.testdir()) }
  await (await open(config)).close()
  const [day, first] = [86_400_000, Date.UTC(2026, 4, 1)]
  const failing = (id: string, state: object) => {
    const { url } = SOURCES.find((row) => row.id === id) ?? {}
    const folder = join(String(config.dataDir), 'feeds', id)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'state.json'), JSON.stringify({ url, failures: 1, error: 'it has moved', ...state }))
  }
  failing('gluetun-servers', { first, tried: first + 20 * day })
  failing('x4bnet-vpn-ipv4', { first, checked: first + day, tried: first + 20 * day })
  const foundAt = async (days: number) => {
    const findings = await doctor(config, { dns: DNS, clock: { now: () => first + days * day } })
    return of(findings, 'data').map(({ found }) => found)
  }
  const failed = /^The last refresh of x4bnet-vpn-ipv4, gluetun-servers failed: it has moved\.$/
  t.match(await foundAt(3.9), [/loaded/, failed])
  const lost = /^Sources without a successful download for three refresh intervals: x4bnet-vpn-ipv4\.$/
  t.match(await foundAt(4), [/loaded/, lost, /^The last refresh of gluetun-servers failed/])
  t.match(await foundAt(9), [/loaded/, /: x4bnet-vpn-ipv4, gluetun-servers\.$/])
})

t.test('listeners that are taken, forbidden or elsewhere; trust that says nothing', async (t) => {
  const config = await soundConfig(t)
  const other = await answering(t, 'something else')
  const ours = await answering(t, '{"status":"ok"}')
  const gate = await answering(t, GATE_ANSWER)
  const taken = (name: string) => ({ state: 'fail', found: new RegExp(`^${name}: \\S+ is in use by another program`) })
  const running = { state: 'ok', found: /^admin: \S+ is in use by a running Sallyport\.$/ }
  const listeners: readonly (readonly [ConfigInput, readonly object[]])[] = [
    [{ listen: other, admin: other }, [taken('listen'), taken('admin')]],
    // A gate runs, and this is none of its listeners.
    [{ listen: other, admin: ours }, [taken('listen'), running]],
    [{ listen: gate, http: other, admin: ours }, [{ state: 'ok' }, taken('http'), running]],
    [{ listen: '192.0.2.1:80' }, [{ state: 'fail', found: /is not an address of this machine/ }]],
    [{ listen: 'none.invalid:80' }, [{ state: 'fail', found: /:80 has an? (unknown )?host name/ }]],
    [{ admin: '0.0.0.0:0' }, [{ state: 'ok' }, { state: 'ok' }, { state: 'warn', found: /from other machines/ }]],
  ]
  for (const [more, expected] of listeners) t.match(await examine({ ...config, ...more }, 'listeners'), expected)
  const open = { trustProxy: [], listen: '0.0.0.0:0' }
  const proxied = { trustProxy: ['loopback'], ja4Header: 'cf-ja4' }
  const tls = { certificates: [{ cert: 'a.pem', key: 'a.key' }] }
  const trust: readonly (readonly [ConfigInput, object, object?])[] = [
    [{ trustProxy: [] }, { state: 'warn', advice: /trustProxy: \[loopback\]/ }],
    [open, { state: 'ok' }],
    [{ ...open, clientHeader: 'cf-connecting-ip' }, { state: 'warn' }],
    [proxied, {}, { state: 'ok', found: 'JA4 is read from cf-ja4 behind proxies; direct clients have no JA4.' }],
    [{ ...proxied, tls }, {}, { found: /^JA4 is read from cf-ja4 behind proxies; for direct clients/ }],
    [{ trustProxy: ['loopback'], tls }, {}, { found: /^JA4 is unknown behind proxies; for direct clients/ }],
    [{ ...proxied, trustProxy: [] }, {}, { state: 'warn', found: /^cf-ja4 is never read, because no proxy/ }],
  ]
  for (const [more, ...expected] of trust) {
    const found = await examine({ ...config, ...more }, 'trust')
    t.match(found, expected)
    t.equal(found.length, expected.length)
  }
})

t.test('the mirror is asked, and what keeps feeds away is named', async (t) => {
  const mirror = await openFeedServer(t)
  const config = await soundConfig(t)
  const feeds = async (net: ConfigInput['net']) => {
    const data = { ...config.data, mirror: `${mirror.origin}/lists` }
    return examine({ ...config, data, net }, 'feeds')
  }
  t.match(await feeds({ allowPrivate: ['127.0.0.1/32'] }), [{ state: 'ok', found: /^The mirror \S+ responds/ }, {}])
  t.match(await feeds({}), [{ state: 'fail', found: /is not a public address\.$/, advice: /net\.allowPrivate/ }, {}])
})

t.test('places of notifications are reached, and nothing is sent to them', async (t) => {
  const config = await soundConfig(t)
  let asked = 0
  const hook = createServer(() => asked++)
  const port = await listening(t, hook)
  const gone = await freePort()
  const secret = 'k'.repeat(32)
  const notify = [port, gone].map((place) => ({ url: `http://127.0.0.1:${place}/s3cret`, secret }))
  const permitted = { ...config, notify, net: { allowPrivate: ['127.0.0.0/8'] } }
  const found = await examine(permitted, 'notify')
  t.match(found, [
    { state: 'ok', found: new RegExp(`^127.0.0.1:${port} \\(json\\) can be reached`) },
    { state: 'fail', found: new RegExp(`^127.0.0.1:${gone} \\(json\\) cannot be reached: nothing listens there`) },
  ])
  t.equal(asked, 0)
  t.notMatch(JSON.stringify(found), 's3cret')
  const inside = await examine({ ...config, notify }, 'notify')
  t.match(inside[0], { state: 'fail', found: /127\.0\.0\.1 is not a public address/, advice: /net\.allowPrivate/ })
})
