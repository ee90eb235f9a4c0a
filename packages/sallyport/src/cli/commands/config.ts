import {
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
  type JsonOptions,
  readConfigLayers,
  withJsonOptions,
} from '../settings/settings.ts'
import { ExitError } from '../terminal/exit.ts'
import { printable, printableJson, printableMessage } from '../terminal/printable.ts'
import { columns, dim, json, type Terminal } from '../terminal/terminal.ts'

/** As for any command with a configuration that cannot be used. */
const UNUSABLE = 2

/** `sallyport config check | show | schema` */
export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program.command('config').description('the configuration: its faults, and the values in force')

  withJsonOptions(
    config.command('check').description('read the configuration and the files that it names, and report every fault'),
  )
    .argument('[file]', 'instead of --config')
    .action(async (file: string | undefined, options: JsonOptions) => {
      const { errors, warnings, notices } = await checked(file === undefined ? options : { ...options, config: file })
      if (options.json) terminal.out(json({ ok: errors.length === 0, errors, warnings, notices }))
      else {
        for (const fault of errors) terminal.err(printableMessage(faultText(fault)))
        for (const fault of warnings) terminal.err(printableMessage(warningText(fault)))
        for (const fault of notices) terminal.err(printableMessage(`notice: ${faultText(fault)}`))
        if (errors.length === 0) terminal.out(valid(findConfigFile(file === undefined ? options : { config: file })))
      }
      if (errors.length > 0) throw new ExitError(UNUSABLE)
    })

  withJsonOptions(config.command('show').description('show each value in force, and its source')).action(
    (options: JsonOptions) => {
      const settings = settingsOf(readConfigLayers(options))
      if (options.json) return terminal.out(json(settings))
      terminal.out(columns(settings.map(({ key, value, place }) => [key, shown(value), dim(place?.text ?? 'default')])))
    },
  )

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

/** Faults of the text; where there is none, those of what it names. */
async function checked(
  options: CommonOptions,
): Promise<Record<'errors' | 'warnings' | 'notices', readonly ConfigFault[]>> {
  let read: ConfigRead
  try {
    read = readConfigLayers(options, {}, true)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { errors: error.faults, warnings: [], notices: [] }
  }
  const named = await examineNamed(read, { more: PROXY_LOOKS })
  const warnings = [...read.warnings, ...named.warnings]
  return { errors: named.errors, warnings, notices: configNotices(read.config, read.layers) }
}

/** Words as they are, all else as JSON. */
function shown(value: unknown): string {
  return typeof value === 'string' && !value.includes('"') && printable(value) === value && value !== ''
    ? value
    : printableJson(value)
}
