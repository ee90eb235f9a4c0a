import { configSchema, listSettings } from '@sallyport/engine'
import type { Command } from 'commander'
import { checkConfig, printChecked, UNUSABLE } from '../settings/config-check.ts'
import { findConfigFile, type JsonOptions, readConfigLayers, withJsonOptions } from '../settings/settings.ts'
import { printable, printableJson } from '../terminal/printable.ts'
import { columns, dim, ExitError, json, type Terminal } from '../terminal/terminal.ts'

export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = program.command('config').description('check and show the configuration')

  withJsonOptions(config.command('check').description('check the configuration and every file that it names'))
    .argument('[file]', 'configuration file, instead of --config')
    .action(async (file: string | undefined, options: JsonOptions) => {
      const named = file === undefined ? options : { ...options, config: file }
      const checked = await checkConfig(named)
      if (!options.json) return printChecked(checked, describeValid(findConfigFile(named)), terminal)
      const isValid = checked.errors.length === 0
      terminal.out(json({ ok: isValid, ...checked }))
      if (!isValid) throw new ExitError(UNUSABLE)
    })

  withJsonOptions(config.command('show').description('show each value in force and its source')).action(
    (options: JsonOptions) => {
      const settings = listSettings(readConfigLayers(options))
      if (options.json) return terminal.out(json(settings))
      terminal.out(columns(settings.map(({ key, value, place }) => [key, write(value), dim(place?.text ?? 'default')])))
    },
  )

  config
    .command('schema')
    .description('print the JSON schema of the configuration for editors')
    .action(() => terminal.out(json(configSchema())))
}

/** Describes a valid check. One that read no file says so: the operator may be in another folder than intended. */
function describeValid(file: string | undefined): string {
  if (file !== undefined) return 'The configuration is valid.'
  return 'No configuration file was read, because there is no sallyport.yaml in this directory. Variables and defaults are valid.'
}

/** Shows words unchanged, and everything else as JSON. */
function write(value: unknown): string {
  return typeof value === 'string' && !value.includes('"') && printable(value) === value && value !== ''
    ? value
    : printableJson(value)
}
