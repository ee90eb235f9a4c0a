import { availableParallelism } from 'node:os'
import { groupSources, testSources } from './runner/files.ts'
import { writeLine, writeSummary } from './runner/report.ts'
import { HEAP_MB, type Outcome, runGroup } from './runner/run-group.ts'

/* `npm test` and `npm run test:all`; either takes folders and files: `npm test -- packages/core`. */
const all = process.argv.includes('--all')
const under = process.argv.slice(2).filter((argument) => argument !== '--all')
const gear = all ? 'all' : 'quick'
const groups = groupSources(testSources(all, under))
const env = all ? process.env : { ...process.env, TEST_NEIGHBOURS: 'off' }

/** A group that hangs again ends sooner, so that the run is not lost with it. */
const MAX_SECONDS_ALONE = 300
const say = (text: string): void => void process.stdout.write(`${text}\n`)
const outcomes: Outcome[] = []
const waiting = groups.values()
/** Takes what waits, one group after another. Tests wait as much as they work: there is one more of these than processors. */
async function work(): Promise<void> {
  for (const group of waiting) {
    const outcome = await runGroup(group, env, HEAP_MB[gear])
    outcomes.push(outcome)
    say(writeLine(outcome))
  }
}
await Promise.all(Array.from({ length: availableParallelism() + 1 }, work))

// A group that failed beside the others runs once more, alone: only what fails again fails the run, and what did not is named.
const unsteady: Outcome[] = []
for (const [at, first] of outcomes.entries()) {
  const group = groups.find(({ name }) => name === first.name)
  if (first.failures.length === 0 || group === undefined) continue
  const again = await runGroup(group, env, HEAP_MB[gear], MAX_SECONDS_ALONE)
  say(`again, alone:\n${writeLine(again)}`)
  if (again.failures.length === 0) unsteady.push(first)
  outcomes[at] = again
}

if (outcomes.length === 0) say(`there is no test in ${under.join(', ')}`)
say(writeSummary(outcomes, unsteady))
if (outcomes.length === 0 || outcomes.some(({ failures }) => failures.length > 0)) process.exitCode = 1
