import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { open, type Sallyport } from '../../src/open/index.ts'
import type { NoticeCode } from '../../src/service/hooks.ts'
import { bernDatabase, madeConfig } from './made-sources.ts'
import { openService } from './opened.ts'
import { apiRequest, callApi, requestFrom } from './requests.ts'

t.test('one service, one test after the other', async (t) => {
  const sallyport = await openService(t, madeConfig(t.testdir()))

  t.test('opened on data of its own it decides, answers and closes', async (t) => {
    const classes = ['8.1.0.1', '8.2.0.1', '8.3.0.1', '8.4.0.1', '2a01:4f8::1', '9.9.9.9', '127.0.0.1'].map((peer) => {
      const { action, inspection } = sallyport.decide({ ...requestFrom(peer), fields: ['User-Agent', 'curl/8.5.0'] })
      return [inspection.network.verdict.classification, action]
    })
    t.same(classes, [
      ['residential_clean', 'allow'],
      ['hosting', 'flag'],
      ['vpn', 'flag'],
      ['tor', 'flag'],
      ['hosting', 'flag'],
      ['unknown', 'allow'],
      ['unknown', 'allow'],
    ])
    t.match(await sallyport.lookup('8.3.0.1'), {
      isVpn: true,
      provider: 'Proton VPN',
      asn: { asn: 'AS209103', country: 'CH' },
    })

    const { key } = await sallyport.keyring.issue({ plan: 'starter', name: 'Test' })
    t.match(await callApi(sallyport, '/v1/vpn/8.3.0.1'), { status: 401 })
    const headers = { 'X-RateLimit-Limit': '150000' }
    t.match(await callApi(sallyport, '/v1/vpn/8.3.0.1', key), { status: 200, headers })
    t.match(await callApi(sallyport, '/v1/nothing'), { status: 404 })
    t.equal(await sallyport.api(apiRequest('/elsewhere')), undefined)

    const states = Object.fromEntries(sallyport.sources().map(({ id, state }) => [id, state]))
    t.match(states, {
      'asn-csv-v4': 'loaded',
      'dbip-city-v4': 'absent',
      'x4bnet-vpn-ipv4': 'absent',
      operators: 'loaded',
    })
    t.equal(sallyport.sources().find(({ id }) => id === 'asn-csv-v4')?.entries, 4)
  })

  t.test('a key is for one account, and a day must be one', async (t) => {
    const { keyring } = sallyport
    const first = await keyring.issue({ plan: 'pro', signup: '2026-01-31' })
    const second = await keyring.issue({ account: first.account.id })
    t.equal(second.account.id, first.account.id)
    t.not(second.key, first.key)
    await keyring.revoke(second.id)
    await t.rejects(keyring.revoke(second.id), { code: 'unknown_key' })
    const third = await keyring.rotate(first.id)
    t.equal(third.account.id, first.account.id)
    for (const [{ key }, status] of [
      [second, 401],
      [first, 401],
      [third, 200],
    ] as const) {
      t.match(await callApi(sallyport, '/v1/user/limits', key), { status })
    }
    for (const id of [first.id, 'nobody']) await t.rejects(keyring.rotate(id), { code: 'unknown_key' })
    await t.rejects(keyring.issue({ account: 'nobody' }), { code: 'unknown_account' })
    await t.rejects(keyring.issue({ signup: '2026-02-30' }), { code: 'invalid_request' })
  })
})

t.test('the directory counts prefixes in range lists once both lists are loaded', async (t) => {
  const hosting = { 'x4bnet-dc-ipv4': '8.2.0.0/16\n' }
  const lists = { ...hosting, 'x4bnet-vpn-ipv4': '8.2.7.0/24\n', 'tor-bulk-exit': '8.2.9.9\n' }
  // Files of crawlers alone are no ranges that the directory counts, and nor is one list without the other.
  const crawler = { 'bot-googlebot': '{"creationTime":"2026-01-01","prefixes":[{"ipv4Prefix":"8.2.0.0/16"}]}' }
  const others = { 'x4bnet-dc-ipv4': '8.3.0.0/16\n', 'x4bnet-vpn-ipv4': '8.4.0.0/16\n' }
  for (const [files, ...wanted] of [
    [lists, true, 0, 1],
    [crawler, false, 0, 0],
    [hosting, false, 0, 0],
    [{ ...crawler, ...others }, true, 0, 0],
    [{ ...crawler, ...hosting, 'x4bnet-vpn-ipv4': '8.2.0.0/17\n' }, true, 1, 1],
  ] as const) {
    const counting = await open(madeConfig(t.testdir(), files), { onNotice() {} })
    const { json } = await callApi(counting, '/v1/asn/directory/24940')
    await counting.close()
    t.same([json.rangesLoaded, json.vpnRangePrefixes, json.datacenterRangePrefixes], wanted, Object.keys(files).join())
  }
})

