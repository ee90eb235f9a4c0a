import t from 'tap'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import type { Rule } from '../src/policy/policy.ts'
import { robotsOf } from '../src/robots/robots-text.ts'
import { usageOf } from '../src/robots/usage.ts'

const NO_TRAINING: Rule = { id: 'no-training', match: { path: ['/blog/**'], purpose: ['training'] }, action: 'block' }

function partsOf(rules: readonly Rule[], mode: 'enforce' | 'monitor' = 'enforce') {
  return [{ policy: compilePolicy({ preset: 'observe', rules }), mode }]
}

t.test('answers say by path what the policy and the wishes come to', async (t) => {
  const usage = usageOf({
    parts: partsOf([NO_TRAINING]),
    signals: { search: 'yes', 'ai-input': 'no' },
    license: 'https://a.example/license.xml',
  })
  const link = '<https://a.example/license.xml>; rel="license"; type="application/rsl+xml"'
  const at = (path: string) => usage.fieldsOf(path)
  t.same(at('/'), { 'content-usage': 'search=y', link })
  t.same(at('/blog/a'), { 'content-usage': 'search=y, train-ai=n', link })
  t.equal(at('/blog/a'), at('/blog/b'), 'made once')
  const { text } = robotsOf({ parts: partsOf([NO_TRAINING]), license: 'https://a.example/license.xml' })
  t.match(text, /^License: https:\/\/a\.example\/license\.xml$/m)
})

t.test('a wish gives way to what is refused, and in monitor mode nothing is', async (t) => {
  const signals = { 'ai-train': 'yes' } as const
  t.match(usageOf({ parts: partsOf([NO_TRAINING]), signals }).fieldsOf('/blog/a'), {
    'content-usage': 'train-ai=n',
  })
  t.match(usageOf({ parts: partsOf([NO_TRAINING], 'monitor'), signals }).fieldsOf('/blog/a'), {
    'content-usage': 'train-ai=y',
  })
  t.same(usageOf({ parts: partsOf([]) }).fieldsOf('/'), {})
  const half = { ...NO_TRAINING, match: { path: ['/blog/**'], crawler: ['gptbot'] } }
  t.same(usageOf({ parts: partsOf([half]) }).fieldsOf('/blog/a'), {}, 'one crawler is not the use')
})
