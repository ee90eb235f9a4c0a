import { writeFileSync } from 'node:fs'
import { counted, SallyportError, withAge } from '@sallyport/core'
import { MAX_BUNDLE_BYTES, oldestList, openUpdates, type Updates } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { audited } from '../settings/audit.ts'
import {
  type CommonOptions,
  type JsonOptions,
  makeBundle,
  readConfig,
  readDataSources,
  withCommonOptions,
  withJsonOptions,
} from '../settings/settings.ts'
import { creditLines, oldestSentence, sourceLines, sourcesSentence } from '../terminal/sources.ts'
import { dim, json, type Terminal } from '../terminal/terminal.ts'

interface UpdateOptions extends JsonOptions {
  readonly source?: string | undefined
  readonly accept?: true | undefined
  readonly rollback?: true | undefined
}

export function addDataCommands(program: Command, terminal: Terminal): void {
  const data = program.command('data').description('manage the data behind verdicts')

  withJsonOptions(data.command('status').description('show loaded data with its date, age and licence'))
    .option('--all', 'include sources that are not enabled')
    .action(async (options: JsonOptions & { readonly all?: true | undefined }) => {
      const sources = await readDataSources(readConfig(options), terminal)
      const now = Date.now()
      if (options.json) return terminal.out(json(sources.map((source) => withAge(source, now))))
      const shown = options.all ? sources : sources.filter(({ reason }) => reason !== 'not enabled')
      terminal.out(sourceLines(shown))
      const oldest = oldestList(sources, now)
      if (oldest !== undefined) terminal.out(oldestSentence(oldest))
      const more = sources.length - shown.length
      if (more > 0) terminal.out(dim(`${more} more sources can be enabled; --all shows them.`))
      for (const credit of creditLines(sources)) terminal.out(dim(credit))
    })

  withJsonOptions(data.command('update').description('download new data; a running service loads it'))
    .option('--source <id>', 'update only this source')
    .option('--accept', 'accept a list even if its size changed sharply')
    .addOption(new Option('--rollback', 'restore the previous download').conflicts('accept'))
    .action((options: UpdateOptions) => (options.rollback ? rollBack(options, terminal) : update(options, terminal)))

  withCommonOptions(data.command('compile').description('compile the data if it is not compiled yet')).action(
    async (options: CommonOptions) => {
      await audited(options, 'data compile', {}, terminal, async (config) => {
        const sources = await readDataSources(config, terminal)
        terminal.out(`Compiled in ${config.dataDir}: ${sourcesSentence(sources)}.`)
      })
    },
  )

  withCommonOptions(data.command('bundle').description('write network data to one file for Cloudflare Workers'))
    .argument('<file>', 'file to write; an existing file is overwritten')
    .action((file: string, options: CommonOptions) => bundle(file, options, terminal))
}

async function bundle(file: string, options: CommonOptions, terminal: Terminal): Promise<void> {
  const bytes = await audited(options, 'data bundle', { file }, terminal, (config) => makeBundle(config, terminal))
  writeFileSync(file, bytes)
  const megabytes = (bytes.length / 1e6).toFixed(2)
  terminal.out(
    `${file} contains networks, listed addresses and crawler ranges (${megabytes} MB), but no locations and no AS names.`,
  )
  if (bytes.length > MAX_BUNDLE_BYTES) terminal.err(`The bundle is larger than ${MAX_BUNDLE_BYTES / 1e6} MB.`)
}

/** Exits with 1 where a source was refused or could not be fetched; the other sources are in use. */
async function update(options: UpdateOptions, terminal: Terminal): Promise<void> {
  const { source, accept } = options
  const print = options.json ? terminal.err : terminal.out
  const outcomes = await audited(options, 'data update', { source, accept }, terminal, (config) =>
    openUpdates(config).update({
      onOutcome: (outcome) => print(formatOutcome(outcome)),
      source,
      accept,
      onWait: () => terminal.err('Another process is updating the data. Waiting for it to finish.'),
    }),
  )
  if (options.json) terminal.out(json(outcomes))
  // The data is compiled now, so that the next start need not do it.
  if (outcomes.some(({ state }) => state === 'updated')) await readDataSources(readConfig(options), terminal)
  const bad = outcomes.filter(({ state }) => state === 'refused' || state === 'failed')
  if (bad.length === 0) return
  throw new SallyportError(
    'update_failed',
    `${bad.length} of ${counted(outcomes.length, 'source')} could not be updated. Their loaded data stays in use.`,
  )
}

function formatOutcome(outcome: Awaited<ReturnType<Updates['update']>>[number]): string {
  if (outcome.state === 'updated') return `${outcome.source}: updated, ${counted(outcome.entries, 'entry', 'entries')}`
  return `${outcome.source}: ${outcome.state}${'reason' in outcome ? `, ${outcome.reason}` : ''}`
}

async function rollBack(options: UpdateOptions, terminal: Terminal): Promise<void> {
  const { source } = options
  const back = await audited(options, 'data update --rollback', { source }, terminal, (config) =>
    openUpdates(config).rollBack(source),
  )
  if (options.json) return terminal.out(json(back))
  for (const { source, generation, entries } of back) {
    terminal.out(`${source}: restored generation ${generation}, ${counted(entries, 'entry', 'entries')}`)
  }
}
