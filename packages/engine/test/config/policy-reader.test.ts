import t from 'tap'
import { openPolicyReader } from '../../src/config/policy-reader.ts'
import { openMade } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

/* A machine that is busy takes long to start a thread. */
const PATIENT = { deadlineMs: 600_000 }

t.test('a draft has no anchors or aliases, and replaces the policy of a file that may have them', async (t) => {
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
  const before = 'listen: &here 127.0.0.1:1\nadmin: *here\npolicy: { preset: observe }\n'
  t.match(await reader.replace(before, 'preset: low-friction'), /admin: \*here\npolicy: \{ preset: low-friction \}/)
  await t.rejects(reader.replace(before, 'rules: 1'), { code: 'invalid_policy', message: /rules/ })
  await reader.close()
  await t.rejects(reader.check(''), { code: 'service_unavailable' })
})

t.test('a draft is tried on what was seen', async (t) => {
  const sallyport = await openMade(t)
  const reader = openPolicyReader(PATIENT)
  t.teardown(reader.close)
  const request = requestFrom('8.1.0.1', ['User-Agent', 'curl/8.5.0'])
  const observed = { userAgent: 'curl/8.5.0', host: 'a.example' }
  const requests = ['/', '/admin'].map((target) => {
    return { inspection: sallyport.decide({ ...request, target }).inspection, observed }
  })
  const judge = async (...rules: readonly string[]) => {
    const { policy } = await reader.check(`rules: [${rules.join()}]`)
    if (policy === undefined) throw new Error('a fault')
    return reader.judge([policy], requests)
  }
  const judged = await judge('{ id: a, match: { path: [/admin] }, action: block }')
  t.match(judged, [[{ action: 'allow' }], [{ action: 'block', because: /"a"/, unjudged: [] }]])
  const cookie = '{ id: c, match: { cookie: { a: ["*"] }, host: [a.example] }, action: block }'
  const [[first] = []] = await judge(cookie, '{ id: h, match: { host: ["a.*"] }, action: flag }')
  t.match(first, { action: 'flag', unjudged: [{ rule: 'c', words: ['cookie'] }] })
})
