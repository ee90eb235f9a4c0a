import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { listFiles, open, readConfigFrom } from '../../src/open/index.ts'
import { madeConfig } from './made-sources.ts'
import { requestFrom } from './requests.ts'

t.test('a running service takes over policy, mode and trust, or keeps what it had', async (t) => {
  const base = madeConfig(t.testdir())
  const sallyport = await open(base)
  t.teardown(() => sallyport.close())
  const request = requestFrom('198.51.100.7')
  const { decide } = sallyport
  t.equal(decide(request).action, 'allow')
  const rules = [{ id: 'none', match: { path: ['/**'] }, action: 'block' as const }]
  t.same(await sallyport.reload({ ...base, policy: { rules } }), { changed: ['policy.rules'], needRestart: [] })
  t.equal(decide(request).action, 'block', 'for a visitor that was known, too')
  t.equal(decide(request).enforced, true)
  t.same(
    await sallyport.reload({
      ...base,
      policy: { rules },
      mode: 'monitor',
      trustProxy: ['198.51.100.0/24'],
      ja4Header: 'CF-JA4',
    }),
    {
      changed: ['mode', 'trustProxy', 'ja4Header'],
      needRestart: [],
    },
  )
  t.equal(decide(request).enforced, false)
  t.ok(sallyport.isTrusted('198.51.100.7'))
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  t.same(sallyport.namedJa4({ ...request, peer: '198.51.100.7', fields: ['cf-ja4', ja4] }), { ja4, header: 'cf-ja4' })

  const kept = sallyport.config
  await t.rejects(sallyport.reload({ ...base, policy: { rules: [{ id: 'X', match: {}, action: 'block' }] } }), {
    code: 'invalid_config',
  })
  await t.rejects(
    sallyport.reload({ ...base, policy: { rules: [{ id: 'x', match: { country: ['??'] }, action: 'block' }] } }),
  )
  await t.rejects(sallyport.reload({ ...base, trustProxy: ['nobody'] }), { code: 'invalid_config' })
  await t.rejects(sallyport.reload({ ...base, ja4Header: 'a b' }), { message: /^ja4Header: /, code: 'invalid_config' })
  t.equal(sallyport.config, kept)
  t.equal(decide(request).enforced, false)

  const told = await sallyport.reload({
    ...base,
    listen: '127.0.0.1:1',
    limits: { inFlight: 9 },
    timeouts: { counting: 9 },
  })
  t.same(told.needRestart, ['listen', 'timeouts.counting'])
  t.same(told.changed, ['mode', 'trustProxy', 'ja4Header', 'policy.rules', 'limits.inFlight'])
  t.match(sallyport.config, { listen: '127.0.0.1:8080', limits: { inFlight: 9 }, timeouts: { counting: 20 } })
  const visits = (await sallyport.metrics().metrics()).matchAll(/^sallyport_visits_total\{.*\} (\d+)$/gm)
  t.equal(
    [...visits].reduce((sum, [, count]) => sum + Number(count), 0),
    5,
    'no reload begins to count again',
  )
})

t.test('a removed key is taken over, or kept and named', async (t) => {
  const base = madeConfig(t.testdir())
  const tls = { certificates: [{ cert: 'a.pem', key: 'a.key' }] }
  const full = { ...base, tls, http: '127.0.0.1:0', upstream: 'http://127.0.0.1:1', paths: 'pass' as const }
  const sallyport = await open(full)
  t.teardown(() => sallyport.close())
  t.same(await sallyport.reload(full), { changed: [], needRestart: [] })
  t.same(await sallyport.reload(base), { changed: ['upstream', 'paths'], needRestart: ['tls', 'http'] })
  t.same(
    Object.entries(sallyport.config).find(([key]) => key === 'upstream'),
    ['upstream', undefined],
  )
  t.match(sallyport.config, { tls, http: '127.0.0.1:0' }, 'listeners stay as they were opened')
  t.same(await sallyport.reload({ ...base, http: full.http, tls: { ...tls, http2: false, hsts: 'max-age=1' } }), {
    changed: ['tls.hsts'],
    needRestart: ['tls.http2'],
  })
  t.match(sallyport.config, { tls: { http2: true, hsts: 'max-age=1' } })
})

