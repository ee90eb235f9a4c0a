import t from 'tap'
import { parse } from 'yaml'
import { parseConfig } from '../../src/config/parse.ts'
import { checkPolicyText, policyText, replacePolicy } from '../../src/config/policy-text.ts'

const GOOD = `# what we do
preset: low-friction
rules:
  - { id: no-tor, match: { networkClass: [tor] }, action: block }
`

t.test('a policy is read, alone or within a configuration', async (t) => {
  for (const text of [GOOD, `policy:\n  ${GOOD.trim().replaceAll('\n', '\n  ')}\n`]) {
    const { policy, faults } = checkPolicyText(text)
    t.same(faults, [])
    t.match(policy, { preset: 'low-friction', rules: [{ id: 'no-tor' }] })
  }
  t.match(checkPolicyText('').policy, { preset: 'low-friction', rules: [] })
  const { policy } = parseConfig({ policy: { rules: [{ id: 'a', match: { path: ['/a'] }, action: 'flag' }] } })
  t.same(checkPolicyText(policyText(policy)).policy, policy)
})

t.test('every fault has its line, and the nearest word', async (t) => {
  const text = 'rules:\n  - id: a\n    match: { networkClass: [torr], kuntry: [DE] }\n    action: blok\n'
  const { policy, faults } = checkPolicyText(text)
  t.equal(policy, undefined)
  const lines = faults.map(({ place }) => place?.line)
  t.same(lines, [3, 3, 4])
  t.match(faults.map(({ message }) => message).join(), /"torr" is unknown.*"tor"/)
  t.match(checkPolicyText('rules: [').faults[0]?.place, { line: 1 })
  t.match(checkPolicyText('- a\n- b').faults[0]?.message, /map/)
  t.equal(checkPolicyText('rules: [{ id: all, match: {}, action: allow }]').warnings.length, 1)
})

t.test('rules that stay are as they were written, comments too, and so is the rest of the file', async (t) => {
  const file = `# the gate of our shop
listen: 127.0.0.1:8080 # inside
policy:
  preset: observe # for now
  rules:
    # the owner asked for it
    - { id: no-tor, match: { networkClass: [ tor ] }, action: block }
    - id: slow # on weekdays
      match: { path: [ /search ] }
      action: flag
watch: true
`
  const before = parseConfig(parse(file)).policy
  const rule = { id: 'block-openai', match: { operator: ['OpenAI'] }, action: 'block' } as const
  const added = replacePolicy(file, policyText({ ...before, rules: [rule, ...before.rules] }))
  t.match(parse(added).policy.rules, [rule, { id: 'no-tor' }, { id: 'slow' }])
  for (const line of file.split('\n')) t.ok(added.includes(line), line)
  t.equal(replacePolicy(added, policyText(before)), file)
  const slow = '{ id: slow, match: { path: [/search] }, action: flag }'
  const other = replacePolicy(file, `preset: low-friction\nrules: [${slow}]`)
  t.match(other, /preset: low-friction\n {2}rules:\n(?: {4}#.*\n)? {4}- id: slow # on weekdays/)
  t.notMatch(other, /no-tor/)
  const changed = replacePolicy(file, GOOD)
  t.match(changed, /^# the gate of our shop\nlisten: 127\.0\.0\.1:8080 # inside\n.*no-tor.*watch: true/s)
  t.notMatch(changed, /observe/)
  t.notMatch(replacePolicy(file, 'rules: []'), /preset/)
  t.match(replacePolicy('listen: 127.0.0.1:1\n', GOOD), /policy:\n {2}# what we do\n {2}preset: low-friction/)
  t.throws(() => replacePolicy(file, 'rules: 1'), { code: 'invalid_config' })
})
