import t from 'tap'
import { openPolicyReader } from '../../src/config/policy-reader.ts'
import { open } from '../../src/open/open.ts'
import { madeConfig } from '../open/made-sources.ts'

/* A machine that is busy takes long to start a thread. */
const PATIENT = { deadlineMs: 600_000 }

t.test('a policy says a thing where it means it: no anchors, aliases or merge keys', async (t) => {
  const reader = openPolicyReader(PATIENT)
  t.teardown(reader.close)
  for (const text of ['preset: &a observe', 'rules: []\npreset: *a', 'rules:\n  - &r { id: a }', '&a {}', '<<: {}']) {
    const { policy, faults } = await reader.check(text)
    t.equal(policy, undefined, text)
    t.ok(faults.length > 0, text)
  }
  t.match((await reader.check('mode: 1\nrules:\n  - { <<: { id: a } }')).faults[0], {
    message: /anchors, aliases and merge keys are not supported here/,
    place: { line: 3 },
  })
})

t.test('another policy is put into a configuration, whose anchors are its own', async (t) => {
  const reader = openPolicyReader(PATIENT)
  const before = 'listen: &here 127.0.0.1:1\nadmin: *here\npolicy: { preset: observe }\n'
  t.match(await reader.replace(before, 'preset: low-friction'), /admin: \*here\npolicy: \{ preset: low-friction \}/)
  await t.rejects(reader.replace(before, 'rules: 1'), { code: 'invalid_policy', message: /rules/ })
  await reader.close()
  await t.rejects(reader.check(''), { code: 'service_unavailable' })
})

t.test('a draft is tried on what was seen', async (t) => {
  const sallyport = await open(madeConfig(t.testdir()))
  const reader = openPolicyReader(PATIENT)
  t.teardown(() => Promise.all([reader.close(), sallyport.close()]))
  const fields = ['User-Agent', 'curl/8.5.0']
  const seen = (target: string) =>
    sallyport.decide({ peer: '8.1.0.1', method: 'GET', target, scheme: 'http', httpVersion: '1.1', fields }).inspection
  const requests = ['/', '/admin'].map((target) => ({
    inspection: seen(target),
    observed: { userAgent: 'curl/8.5.0', host: 'a.example' },
  }))
  const { policy } = await reader.check('rules: [{ id: a, match: { path: [/admin] }, action: block }]')
  if (policy === undefined) throw new Error('a fault')
  t.match(await reader.judge([policy], requests), [
    [{ action: 'allow' }],
    [{ action: 'block', because: /"a"/, unjudged: [] }],
  ])
  const asked = await reader.check(
    'rules: [{ id: c, match: { cookie: { a: ["*"] }, host: [a.example] }, action: block }, { id: h, match: { host: ["a.*"] }, action: flag }]',
  )
  if (asked.policy === undefined) throw new Error('a fault')
  const [[first] = []] = await reader.judge([asked.policy], requests)
  t.match(first, { action: 'flag', unjudged: [{ rule: 'c', words: ['cookie'] }] })
})
