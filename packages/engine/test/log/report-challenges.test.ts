import type { ChallengeStep } from '@sallyport/core'
import t from 'tap'
import { createReport, lineOf } from '../../src/log/index.ts'
import { decisionFor, observed } from './observed.ts'

function lineFor(challenge: ChallengeStep, rule: string, pass = false) {
  const decision = decisionFor('challenge', rule)
  const held = { id: 'AAAAAAAAAAA', level: 2, age: 300 } as const
  const inspection = pass ? { ...decision.inspection, pass: held } : decision.inspection
  return lineOf(observed({ challenge: { ...challenge, rule }, decision: { ...decision, inspection } }), undefined)
}

t.test('a report has what came of the questions of each rule', async (t) => {
  const report = createReport()
  for (let visit = 0; visit < 12; visit++) {
    report.add(lineFor({ outcome: 'asked', level: 2 }, 'people'))
    report.add(lineFor({ outcome: 'asked', level: 2 }, 'budget', true))
    report.add(lineFor({ outcome: 'solved', level: 2, seconds: 1 }, 'budget', true))
    report.add(lineFor({ outcome: 'asked', level: 1 }, 'robots'))
    if (visit < 7) report.add(lineFor({ outcome: visit < 4 ? 'solved' : 'waited', level: 2, seconds: 1 }, 'people'))
  }
  report.add(lineFor({ outcome: 'asked', level: 2 }, 'rare'))
  report.add(lineFor({ outcome: 'solved', level: 2, seconds: 1 }, 'rare'))
  for (const outcome of ['wrong', 'wrong', 'spent', 'program', 'form', 'waiting'] as const) {
    report.add(lineFor({ outcome, level: 1 }, 'robots'))
  }
  const { carriedOut, challenges } = report.result()
  t.match(carriedOut, { blocked: 0, flagged: 0, asked: 62, unshown: 1 })
  t.match(
    carriedOut.byRule.rows.find(({ name }) => name === 'people'),
    { blocked: 0, flagged: 0, asked: 19 },
  )
  const of = (name: string) => challenges.find(({ rule }) => rule === name)
  const none = { failed: {}, unshown: 0 }
  t.same(of('people'), { rule: 'people', asked: 12, solved: 7, left: 5, mostSolve: true, ...none })
  t.same(
    of('budget'),
    { rule: 'budget', asked: 12, solved: 12, left: 0, mostSolve: false, ...none },
    'they held a pass',
  )
  t.same(of('rare'), { rule: 'rare', asked: 1, solved: 1, left: 0, mostSolve: false, ...none }, 'one says nothing')
  t.same(of('robots'), {
    rule: 'robots',
    asked: 12,
    solved: 0,
    failed: { wrong: 2, spent: 1 },
    left: 12,
    unshown: 2,
    mostSolve: false,
  })
})

t.test('monitor mode and trials count what would have been asked', async (t) => {
  const report = createReport()
  report.add(lineOf(observed({ decision: { ...decisionFor('challenge', 'ask'), enforced: false } }), undefined))
  const trial = { rule: 'try-it', action: 'challenge' } as const
  report.add(lineOf(observed({ decision: { ...decisionFor('allow', 'default'), trial } }), undefined))
  const { carriedOut, wouldHave, challenges } = report.result()
  t.match(carriedOut, { asked: 0 })
  t.match(wouldHave, { asked: 2, flagged: 0, blocked: 0 })
  t.same(
    wouldHave.byRule.rows.map(({ name, asked }) => [name, asked]),
    [
      ['ask', 1],
      ['try-it', 1],
    ],
  )
  t.same(challenges, [])
})

t.test('an action of another name is counted as a flag', (t) => {
  const report = createReport()
  const line = lineOf(observed({ decision: decisionFor('flag', 'ask') }), undefined)
  report.add({ ...line, action: 'constructor' as 'flag' })
  t.match(report.result().carriedOut, { blocked: 0, flagged: 1 })
  t.end()
})
