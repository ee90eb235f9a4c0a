import t from 'tap'
import { CHECK_NAMES, CHECK_STATUSES, type Check, findMethod, judge, type Spoofed } from '../src/crawler/outcome.ts'

function makeChecks(statuses: readonly Check['status'][]): readonly Check[] {
  return statuses.map((status, index) => ({ name: CHECK_NAMES[index % 4] ?? 'catalogue', status, detail: status }))
}

function combinations(count: number): readonly (readonly Check['status'][])[] {
  if (count === 0) return [[]]
  return combinations(count - 1).flatMap((rest) => CHECK_STATUSES.map((status) => [...rest, status]))
}

t.test('the rules of the specification, over every combination of checks', async (t) => {
  const all = [0, 1, 2, 3, 4].flatMap(combinations)
  t.equal(all.length, 1 + 4 + 16 + 64 + 256)
  for (const statuses of all) {
    const { outcome } = judge(makeChecks(statuses))
    const couldRun = statuses.filter((status) => status !== 'not-applicable')
    const allRefuted = couldRun.length > 0 && couldRun.every((status) => status === 'refuted')
    const expected = statuses.includes('passed') ? 'verified' : allRefuted ? 'spoofed' : 'unverifiable'
    if (outcome !== expected) t.equal(outcome, expected, statuses.join())
  }
  t.pass(`${all.length} combinations`)
})

t.test('the method names what decided', async (t) => {
  t.equal(findMethod(judge(makeChecks(['not-applicable', 'refuted', 'not-applicable', 'passed']))), 'reverse DNS')
  const both = makeChecks(['not-applicable', 'refuted', 'not-applicable', 'refuted'])
  t.equal(findMethod(judge(both)), 'published ranges, reverse DNS')
  t.equal(findMethod(judge(makeChecks(['refuted', 'could-not-run']))), undefined)
})

t.test('an accusation beside a check that did not run is no value of the type', async (t) => {
  const refuted = { name: 'published ranges', status: 'refuted', detail: '' } as const
  const notRun = { name: 'reverse DNS', status: 'could-not-run', detail: '' } as const
  const passed = { name: 'reverse DNS', status: 'passed', detail: '' } as const
  // @ts-expect-error: a check that could not run has no place here
  const withNotRun: Spoofed = { outcome: 'spoofed', refutedBy: [refuted], checks: [refuted, notRun] }
  // @ts-expect-error: nor has one that passed
  const withPassed: Spoofed = { outcome: 'spoofed', refutedBy: [refuted], checks: [refuted, passed] }
  // @ts-expect-error: and nothing is an accusation that nothing refuted
  const byNothing: Spoofed = { outcome: 'spoofed', refutedBy: [], checks: [] }
  t.equal([withNotRun, withPassed, byNothing].length, 3)
})
