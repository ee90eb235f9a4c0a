import {
  ACTIONS,
  type Action,
  type AgentClass,
  type ClientTrust,
  type Clock,
  type Counter,
  counted,
  countUnjudged,
  parseTrust,
  SallyportError,
  type UnjudgedRule,
  unjudgedNotes,
  type Writable,
} from '@sallyport/core'
import { createTrialCounter, readPolicy, type Sallyport } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { percent } from '#console'
import { readAccessLog } from '../log/access/access-log.ts'
import type { AccessFormat } from '../log/access/format.ts'
import { ACCESS_FORMATS, READABLE } from '../log/access/formats.ts'
import { parseFields } from '../log/access/json.ts'
import { createProxied, type Proxied, proxiedNote } from '../log/access/proxied.ts'
import type { LoggedRequest } from '../log/access/reading.ts'
import { lateNote } from '../log/access/sort-lines.ts'
import { createUnread, describeUnread, type Unread } from '../log/access/unread.ts'
import { describeCut } from '../log/lines.ts'
import { countDescribed } from '../requests/requests.ts'
import {
  type JsonOptions,
  openOnce,
  readConfig,
  using,
  withJsonOptions,
  withoutOutbound,
} from '../settings/settings.ts'
import { inputName } from '../terminal/input.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly policy: string
  readonly format?: string | undefined
  readonly fields?: AccessFormat | undefined
}

/** Requests by action. */
type Actions = Record<Action, number>

/** The actions of two policies on one class of visitors. */
interface ClassRow {
  readonly class: AgentClass
  readonly requests: number
  readonly before: Actions
  readonly after: Actions
  /** Requests with another action. */
  readonly changed: number
  /** Requests that a rule on trial of the other policy would decide more strictly. */
  readonly onTrial: number
}

type Counts = Writable<Omit<ClassRow, 'class'>>

interface Replayed {
  readonly requests: number
  /** Requests whose times are earlier than those of requests long before them. */
  readonly late: number
  readonly unread: Unread
  readonly proxied: Proxied | undefined
  readonly classes: readonly ClassRow[]
  /** Rules of the other policy that lines leave open. */
  readonly unjudged: readonly UnjudgedRule[]
}

/** `sallyport replay LOG --policy FILE` */
export function addReplayCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('replay').description('decide recorded traffic by another policy'))
    .argument('<log>', 'an access log, or the decision log; - is standard input')
    .requiredOption('--policy <file>', 'the other policy: a YAML file, or a configuration that has one')
    .addOption(
      new Option('--format <name>', 'format (default: the first that fits)').choices(
        ACCESS_FORMATS.map(({ name }) => name),
      ),
    )
    .addOption(
      new Option(
        '--fields <names>',
        'members of other JSON, as ip=client.ip,target=url; also method, userAgent, at, status',
      )
        .argParser(parseFields)
        .conflicts('format'),
    )
    .action(async (log: string, options: Options) => {
      const policy = readPolicy(options.policy)
      const configuration = withoutOutbound(readConfig(options))
      let now = Date.now()
      const clock: Clock = { now: () => now }
      const other = { ...configuration, policy }
      const replayed = await using(openOnce(configuration, terminal), (before) =>
        using(openOnce(other, terminal), (after) => {
          const counters = { before: createTrialCounter(configuration, clock), after: createTrialCounter(other, clock) }
          return replay(
            {
              log,
              formats: formatsFor(options),
              trust: parseTrust(configuration.trustProxy, configuration.clientHeader),
              onCut: () => terminal.err(`sallyport: ${describeCut(log)}`),
            },
            async (request) => {
              now = request.at
              return decideTwice(request, { before, after }, counters)
            },
          )
        }),
      )
      const { requests, late, unread, proxied, classes, unjudged } = replayed
      if (requests === 0 && unread.lines > 0)
        throw new SallyportError(
          'invalid_request',
          `${inputName(log)}: not one of ${counted(unread.lines, 'line')} can be judged: ${unread.describe()}. ${READABLE}`,
        )
      const asked = countChallenged(classes)
      if (options.json)
        return terminal.out(
          json({ requests, late, asked, unread: unread.lines, lacking: unread.lacking, proxied, classes, unjudged }),
        )
      terminal.out(formatTable(replayed))
      if (asked.before + asked.after > 0) {
        const shares = `${percent(asked.before / requests)} → ${percent(asked.after / requests)}`
        terminal.out(
          `Challenged: ${shares} of the requests, at most: a log holds no passes, so a visitor who solved once counts each time.`,
        )
      }
      const behind = proxied === undefined ? [] : [proxiedNote(proxied, requests)]
      const disorder = late === 0 ? [] : [lateNote(late)]
      const open = unjudgedNotes(unjudged, requests, 'the log')
      const left = unread.lines === 0 ? [] : [describeUnread(unread)]
      for (const note of [counted(requests, 'request'), ...left, ...disorder, ...behind, ...open])
        terminal.out(dim(note))
      terminal.out(dim('A log holds no headers but the user agent: verdicts rest on that, the address and the path.'))
    })
}