t.test('a reload is all or nothing: the policy, the log, and what a host takes over with it', async (t) => {
  const folder = t.testdir({ file: '' })
  const base = { ...madeConfig(folder), log: { requests: 'all' as const, file: join(folder, 'first.log') } }
  const sallyport = await open(base)
  t.teardown(() => sallyport.close())
  const before = sallyport.config
  const rules = [{ id: 'none', match: { path: ['/**'] }, action: 'block' as const }]
  const other = { ...base, policy: { rules }, log: { ...base.log, file: join(folder, 'second.log') } }
  const faults = [
    [other, async () => Promise.reject(new Error('the host cannot'))],
    [{ ...other, log: { ...base.log, file: join(folder, 'file', 'x.log') } }, undefined],
    [{ ...other, log: { ...base.log, file: '/proc/sallyport/x/y.log' } }, undefined],
    [{ ...other, refusal: { template: '/dev/zero' } }, undefined],
  ] as const
  for (const [config, others] of faults) {
    await t.rejects(sallyport.reload(config, others))
    t.equal(sallyport.config, before)
    t.equal(sallyport.decide(requestFrom('198.51.100.7')).action, 'allow')
  }
  sallyport.log.audit({ what: 'reload', who: 'test' })
  const seen: string[] = []
  await sallyport.reload(other, async ({ log }) => {
    seen.push(`${log.file} ${sallyport.decide(requestFrom('198.51.100.7')).action}`)
    return () => seen.push(sallyport.decide(requestFrom('198.51.100.7')).action)
  })
  t.same(seen, [`${other.log.file} allow`, 'block'], 'others are made before, and taken over after')
  sallyport.log.audit({ what: 'reload', who: 'second' })
  await sallyport.close()
  t.match(readFileSync(base.log.file, 'utf8'), '"who":"test"')
  t.match(readFileSync(other.log.file, 'utf8'), '"who":"second"')
  t.notOk(existsSync('/proc/sallyport'))
})

t.test('files that a configuration names, which are read with it', async (t) => {
  const secret = join(t.testdir(), 'secret')
  const file = join(t.testdirName, 'sallyport.yaml')
  writeFileSync(secret, 'x'.repeat(32))
  writeFileSync(
    file,
    [
      'refusal: { template: page.html }',
      'provenance: { policy: law.yaml }',
      'tls: { certificates: [{ cert: a.pem, key: a.key }] }',
      `handoff: { keys: [{ id: a, secret: "file:${secret}" }] }`,
    ].join('\n'),
  )
  const files = listFiles(readConfigFrom({ file }))
  t.same(files, { secrets: [secret], files: ['page.html', 'a.pem', 'a.key'] })
})

t.test('a file without keys is all defaults, or refused where it needs some', async (t) => {
  for (const text of ['', '# mode: monitor\n', '---\n', '{}\n', 'null\n', ' \n\n']) {
    const file = join(t.testdir(), 'sallyport.yaml')
    writeFileSync(file, text)
    t.match(readConfigFrom({ file }).config, { mode: 'enforce' }, JSON.stringify(text))
    t.throws(() => readConfigFrom({ file, needsKeys: true }), {
      code: 'invalid_config',
      message: /yaml.*has no keys/,
    })
  }
})

t.test('of two reloads at one time the later one holds, also where the earlier one waits', async (t) => {
  const base = madeConfig(t.testdir())
  const sallyport = await open(base)
  t.teardown(() => sallyport.close())
  const steps: string[] = []
  const step = (name: string) => async () => {
    steps.push(`${name} is prepared`)
    await delay(name === 'the earlier' ? 300 : 0)
    return () => steps.push(`${name} holds`)
  }
  await Promise.all([
    sallyport.reload({ ...base, upstream: 'http://127.0.0.1:1' }, step('the earlier')),
    sallyport.reload({ ...base, upstream: 'http://127.0.0.1:2' }, step('the later')),
  ])
  t.same(steps, ['the earlier is prepared', 'the earlier holds', 'the later is prepared', 'the later holds'])
  t.equal(sallyport.config.upstream, 'http://127.0.0.1:2')
  await t.rejects(sallyport.reload({ ...base, trustProxy: ['nobody'] }))
  t.same(
    await sallyport.reload(base),
    { changed: ['upstream'], needRestart: [] },
    'and one that fails holds up no other',
  )
})
