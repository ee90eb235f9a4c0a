import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { listFiles, readConfigFrom } from '../../src/open/index.ts'
import { fileIn } from '../config/written.ts'
import { madeConfig } from './made-sources.ts'
import { openService } from './opened.ts'
import { requestFrom } from './requests.ts'

const BLOCKED = { rules: [{ id: 'none', match: { path: ['/**'] }, action: 'block' as const }] }

t.test('a running service takes over policy, mode and trust, or keeps what it had', async (t) => {
  const base = madeConfig(t.testdir())
  const sallyport = await openService(t, base)
  const request = requestFrom('198.51.100.7')
  const { decide } = sallyport
  t.equal(decide(request).action, 'allow')
  t.same(await sallyport.reload({ ...base, policy: BLOCKED }), { changed: ['policy.rules'], needRestart: [] })
  t.match(decide(request), { action: 'block', enforced: true }, 'for a visitor that was known, too')
  const more = { mode: 'monitor' as const, trustProxy: ['198.51.100.0/24'], ja4Header: 'CF-JA4' }
  const changed = ['mode', 'trustProxy', 'ja4Header']
  t.same(await sallyport.reload({ ...base, policy: BLOCKED, ...more }), { changed, needRestart: [] })
  t.equal(decide(request).enforced, false)
  t.ok(sallyport.isTrusted('198.51.100.7'))
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  t.same(sallyport.namedJa4({ ...request, fields: ['cf-ja4', ja4] }), { ja4, header: 'cf-ja4' })

  const kept = sallyport.config
  for (const bad of [
    { policy: { rules: [{ id: 'X', match: {}, action: 'block' as const }] } },
    { policy: { rules: [{ id: 'x', match: { country: ['??'] }, action: 'block' as const }] } },
    { trustProxy: ['nobody'] },
    { ja4Header: 'a b' },
  ]) {
    await t.rejects(sallyport.reload({ ...base, ...bad }), { code: /^invalid_/ }, JSON.stringify(bad))
  }
  t.equal(sallyport.config, kept)
  t.equal(decide(request).enforced, false)

  const others = { listen: '127.0.0.1:1', limits: { inFlight: 9 }, timeouts: { counting: 9 } }
  const told = await sallyport.reload({ ...base, ...others })
  t.same(told.needRestart, ['listen', 'timeouts.counting'])
  t.same(told.changed, [...changed, 'policy.rules', 'limits.inFlight'])
  t.match(sallyport.config, { listen: '127.0.0.1:8080', limits: { inFlight: 9 }, timeouts: { counting: 20 } })
  const visits = (await sallyport.metrics().metrics()).matchAll(/^sallyport_visits_total\{.*\} (\d+)$/gm)
  const sum = [...visits].reduce((total, [, count]) => total + Number(count), 0)
  t.equal(sum, 4, 'no reload begins to count again')
})

t.test('a removed key is taken over, or kept and named', async (t) => {
  const base = madeConfig(t.testdir())
  const tls = { certificates: [{ cert: 'a.pem', key: 'a.key' }] }
  const full = { ...base, tls, http: '127.0.0.1:0', upstream: 'http://127.0.0.1:1', paths: 'pass' as const }
  const sallyport = await openService(t, full)
  t.same(await sallyport.reload(full), { changed: [], needRestart: [] })
  t.same(await sallyport.reload(base), { changed: ['upstream', 'paths'], needRestart: ['tls', 'http'] })
  t.match(sallyport.config, { upstream: undefined, tls, http: '127.0.0.1:0' }, 'listeners stay as they were opened')
  const other = { ...base, http: full.http, tls: { ...tls, http2: false, hsts: 'max-age=1' } }
  t.same(await sallyport.reload(other), { changed: ['tls.hsts'], needRestart: ['tls.http2'] })
  t.match(sallyport.config, { tls: { http2: true, hsts: 'max-age=1' } })
})

t.test('a reload is all or nothing: the policy, the log, and what a host takes over with it', async (t) => {
  const folder = t.testdir({ file: '' })
  const base = { ...madeConfig(folder), log: { requests: 'all' as const, file: join(folder, 'first.log') } }
  const sallyport = await openService(t, base)
  const before = sallyport.config
  const decide = () => sallyport.decide(requestFrom('198.51.100.7')).action
  const other = { ...base, policy: BLOCKED, log: { ...base.log, file: join(folder, 'second.log') } }
  const faults = [
    [other, async () => Promise.reject(new Error('the host cannot'))],
    [{ ...other, log: { ...base.log, file: join(folder, 'file', 'x.log') } }, undefined],
    [{ ...other, log: { ...base.log, file: '/proc/sallyport/x/y.log' } }, undefined],
    [{ ...other, refusal: { template: '/dev/zero' } }, undefined],
  ] as const
  for (const [config, others] of faults) {
    await t.rejects(sallyport.reload(config, others))
    t.equal(sallyport.config, before)
    t.equal(decide(), 'allow')
  }
  sallyport.log.audit({ what: 'reload', who: 'test' })
  const seen: string[] = []
  await sallyport.reload(other, async ({ log }) => {
    seen.push(`${log.file} ${decide()}`)
    return () => seen.push(decide())
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
  const lines = [
    'refusal: { template: page.html }',
    'provenance: { policy: law.yaml }',
    'tls: { certificates: [{ cert: a.pem, key: a.key }] }',
    `handoff: { keys: [{ id: a, secret: "file:${secret}" }] }`,
  ]
  writeFileSync(file, lines.join('\n'))
  const files = listFiles(readConfigFrom({ file }))
  t.same(files, { secrets: [secret], files: ['page.html', 'a.pem', 'a.key'] })
})

t.test('a file without keys is all defaults, or refused where it needs some', async (t) => {
  for (const text of ['', '# mode: monitor\n', '---\n', '{}\n', 'null\n']) {
    const file = fileIn(t, text)
    t.match(readConfigFrom({ file }).config, { mode: 'enforce' }, JSON.stringify(text))
    const refused = { code: 'invalid_config', message: /yaml.*has no keys/ }
    t.throws(() => readConfigFrom({ file, needsKeys: true }), refused)
  }
})

t.test('of two reloads at one time the later one holds, also where the earlier one waits', async (t) => {
  const base = madeConfig(t.testdir())
  const sallyport = await openService(t, base)
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
  const after = await sallyport.reload(base)
  t.same(after, { changed: ['upstream'], needRestart: [] }, 'and one that fails holds up no other')
})
