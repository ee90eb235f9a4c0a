import { ACTIONS, counted } from '@sallyport/core'
import { readPolicy } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { percent } from '#console'
import { ACCESS_FORMATS } from '../log/access/access-log.ts'
import { parseFields } from '../log/access/json.ts'
import type { AccessFormat, LoggedRequest } from '../log/access/reading.ts'
import {
  type Both,
  type ClassRow,
  createDecider,
  NO_PASSES,
  type Replayed,
  replayLog,
  replayNotes,
} from '../replay/replay.ts'
import {
  type JsonOptions,
  openOnce,
  readConfig,
  using,
  withJsonOptions,
  withoutOutbound,
} from '../settings/settings.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

interface Options extends JsonOptions {
  readonly policy: string
  readonly format?: string | undefined
  readonly fields?: AccessFormat | undefined
}

export function addReplayCommand(program: Command, terminal: Terminal): void {
  withJsonOptions(program.command('replay').description('replay recorded traffic with another policy'))
    .argument('<log>', 'access log or decision log; - reads standard input')
    .requiredOption('--policy <file>', 'policy to compare: a policy file or configuration file (YAML)')
    .addOption(
      new Option('--format <name>', 'log format (default: detected)').choices(ACCESS_FORMATS.map(({ name }) => name)),
    )
    .addOption(
      new Option(
        '--fields <names>',
        `JSON members, such as ip=client.ip,target=url; also method, userAgent, at, status`,
      )
        .argParser(parseFields)
        .conflicts('format'),
    )
    .action(async (log: string, options: Options) => {
      const policy = readPolicy(options.policy)
      const configuration = withoutOutbound(readConfig(options))
      const other = { ...configuration, policy }
      const replayed = await using(openOnce(configuration, terminal), (first) =>
        using(openOnce(other, terminal), (second) => {
          const [decideBefore, decideAfter] = [createDecider(first, configuration), createDecider(second, other)]
          const decide = async (request: LoggedRequest) => {
            const [before, after] = await Promise.all([decideBefore(request), decideAfter(request)])
            return { before, after }
          }
          return replayLog(log, configuration, decide, terminal, formatsFor(options))
        }),
      )
      const { requests, classes } = replayed
      const asked = countChallenged(classes)
      if (options.json) return terminal.out(json({ ...replayed, asked }))
      terminal.out(formatTable(replayed))
      if (asked.before + asked.after > 0) {
        const shares = `${percent(asked.before / requests)} → ${percent(asked.after / requests)}`
        terminal.out(`Challenged: at most ${shares} of the requests, because ${NO_PASSES}`)
      }
      for (const note of [counted(requests, 'request'), ...replayNotes(replayed)]) terminal.out(dim(note))
    })
}

function formatsFor({ format, fields }: Options): readonly AccessFormat[] {
  return fields === undefined ? ACCESS_FORMATS.filter(({ name }) => format === undefined || name === format) : [fields]
}

function countChallenged(classes: readonly ClassRow[]): Both<number> {
  const sum = (policy: keyof Both<number>) => classes.reduce((all, row) => all + row[policy].challenge, 0)
  return { before: sum('before'), after: sum('after') }
}

function formatTable({ classes }: Replayed): string {
  const rows = classes.map((row) => [
    row.class,
    String(row.requests),
    ...ACTIONS.map((action) => formatStep(row.before[action], row.after[action])),
    String(row.changed),
    String(row.onTrial),
  ])
  return columns(rows, ['class', 'requests', ...ACTIONS, 'changed', 'dry run'])
}

function formatStep(before: number, after: number): string {
  return before === after ? String(before) : `${before} → ${after}`
}
