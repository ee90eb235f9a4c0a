import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { open } from '../../src/open/open.ts'
import type { NoticeCode } from '../../src/service/hooks.ts'
import { bernDatabase, madeConfig } from './made-sources.ts'
import { apiRequest, requestFrom } from './requests.ts'

t.test('one service, one test after the other', async (t) => {
  const sallyport = await open(madeConfig(t.testdir()))
  t.teardown(() => sallyport.close())

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
    t.match(await sallyport.api(apiRequest('/v1/vpn/8.3.0.1')), { status: 401 })
    t.match(await sallyport.api(apiRequest('/v1/vpn/8.3.0.1', key)), {
      status: 200,
      headers: { 'X-RateLimit-Limit': '150000' },
    })
    t.match(await sallyport.api(apiRequest('/v1/nothing')), { status: 404 })
    t.equal(await sallyport.api(apiRequest('/elsewhere')), undefined)
  })

  t.test('every data set says how it stands, and the facts kept by hand are among them', async (t) => {
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
    const first = await sallyport.keyring.issue({ plan: 'pro', signup: '2026-01-31' })
    const second = await sallyport.keyring.issue({ account: first.account.id })
    t.equal(second.account.id, first.account.id)
    t.not(second.key, first.key)
    await sallyport.keyring.revoke(second.id)
    t.match(await sallyport.api(apiRequest('/v1/user/limits', second.key)), { status: 401 })
    t.match(await sallyport.api(apiRequest('/v1/user/limits', first.key)), { status: 200 })
    await t.rejects(sallyport.keyring.revoke(second.id), { code: 'unknown_key' })
    const third = await sallyport.keyring.rotate(first.id)
    t.equal(third.account.id, first.account.id)
    t.match(await sallyport.api(apiRequest('/v1/user/limits', first.key)), { status: 401 })
    t.match(await sallyport.api(apiRequest('/v1/user/limits', third.key)), { status: 200 })
    for (const id of [first.id, 'nobody']) await t.rejects(sallyport.keyring.rotate(id), { code: 'unknown_key' })
    await t.rejects(sallyport.keyring.issue({ account: 'nobody' }), { code: 'unknown_account' })
    await t.rejects(sallyport.keyring.issue({ signup: '2026-02-30' }), { code: 'invalid_request' })
  })
})

t.test('range lists that are named are read, and then the counts mean something', async (t) => {
  const lists = { 'x4bnet-vpn-ipv4': '8.2.7.0/24\n', 'x4bnet-dc-ipv4': '8.2.0.0/16\n', 'tor-bulk-exit': '8.2.9.9\n' }
  const sallyport = await open(madeConfig(t.testdir(), lists))
  t.teardown(() => sallyport.close())
  const methods = ['8.2.0.1', '8.2.7.1', '8.2.9.9'].map((peer) => sallyport.inspect(requestFrom(peer)).network.verdict)
  t.match(methods, [
    { classification: 'hosting', method: 'range:hosting' },
    { classification: 'vpn', method: 'range:vpn' },
    { classification: 'tor', method: 'ip_state' },
  ])
  const response = await sallyport.api(apiRequest('/v1/asn/directory/24940'))
  t.match(JSON.parse(String(response?.body)), { rangesLoaded: true, vpnRangePrefixes: 0, datacenterRangePrefixes: 1 })
  t.same((await sallyport.lookup('8.2.0.1')).degraded, ['geo'])
})

t.test('a city database that is not one is refused by name and the rest answers', async (t) => {
  const sallyport = await open(madeConfig(t.testdir(), { 'dbip-city-lite': 'not an MMDB' }))
  t.teardown(() => sallyport.close())
  t.match(
    sallyport.sources().find(({ id }) => id === 'dbip-city-lite'),
    { state: 'refused', reason: /dbip-city-lite\.source/ },
  )
  t.match(await sallyport.lookup('8.3.0.1'), { isVpn: true, degraded: ['geo'] })
})

t.test('a city database is compiled once, and refused where the file cannot be written', async (t) => {
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
  const expected = {
    geo: { ip: '8.3.0.1', country: 'Switzerland', countryCode: 'CH', city: 'Bern' },
    country: 'CH',
    degraded: [],
    reason: undefined,
  }
  t.same(await places(), expected)
  const state = join(folder, 'state')
  const compiled = readdirSync(state).find((name) => name.startsWith('city-dbip-city-lite-')) ?? ''
  t.same(await places(), expected, 'from the compiled file')
  rmSync(join(state, compiled))
  mkdirSync(join(state, compiled, 'in the way'), { recursive: true })
  const without = { geo: { city: undefined }, degraded: ['geo'], reason: /city-dbip-city-lite-/ }
  t.match(await places(), without)
})

t.test('a compiled file that was damaged is refused by name and made again', async (t) => {
  const folder = t.testdir()
  const config = madeConfig(folder)
  await (await open(config)).close()
  const name = readdirSync(join(folder, 'state')).find((file) => file.startsWith('tables-')) ?? ''
  const file = join(folder, 'state', name)
  const whole = readFileSync(file)
  for (const damaged of [
    whole.subarray(0, whole.length >> 1),
    Buffer.from(whole).fill(0, whole.length - 9, whole.length - 1),
    Buffer.alloc(0),
  ]) {
    writeFileSync(file, damaged)
    const notices: (readonly [NoticeCode, string])[] = []
    const sallyport = await open(config, { onNotice: (code, message) => notices.push([code, message]) })
    t.equal(sallyport.inspect(requestFrom('8.4.0.1')).network.verdict.classification, 'tor')
    await sallyport.close()
    t.match(notices, [['SALLYPORT_TABLES_REFUSED', new RegExp(name)]])
    t.ok(readFileSync(file).equals(whole))
  }
})

