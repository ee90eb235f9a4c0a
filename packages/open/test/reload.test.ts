import t from 'tap'
import { open } from '../src/index.ts'
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
  t.same(await sallyport.reload({ ...base, policy: { rules } }), { changed: ['policy'], needRestart: [] })
  t.equal(decide(request).action, 'block', 'for a visitor that was known, too')
  t.equal(decide(request).enforced, true)
  t.same(await sallyport.reload({ ...base, policy: { rules }, mode: 'monitor', trustProxy: ['198.51.100.0/24'] }), {
    changed: ['mode', 'trustProxy'],
    needRestart: [],
  })
  t.equal(decide(request).enforced, false)
  t.ok(sallyport.isTrusted('198.51.100.7'))

  const kept = sallyport.config
  await t.rejects(sallyport.reload({ ...base, policy: { rules: [{ id: 'X', match: {}, action: 'block' }] } }), {
    code: 'invalid_config',
  })
  await t.rejects(
    sallyport.reload({ ...base, policy: { rules: [{ id: 'x', match: { country: ['??'] }, action: 'block' }] } }),
  )
  await t.rejects(sallyport.reload({ ...base, trustProxy: ['nobody'] }), { code: 'invalid_config' })
  t.equal(sallyport.config, kept)
  t.equal(decide(request).enforced, false)

  const told = await sallyport.reload({ ...base, listen: '127.0.0.1:1', limits: { ipv6Prefix: 48, inFlight: 9 } })
  t.same(told.needRestart, ['listen', 'limits.ipv6Prefix'])
  t.match(
    told.changed,
    ['mode', 'trustProxy', 'policy', 'limits'].sort(
      (one, other) => told.changed.indexOf(one) - told.changed.indexOf(other),
    ),
  )
  t.match(sallyport.config, { listen: '127.0.0.1:8080', limits: { ipv6Prefix: 64, inFlight: 9 } })
  const visits = (await sallyport.metrics().metrics()).matchAll(/^sallyport_visits_total\{.*\} (\d+)$/gm)
  t.equal(
    [...visits].reduce((sum, [, count]) => sum + Number(count), 0),
    5,
    'no reload begins to count again',
  )
})