function formatsFor({ format, fields }: Options): readonly AccessFormat[] {
  return fields === undefined ? ACCESS_FORMATS.filter(({ name }) => format === undefined || name === format) : [fields]
}

async function replay(
  {
    log,
    formats,
    trust,
    onCut,
  }: {
    readonly log: string
    readonly formats: readonly AccessFormat[]
    readonly trust: ClientTrust
    readonly onCut: () => void
  },
  decide: (request: LoggedRequest) => ReturnType<typeof decideTwice>,
): Promise<Replayed> {
  const rows = new Map<AgentClass, Counts>()
  const unread = createUnread()
  const proxied = createProxied()
  const unjudged = countUnjudged()
  let [requests, late] = [0, 0]
  for await (const { reading, isLate } of readAccessLog(log, formats, onCut, trust)) {
    if (isLate) late++
    if ('lacks' in reading) {
      unread.add(reading.lacks)
      continue
    }
    requests++
    proxied.add(reading.address)
    const decided = await decide(reading)
    const row = rows.get(decided.class) ?? { requests: 0, before: none(), after: none(), changed: 0, onTrial: 0 }
    rows.set(decided.class, row)
    row.requests++
    row.before[decided.before]++
    row.after[decided.after]++
    if (decided.before !== decided.after) row.changed++
    if (decided.onTrial) row.onTrial++
    unjudged.add(decided.unjudged)
  }
  const classes = [...rows].map(([name, row]) => ({ class: name, ...row }))
  return {
    requests,
    late,
    unread,
    proxied: proxied.result(requests),
    classes: classes.sort((x, y) => y.requests - x.requests),
    unjudged: unjudged.rules,
  }
}

/** Something of the policy in force and of the other. */
interface Both<T> {
  readonly before: T
  readonly after: T
}

async function decideTwice(request: LoggedRequest, { before, after }: Both<Sallyport>, counters: Both<Counter>) {
  const { address, method, target, at, status } = request
  const userAgent = request.userAgent === '' ? undefined : request.userAgent
  // That there was no user agent is known, and judged; what other headers there were is not.
  const fields = userAgent === undefined ? [] : ['User-Agent', userAgent]
  // A line without a user agent says nothing of the other headers either.
  const asked = { fields, kept: ['user-agent'], target }
  const about = { fields, headersKnown: userAgent === undefined, method, target, at, asked }
  const [first, second] = await Promise.all([
    countDescribed(counters.before, { userAgent }, await before.check(address, about), status),
    countDescribed(counters.after, { userAgent }, await after.check(address, about), status),
  ])
  const { agent } = first.inspection
  return {
    class: agent.class,
    before: first.action,
    after: second.action,
    onTrial: second.trial !== undefined,
    unjudged: second.unjudged ?? [],
  }
}

/** Requests that each policy would ask; those of rules on trial are under `onTrial`. */
function countChallenged(classes: readonly ClassRow[]): Both<number> {
  const sum = (policy: keyof Both<number>) => classes.reduce((all, row) => all + row[policy].challenge, 0)
  return { before: sum('before'), after: sum('after') }
}

function none(): Actions {
  return { allow: 0, flag: 0, redirect: 0, challenge: 0, throttle: 0, block: 0 }
}

function formatTable({ classes }: Replayed): string {
  const rows = classes.map((row) => [
    row.class,
    String(row.requests),
    ...ACTIONS.map((action) => formatStep(row.before[action], row.after[action])),
    String(row.changed),
    String(row.onTrial),
  ])
  return columns(rows, ['class', 'requests', ...ACTIONS, 'changed', 'on trial'])
}

function formatStep(before: number, after: number): string {
  return before === after ? String(before) : `${before} → ${after}`
}
