import t from 'tap'
import { countUnjudged, unjudgedNotes } from '../src/index.ts'

t.test('rules that ask for the same are in one note, and a note names ten', async (t) => {
  const count = countUnjudged()
  for (let at = 0; at < 3_000; at++) count.add([{ rule: 'budget', words: ['pass'] }])
  count.add([
    { rule: 'asked', words: ['pass'] },
    { rule: 'session', words: ['cookie'] },
  ])
  const [first, ...others] = unjudgedNotes(count.rules, 3_001, 'the log')
  t.equal(first, 'Rules budget, asked are not judged in up to 3,000 of 3,001 requests: the log has no pass.')
  t.same(others, ['Rule session is not judged in 1 of 3,001 requests: the log has no cookie.'])

  const many = Array.from({ length: 12 }, (_, at) => ({ rule: `r${at}`, words: ['header'], requests: 12 - at }))
  t.match(unjudgedNotes(many, 12, 'the log'), [/^Rules r0, .* r9 and 2 more are not judged in up to 12 of 12 requests/])
  const apart = many.map((row, at) => ({ ...row, words: [`word${at}`] }))
  t.equal(unjudgedNotes(apart, 12, 'the log').at(-1), '2 notes of this kind are left out.')
})