t.test('a city database is compiled, and refused where the file cannot be written', async (t) => {
  const folder = t.testdir()
  const config = madeConfig(folder, { 'dbip-city-lite': bernDatabase() })
  const places = async () => {
    const sallyport = await open(config, { onNotice: () => {} })
    const { geo, degraded } = await sallyport.lookup('8.3.0.1')
    const { country } = sallyport.inspect(requestFrom('8.3.0.1'))
    const reason = sallyport.sources().find(({ id }) => id === 'dbip-city-lite')?.reason
    await sallyport.close()
    return { geo, country, degraded, reason }
  }
  const geo = { ip: '8.3.0.1', country: 'Switzerland', countryCode: 'CH', city: 'Bern' }
  t.same(await places(), { geo, country: 'CH', degraded: [], reason: undefined })
  const state = join(folder, 'state')
  const compiled = readdirSync(state).find((name) => name.startsWith('city-dbip-city-lite-')) ?? ''
  rmSync(join(state, compiled))
  mkdirSync(join(state, compiled, 'in the way'), { recursive: true })
  t.match(await places(), { geo: { city: undefined }, degraded: ['geo'], reason: /city-dbip-city-lite-/ })
})

t.test('a compiled file that was damaged is refused by name and made again', async (t) => {
  const folder = t.testdir()
  const config = madeConfig(folder)
  let compiled = 0
  await (await open(config, { onProgress: () => compiled++ })).close()
  const first = compiled
  await (await open(config, { onProgress: () => compiled++ })).close()
  t.ok(first > 0 && compiled === first, 'a second open reads what the first compiled')
  const name = readdirSync(join(folder, 'state')).find((file) => file.startsWith('tables-')) ?? ''
  const file = join(folder, 'state', name)
  const whole = readFileSync(file)
  writeFileSync(file, whole.subarray(0, whole.length >> 1))
  const notices: (readonly [NoticeCode, string])[] = []
  const sallyport = await open(config, { onNotice: (code, message) => notices.push([code, message]) })
  t.equal(sallyport.inspect(requestFrom('8.4.0.1')).network.verdict.classification, 'tor')
  await sallyport.close()
  t.match(notices, [['SALLYPORT_TABLES_REFUSED', new RegExp(name)]])
  t.ok(readFileSync(file).equals(whole))
})

const readRemaining = async (sallyport: Sallyport, peer = '8.1.0.1') =>
  (await sallyport.api({ ...apiRequest('/v1/demo/8.3.0.1'), peer }))?.headers['X-RateLimit-Remaining']

t.test('two in one process share nothing', async (t) => {
  const notices: string[] = []
  const folder = t.testdir({ a: {}, b: {} })
  const opened = (name: string) =>
    openService(t, madeConfig(join(folder, name)), { onNotice: (code) => notices.push(`${name} ${code}`) })
  const [first, second] = [await opened('a'), await opened('b')]
  const forwarded = requestFrom('8.1.0.1', ['X-Forwarded-For', '8.2.0.1'])
  for (const sallyport of [first, first, second]) sallyport.decide(forwarded)
  const ofRequests = notices.filter((notice) => !notice.endsWith('DATA_STALE'))
  t.same(ofRequests, ['a SALLYPORT_FORWARDED_UNTRUSTED', 'b SALLYPORT_FORWARDED_UNTRUSTED'])
  t.same([await readRemaining(first), await readRemaining(first), await readRemaining(second)], ['99', '98', '99'])
})

t.test('limits whose file cannot be opened are half as high, and whole when it can', async (t) => {
  const dataDir = t.testdir()
  const config = { ...madeConfig(dataDir), dataDir }
  const file = join(dataDir, 'counts.db')
  writeFileSync(file, 'no database')
  const faults: unknown[] = []
  const sallyport = await openService(t, config, { onFault: (error) => faults.push(error) })
  t.equal(await readRemaining(sallyport), '49')
  t.match(faults[0], /not a database/, 'reported to the host')
  rmSync(file)
  while (Number(await readRemaining(sallyport)) <= 50) await delay(50)
})

t.test('calls of a client outlive a restart, and no file has its address', async (t) => {
  const dataDir = t.testdir()
  const config = { ...madeConfig(dataDir), dataDir }
  for (const end of ['', '-wal', '-shm']) writeFileSync(join(dataDir, `limits.db${end}`), 'an address in clear')
  for (const remaining of ['99', '98']) {
    const sallyport = await open(config)
    t.equal(await readRemaining(sallyport, '198.51.100.77'), remaining)
    await sallyport.close()
  }
  const names = readdirSync(dataDir)
  t.notOk(names.some((name) => name.startsWith('limits.db')))
  for (const name of names.filter((name) => /\.db(-wal)?$/.test(name))) {
    t.notMatch(readFileSync(join(dataDir, name), 'latin1'), '198.51.100.77', name)
  }
})

t.test('when a key was last used is known after, and a refused use is none', async (t) => {
  const config = madeConfig(t.testdir())
  const first = await open(config)
  const [used, refused] = [await first.keyring.issue({}), await first.keyring.issue({})]
  await first.keyring.revoke(refused.id)
  const before = new Date().toISOString()
  t.match(await first.api(apiRequest('/v1/user/limits', used.key)), { status: 200 })
  t.match(await first.api(apiRequest('/v1/user/limits', refused.key)), { status: 401 })
  await first.close()
  const second = await openService(t, config)
  const uses = new Map((await second.accounts.listKeys()).map(({ id, lastUsedAt }) => [id, lastUsedAt]))
  t.ok((uses.get(used.id) ?? '') >= before)
  t.equal(uses.get(refused.id), undefined)
})
