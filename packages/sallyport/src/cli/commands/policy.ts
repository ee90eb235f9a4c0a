import { type Clock, counted, type Decision, parseDuration, SallyportError } from '@sallyport/core'
import { createTrialCounter, open, type PolicyTest, readPolicyTests, type TestedRequest } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { FLAG, unjudgedText } from '#console'
import { countDescribed, decideDescribed } from '../requests/requests.ts'
import { SIMULATED_AGENTS } from '../requests/simulated-agents.ts'
import { type JsonOptions, readConfig, using, withJsonOptions, withoutOutbound } from '../settings/settings.ts'
import { bold, dim, json, type Terminal } from '../terminal/terminal.ts'
import { formatOutcome, OUTCOME_FORMS, type Outcome } from './policy-outcomes.ts'

interface TestOptions extends JsonOptions {
  readonly format?: keyof typeof OUTCOME_FORMS
  readonly verbose?: true
}

/** `sallyport policy test` */
export function addPolicyCommands(program: Command, terminal: Terminal): void {
  const policy = program.command('policy').description('try a policy before it is in force')

  withJsonOptions(policy.command('test').description('run the tests of a file; exits 1 if one fails'))
    .argument('<file>', 'YAML: an optional policy, and tests of a request and what is expected')
    .addOption(new Option('--format <form>', 'form for a CI').choices(Object.keys(OUTCOME_FORMS)))
    .option('--verbose', 'also print the rules that could not be judged')
    .action(async (file: string, options: TestOptions) => {
      const { policy, tests } = readPolicyTests(file)
      const configuration = withoutOutbound(readConfig(options))
      const start = mondayNoon(Date.now())
      let now = start
      let flagged = false
      const clock: Clock = { now: () => now }
      const tested = policy === undefined ? configuration : { ...configuration, policy }
      const outcomes = await using(open(tested, { clock, onNotice: () => {} }), async (sallyport) => {
        const done: Outcome[] = []
        for (const test of tests) {
          now = start
          const counter = createTrialCounter(tested, clock)
          let decision: Decision | undefined
          for (const { request: given, at, status, times, every } of [...test.before, test]) {
            const request = asVisitor(given)
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
      const isForPeople = !options.json && options.format === undefined
      if (options.json) terminal.out(json(outcomes))
      else if (options.format !== undefined) terminal.out(OUTCOME_FORMS[options.format](outcomes))
      else for (const outcome of outcomes) terminal.out(formatOutcome(outcome, options.verbose === true))
      if (isForPeople && flagged) terminal.out(dim(`A flag ${FLAG}.`))
      if (failed.length > 0) {
        throw new SallyportError(
          'policy_test_failed',
          `${failed.length} of ${counted(outcomes.length, 'expectation')} not met`,
        )
      }
      if (isForPeople) terminal.out(bold(`${counted(outcomes.length, 'expectation')} met`))
    })
}

/** Noon of the last Monday in UTC: a file says the same at each second, and data is as old as today's. */
function mondayNoon(now: number): number {
  const date = new Date(now)
  const days = (date.getUTCDay() + 6) % 7
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() - days, 12)
}

/** A request with the headers of the visitor that it names, over https; what is written goes before them. */
function asVisitor(request: TestedRequest): TestedRequest {
  const { as, headers = {}, host = 'shop.example', scheme, ...rest } = request
  if (as === undefined) return request
  const visitor = SIMULATED_AGENTS.find(({ name }) => name === as)
  if (visitor === undefined) {
    const names = SIMULATED_AGENTS.map(({ name }) => name)
    throw new SallyportError('invalid_config', `as: "${as}" is no visitor: ${names.join(', ')}`)
  }
  const own = Object.fromEntries(
    visitor.headers.flatMap((name, at) => (at % 2 === 0 ? [[name, visitor.headers[at + 1] ?? '']] : [])),
  )
  return { ...rest, host, scheme: scheme === 'unknown' ? 'https' : scheme, headers: { Host: host, ...own, ...headers } }
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
