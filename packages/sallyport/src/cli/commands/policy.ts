import { type Clock, counted, type Decision, parseDuration, SallyportError, type Signer } from '@sallyport/core'
import { createTrialCounter, openSimulated, type PolicyTest, readPolicyTests } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { FLAG, unjudgedText } from '#console'
import { describeEvent, judgeEvent } from '../requests/events.ts'
import { countDescribed, type DescribedRequest, decideDescribed, listFields } from '../requests/requests.ts'
import { findVisitor, publishedKeys, requestFields, throwAwaySigner } from '../requests/simulated-agents.ts'
import { type JsonOptions, readConfig, using, withJsonOptions, withoutOutbound } from '../settings/settings.ts'
import { bold, dim, json, type Terminal } from '../terminal/terminal.ts'
import { formatOutcome, OUTCOME_FORMS, type Outcome } from './policy-outcomes.ts'

interface TestOptions extends JsonOptions {
  readonly format?: keyof typeof OUTCOME_FORMS
  readonly verbose?: true
}

export function addPolicyCommands(program: Command, terminal: Terminal): void {
  const policy = program.command('policy').description('test a policy before it is in force')

  withJsonOptions(policy.command('test').description('run the policy tests of a file; exit 1 if a test fails'))
    .argument('<file>', 'YAML file with tests (request and expectation) and an optional policy')
    .addOption(new Option('--format <form>', 'output format for CI').choices(Object.keys(OUTCOME_FORMS)))
    .option('--verbose', 'also print rules that could not be evaluated')
    .action(async (file: string, options: TestOptions) => {
      const { policy, tests } = readPolicyTests(file)
      const configuration = withoutOutbound(readConfig(options))
      const start = mondayNoon(Date.now())
      let now = start
      let flagged = false
      const clock: Clock = { now: () => now }
      const tested = policy === undefined ? configuration : { ...configuration, policy }
      const signer = throwAwaySigner()
      const opening = openSimulated(publishedKeys(signer), tested, { clock, onNotice: () => {} })
      const outcomes = await using(opening, async (sallyport) => {
        const done: Outcome[] = []
        for (const test of tests) {
          now = start
          const counter = createTrialCounter(tested, clock)
          let decision: Decision | undefined
          for (const { request: given, event, at, status, times, every } of [...test.before, test]) {
            if (at !== undefined) now = Date.parse(at)
            for (let time = 0; time < times; time++) {
              if (time > 0) now += parseDuration(every) ?? 0
              const request = addVisitor(given, signer, now)
              const decided = await decideDescribed(sallyport, request)
              decision = event
                ? await judgeEvent(counter, decided, describeEvent(event), listFields(request))
                : await countDescribed(counter, request, decided, status)
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

/** Returns noon of the last Monday in UTC: a test file gives the same result at each second, and data is as old as today's. */
function mondayNoon(now: number): number {
  const date = new Date(now)
  const days = (date.getUTCDay() + 6) % 7
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() - days, 12)
}

/** Adds the address and the fields of the named visitor to a request over https; what the file writes takes precedence. */
function addVisitor(request: PolicyTest['request'], signer: Signer, now: number): DescribedRequest {
  const { as, ip = '', headers = {}, host = 'shop.example', scheme, ...rest } = request
  if (as === undefined) return { ...request, ip }
  const visitor = findVisitor(as)
  const aim = { host, method: rest.method, target: rest.path, scheme: 'https' } as const
  const fields = requestFields(visitor, aim, signer, { now })
  const own = Object.fromEntries(fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : [])))
  return {
    ...rest,
    ip: ip || visitor.address,
    host,
    scheme: scheme === 'unknown' ? 'https' : scheme,
    headers: { ...own, ...headers },
  }
}

function compareOutcome({ name, expect }: PolicyTest, decision: Decision): Outcome {
  const found = {
    action: decision.action,
    class: decision.inspection.agent.class,
    rule: decision.reasons[0]?.id.replace('policy:', ''),
    enforced: decision.enforced,
    trial: decision.trial?.action ?? 'none',
    status: decision.action === 'block' ? (decision.status ?? 403) : decision.action === 'offer' ? 402 : 'none',
  }
  const members = ['action', 'class', 'rule', 'enforced', 'trial', 'status'] as const
  const wrong = members
    .filter((member) => expect[member] !== undefined && expect[member] !== found[member])
    .map((member) => `${member} is ${found[member]}, not ${expect[member]}`)
  const unjudged = (decision.unjudged ?? []).map(({ rule, words }) => unjudgedText(rule, words))
  return { name, passed: wrong.length === 0, wrong, unjudged }
}
