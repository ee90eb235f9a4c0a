import { givenWords } from '@sallyport/core'
import {
  asksOrigins,
  type Config,
  ConfigError,
  type ConfigFault,
  type ConfigRead,
  configNotices,
  configSchema,
  examineNamed,
  faultText,
  settingsOf,
} from '@sallyport/engine'
import type { Command } from 'commander'
import { warningText } from '../settings/config-file.ts'
import { PROXY_LOOKS } from '../settings/looks.ts'
import {
  type CommonOptions,
  findConfigFile,
  jsonOption,
  readConfigLayers,
  withCommonOptions,
} from '../settings/settings.ts'
import { ExitError } from '../terminal/exit.ts'
import { printable, printableJson, printableMessage } from '../terminal/printable.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

type Options = CommonOptions & { readonly json?: true | undefined }

/** As for any command with a configuration that cannot be used. */
const UNUSABLE = 2

/** `sallyport config check | show | schema` */
export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program.command('config').description('the configuration: its faults, and the values in force')

  withCommonOptions(
    config.command('check').description('read the configuration and the files that it names, and report every fault'),
  )
    .argument('[file]', 'instead of --config')
    .addOption(jsonOption())
    .action(async (file: string | undefined, options: Options) => {
      const { errors, warnings, notices, notes } = await checked(
        file === undefined ? options : { ...options, config: file },
      )
      if (options.json) terminal.out(json({ ok: errors.length === 0, errors, warnings, notices, notes }))
      else {
        for (const fault of errors) terminal.err(printableMessage(faultText(fault)))
        for (const fault of warnings) terminal.err(printableMessage(warningText(fault)))
        for (const fault of notices) terminal.err(printableMessage(`notice: ${faultText(fault)}`))
        if (errors.length === 0) terminal.out(valid(findConfigFile(file === undefined ? options : { config: file })))
        for (const note of notes) terminal.out(dim(note))
      }
      if (errors.length > 0) throw new ExitError(UNUSABLE)
    })

  withCommonOptions(config.command('show').description('show each value in force, and its source'))
    .addOption(jsonOption())
    .action((options: Options) => {
      const settings = settingsOf(readConfigLayers(options))
      if (options.json) return terminal.out(json(settings))
      terminal.out(columns(settings.map(({ key, value, place }) => [key, shown(value), dim(place?.text ?? 'default')])))
    })

  config
    .command('schema')
    .description('print the JSON schema of the configuration, for editors')
    .action(() => terminal.out(json(configSchema())))
}

/** A check that read no file says so: somebody may be in another folder than they think. */
function valid(file: string | undefined): string {
  if (file !== undefined) return 'The configuration is valid.'
  return 'No configuration file was read: there is no sallyport.yaml here. Variables and defaults are valid.'
}

type Faults = readonly ConfigFault[]

/** Faults of the text; where there is none, those of what it names. */
async function checked(options: CommonOptions): Promise<
  Pick<ConfigRead, 'warnings'> & {
    readonly errors: Faults
    readonly notices: Faults
    readonly notes: readonly string[]
  }
> {
  let read: ConfigRead
  try {
    read = readConfigLayers(options, {}, true)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { errors: error.faults, warnings: [], notices: [], notes: [] }
  }
  const named = await examineNamed(read, { more: PROXY_LOOKS })
  const notes = named.errors.length > 0 ? [] : unloggedNotes(read.config)
  const warnings = [...read.warnings, ...named.warnings]
  return { errors: named.errors, warnings, notices: configNotices(read.config, read.layers), notes }
}

/** Words that some sources lack and an access log has; the robots.txt of an origin a running proxy alone has. */
const LOGGED: readonly string[] = ['userAgent', 'query', 'robots', 'asn', 'country']

/** Notes on the rules that a log does not tell of, so that nobody takes a replay for the whole. */
function unloggedNotes(config: Config): readonly string[] {
  const { rules } = config.policy
  const logged = asksOrigins(config) ? LOGGED.filter((name) => name !== 'robots') : LOGGED
  const found = rules.flatMap(({ id, match: { not = {}, ...match } }) => {
    const words = [...givenWords(match), ...givenWords(not)].filter(
      ({ name, word }) => word.mayLack === true && !logged.includes(name),
    )
    return words.length === 0 ? [] : [{ id, words: words.map(({ name }) => name) }]
  })
  if (found.length === 0) return []
  const words = [...new Set(found.flatMap((rule) => rule.words))].join(', ')
  const ids = found.slice(0, MAX_NAMED).map(({ id }) => id)
  const more = found.length > MAX_NAMED ? [`${found.length - MAX_NAMED} more`] : []
  return [`An access log has no ${words}: replay cannot judge ${[...ids, ...more].join(', ')} by it.`]
}

/** Rules of which a note names each. */
const MAX_NAMED = 10

/** Words as they are, all else as JSON. */
function shown(value: unknown): string {
  return typeof value === 'string' && !value.includes('"') && printable(value) === value && value !== ''
    ? value
    : printableJson(value)
}
