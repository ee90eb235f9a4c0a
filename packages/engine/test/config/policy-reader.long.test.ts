import t from 'tap'
import { openPolicyReader } from '../../src/config/policy-reader.ts'
import { openMade } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

/* A machine that is busy takes long to start a thread. */
const PATIENT = { deadlineMs: 600_000 }

/** Texts of 32 KB, each of which took a parser long at least once. */
const HEAVY = {
  anchors: `a: [${Array.from({ length: 4_000 }, (_, index) => `&a${index} 1`).join(',')}]`,
  aliases: `a: &a [1]\nb: [${'*a,'.repeat(10_000)}]`,
  colons: ':'.repeat(32_768),
  'colons and spaces': ': '.repeat(16_384),
  'colons by line': ':\n'.repeat(16_384),
  questions: '? '.repeat(16_384),
  brackets: '['.repeat(32_768),
  braces: '{'.repeat(32_768),
  pairs: '['.repeat(16_384) + ']'.repeat(16_384),
  dashes: '- '.repeat(16_384),
  'a match within a match': `rules: [{ id: a, action: block, match: ${'{not: '.repeat(4_000)}${'}'.repeat(4_000)} }]`,
  commas: `[${','.repeat(32_000)}]`,
  quotes: '"'.repeat(32_768),
  tags: '! '.repeat(16_384),
  keys: Array.from({ length: 4_000 }, (_, index) => `k${index}: 1`).join('\n'),
  rules: `rules: [${'{},'.repeat(10_000)}]`,
} as const

t.test('no text stops what else there is to do, and each has an answer', async (t) => {
  const reader = openPolicyReader(PATIENT)
  t.teardown(reader.close)
  // The first check waits until the thread has started.
  await reader.check('')
  // A thread may answer a short text before this one has its next turn, so that turns are counted over all texts.
  let turns = 0
  for (const [name, text] of Object.entries(HEAVY)) {
    let timer = setImmediate(function turn() {
      turns++
      timer = setImmediate(turn)
    })
    const answer = await reader.check(text).catch((error) => error)
    clearImmediate(timer)
    if (answer instanceof Error) t.match(answer, { code: 'invalid_policy' }, name)
    else t.ok(answer.faults.length > 0 && answer.faults.length <= 100, `${name}: ${answer.faults.length} faults`)
  }
  t.ok(turns > 0, `${turns} turns of others`)
  t.match((await reader.check('preset: observe')).policy, { preset: 'observe' }, 'and it goes on')
})

t.test('a text that takes too long is ended, and the next one is read', async (t) => {
  const reader = openPolicyReader({ deadlineMs: 1 })
  t.teardown(reader.close)
  const late = reader.check(HEAVY.commas)
  await t.rejects(late, { code: 'invalid_policy', message: /longer than 0\.001 s/ })
  const patient = openPolicyReader(PATIENT)
  t.teardown(patient.close)
  const eight = Array.from({ length: 8 }, () => patient.check('rules: 1'))
  for (const found of await Promise.all(eight)) t.match(found, { faults: [{}] })
  const crowd = await Promise.allSettled(Array.from({ length: 10 }, () => patient.check('')))
  for (const [at, { status }] of crowd.entries()) t.equal(status, at < 8 ? 'fulfilled' : 'rejected')
  t.match(crowd.at(-1), { reason: { code: 'service_unavailable' } })
})

t.test('a draft is tried on what was seen, as long as there is time', async (t) => {
  const sallyport = await openMade(t)
  const reader = openPolicyReader(PATIENT)
  t.teardown(reader.close)
  const star = '{ id: rN, match: { path: ["/*a*b*c*d*z"] }, action: block }'
  const stars = Array.from({ length: 300 }, (_, id) => star.replace('N', `${id}`))
  const heavy = await reader.check(`rules: [${stars.join()}]`)
  if (heavy.policy === undefined) throw new Error('a fault')
  const target = `/${'abcd'.repeat(1_700)}`
  const { inspection } = sallyport.decide({ ...requestFrom('8.1.0.1'), target })
  const long = { inspection, userAgent: 'curl/8.5.0' }
  const judged = await reader.judge([heavy.policy], new Array(200).fill(long)).catch((error) => error)
  if (judged instanceof Error) t.match(judged, { code: 'invalid_policy' })
  else t.ok(judged.length >= 1 && judged.length <= 200, `${judged.length} of 200`)
})
