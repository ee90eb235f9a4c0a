import { type Clock, counted, type Decision, parseDuration, SallyportError } from '@sallyport/core'
import { createTrialCounter, open, type PolicyTest, readPolicyTests } from '@sallyport/engine'
import type { Command } from 'commander'
import { FLAG, unjudgedText } from '#console'
import { countDescribed, decideDescribed } from '../requests/requests.ts'
import { type JsonOptions, readConfig, using, withJsonOptions, withoutOutbound } from '../settings/settings.ts'
import { bold, dim, json, type Terminal } from '../terminal/terminal.ts'

/** The outcome of one expectation; `wrong` has a line for each member that differs. */
interface Outcome {
  readonly name: string
  readonly passed: boolean
  readonly wrong: readonly string[]
  /** Rules that what is said of the request leaves open, and why. */
  readonly unjudged: readonly string[]
}

/** `sallyport policy test` */
export function addPolicyCommands(program: Command, terminal: Terminal): void {
  const policy = program.command('policy').description('try a policy before it is in force')

  withJsonOptions(policy.command('test').description('run the tests of a file; exits 1 if one fails'))
    .argument('<file>', 'YAML: an optional policy, and tests of a request and what is expected')
    .action(async (file: string, options: JsonOptions) => {
      const { policy, tests } = readPolicyTests(file)
      const configuration = withoutOutbound(readConfig(options))
      let now = Date.now()
      let flagged = false
      const clock: Clock = { now: () => now }
      const tested = policy === undefined ? configuration : { ...configuration, policy }
      const outcomes = await using(open(tested, { clock, onNotice: () => {} }), async (sallyport) => {
        const done: Outcome[] = []
        for (const test of tests) {
          now = Date.now()
          const counter = createTrialCounter(tested, clock)
          let decision: Decision | undefined
          for (const { request, at, status, times, every } of [...test.before, test]) {
            if (at !== undefined) now = Date.parse(at)
            for (let time = 0; time < times; time++) {
              if (time > 0) now += parseDuration(every) ?? 0
              decision = await countDescribed(counter, request, await decideDescribed(sallyport, request), status)
            }
          }
          if (decision === undefined) continue
          flagged ||= decision.action === 'flag'
          done.push(compareOutcome(test, decision))
        }
        return done
      })
      const failed = outcomes.filter(({ passed }) => !passed)
      if (options.json) terminal.out(json(outcomes))
      else for (const outcome of outcomes) terminal.out(formatOutcome(outcome))
      if (!options.json && flagged) terminal.out(dim(`A flag ${FLAG}.`))
      if (failed.length > 0) {
        throw new SallyportError(
          'policy_test_failed',
          `${failed.length} of ${counted(outcomes.length, 'expectation')} not met`,
        )
      }
      if (!options.json) terminal.out(bold(`${counted(outcomes.length, 'expectation')} met`))
    })
}

function compareOutcome({ name, expect }: PolicyTest, decision: Decision): Outcome {
  const found = {
    action: decision.action,
    class: decision.inspection.agent.class,
    rule: decision.reasons[0]?.id.replace('policy:', ''),
    enforced: decision.enforced,
    trial: decision.trial?.action ?? 'none',
  }
  const members = ['action', 'class', 'rule', 'enforced', 'trial'] as const
  const wrong = members
    .filter((member) => expect[member] !== undefined && expect[member] !== found[member])
    .map((member) => `${member} is ${found[member]}, not ${expect[member]}`)
  const unjudged = (decision.unjudged ?? []).map(({ rule, words }) => unjudgedText(rule, words))
  return { name, passed: wrong.length === 0, wrong, unjudged }
}

function formatOutcome({ name, passed, wrong, unjudged }: Outcome): string {
  const line = passed ? `ok      ${name}` : `failed  ${name}: ${wrong.join('; ')}`
  return [line, ...unjudged.map((text) => dim(`        not judged: ${text}`))].join('\n')
}