t.test('a second open reads what the first compiled', async (t) => {
  const config = madeConfig(t.testdir())
  let compiled = 0
  for (let round = 0; round < 2; round++) {
    const sallyport = await open(config, { onProgress: () => compiled++ })
    await sallyport.close()
    if (round === 0) t.ok(compiled > 0)
    else t.equal(compiled, 0)
    compiled = 0
  }
})

t.test('two in one process share nothing', async (t) => {
  const notices: string[] = []
  const folder = t.testdir({ a: {}, b: {} })
  const [first, second] = await Promise.all(
    ['a', 'b'].map((name) =>
      open(madeConfig(join(folder, name)), { onNotice: (code) => notices.push(`${name} ${code}`) }),
    ),
  )
  if (first === undefined || second === undefined) return t.fail('not open')
  t.teardown(() => Promise.all([first.close(), second.close()]))
  const forwarded = requestFrom('8.1.0.1', ['X-Forwarded-For', '8.2.0.1'])
  for (const sallyport of [first, first, second]) sallyport.decide(forwarded)
  const ofOpening = notices.filter((notice) => notice.endsWith('DATA_STALE'))
  t.same(notices.slice(ofOpening.length), ['a SALLYPORT_FORWARDED_UNTRUSTED', 'b SALLYPORT_FORWARDED_UNTRUSTED'])
  const remaining = async (sallyport: typeof first) =>
    (await sallyport.api(apiRequest('/v1/demo/8.1.0.1')))?.headers['X-RateLimit-Remaining']
  t.same([await remaining(first), await remaining(first), await remaining(second)], ['99', '98', '99'])
})

t.test('a closed store is an outage of keyed routes alone', async (t) => {
  const faults: unknown[] = []
  const sallyport = await open(madeConfig(t.testdir()), { onFault: (error) => faults.push(error) })
  const { key } = await sallyport.keyring.issue({})
  await sallyport.close()
  t.match(await sallyport.api(apiRequest('/v1/vpn/8.3.0.1', key)), { status: 503, headers: { 'Retry-After': /^\d+$/ } })
  t.equal(faults.length, 1)
  t.match(await sallyport.api(apiRequest('/v1/demo/8.3.0.1')), { status: 200 })
  t.equal(sallyport.decide(requestFrom('8.4.0.1')).action, 'flag')
})

t.test('limits whose file cannot be opened are half as high, and whole when it can', async (t) => {
  const dataDir = t.testdir()
  const config = { ...madeConfig(dataDir), dataDir }
  const file = join(dataDir, 'counts.db')
  writeFileSync(file, 'no database')
  const faults: unknown[] = []
  const sallyport = await open(config, { onFault: (error) => faults.push(error) })
  t.teardown(() => sallyport.close())
  const remaining = async () => (await sallyport.api(apiRequest('/v1/demo/8.3.0.1')))?.headers['X-RateLimit-Remaining']
  t.equal(await remaining(), '49')
  t.match(faults[0], /not a database/, 'reported to the host')
  rmSync(file)
  while (Number(await remaining()) < 50) await delay(50)
  t.ok(Number(await remaining()) > 50)
})

t.test('calls of a client outlive a restart, and no file has its address', async (t) => {
  const dataDir = t.testdir()
  const config = { ...madeConfig(dataDir), dataDir }
  for (const end of ['', '-wal', '-shm']) writeFileSync(join(dataDir, `limits.db${end}`), 'an address in clear')
  const remaining = async () => {
    const sallyport = await open(config)
    const call = await sallyport.api({ ...apiRequest('/v1/demo/8.3.0.1'), peer: '198.51.100.77' })
    await sallyport.close()
    return call?.headers['X-RateLimit-Remaining']
  }
  t.same([await remaining(), await remaining()], ['99', '98'])
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
  const second = await open(config)
  t.teardown(() => second.close())
  const uses = new Map((await second.accounts.listKeys()).map(({ id, lastUsedAt }) => [id, lastUsedAt]))
  t.ok((uses.get(used.id) ?? '') >= before)
  t.equal(uses.get(refused.id), undefined)
})

t.test('a policy that cannot be meant is refused before anything is opened', async (t) => {
  const folder = t.testdir()
  await t.rejects(open({ ...madeConfig(folder), trustProxy: ['nobody'] }), {
    code: 'invalid_config',
    message: /nobody/,
  })
  await t.rejects(open({ dataDir: folder, data: { sources: { nothing: { enabled: false } } } }), {
    code: 'invalid_config',
    message: /nothing/,
  })
  await t.rejects(open({ dataDir: folder, policy: { rules: [{ id: 'a', match: { path: ['x'] }, action: 'flag' }] } }), {
    code: 'invalid_policy',
  })
  await t.rejects(open({ lissten: 1 } as object), { code: 'invalid_config', message: /lissten/ })
})
