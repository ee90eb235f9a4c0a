import { existsSync } from 'node:fs'
import { DAY_MS, SallyportError, type SourceStatus } from '@sallyport/core'
import {
  bundleData,
  type Config,
  type ConfigInput,
  type ConfigRead,
  isReadOnly,
  type OpenHooks,
  openSimulated,
  type PublishedKeys,
  readConfigFrom,
  readSources,
  type Sallyport,
} from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { withProgress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'

export interface CommonOptions {
  readonly config?: string | undefined
  readonly dataDir?: string | undefined
}

/** This file is read where no other file is named. */
const DEFAULT_FILE = 'sallyport.yaml'

export function withCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', `configuration file (default: ${DEFAULT_FILE}, if it exists)`)
    .option('--data-dir <dir>', 'directory of compiled data and the store')
}

export interface JsonOptions extends CommonOptions {
  readonly json?: true | undefined
}

export function withJsonOptions(command: Command): Command {
  return withCommonOptions(command).addOption(jsonOption())
}

/** Creates the option `--json`, for a command that reads no configuration. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON')
}

/** Finds the configuration file of a run; `undefined` where there is none. */
export function findConfigFile({ config }: CommonOptions): string | undefined {
  return config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined)
}

/** Reads the configuration of a run: file, then `SALLYPORT_*` variables, then flags. Throws `invalid_config`. */
export function readConfig(options: CommonOptions): Config {
  return readConfigLayers(options).config
}

/** Reads the configuration with the origin of each value; `needsKeys` refuses a file without keys. */
export function readConfigLayers(options: CommonOptions, flags: ConfigInput = {}, needsKeys = false): ConfigRead {
  refusePasswords(flags)
  const { dataDir } = options
  const file = findConfigFile(options)
  const named = { ...flags, ...(dataDir !== undefined && { dataDir }) }
  return readConfigFrom({ file, env: process.env, needsKeys, flags: named })
}

/** Throws `invalid_config` for a password in a flag, which the list of processes shows to every user of the machine. */
function refusePasswords(flags: ConfigInput): void {
  for (const [name, value] of Object.entries(flags)) {
    if (typeof value !== 'string' || !URL.canParse(value)) continue
    const { password, searchParams } = new URL(value)
    if (password === '' && !searchParams.has('password')) continue
    const instead = `set SALLYPORT_${name.toUpperCase()}, or write ${name}: file:PATH in the configuration`
    throw new SallyportError(
      'invalid_config',
      `--${name} contains a password, which other users can see in the process list. Instead, ${instead}`,
    )
  }
}

/** Opens a Sallyport for one command, with a progress bar; it downloads nothing, and its own load counts nowhere. */
export function openOnce(config: Config, terminal: Terminal): Promise<Sallyport> {
  const hooks = { clock: { now: () => Date.now() }, events: { raise() {}, refused() {} } }
  return openService(disableRefresh(config), terminal, hooks)
}

/** Returns the configuration without downloads, without the decision log of the service, and without writes to a read-only dataDir. */
function disableRefresh(config: Config): Config {
  const readOnly = config.data.readOnly || isReadOnly(config.dataDir)
  const log = { ...config.log, requests: 'off' as const, file: undefined }
  // No copy of a remote list is too old for a command; a list that was never fetched is due, because a policy may name it.
  const lists = Object.entries(config.lists).map(
    ([name, list]) => [name, 'refresh' in list ? { ...list, refresh: 30 * DAY_MS } : list] as const,
  )
  return { ...config, log, data: { ...config.data, refresh: false, readOnly }, lists: Object.fromEntries(lists) }
}

/** Also stops outbound requests: a million recorded or made requests must cause none. */
export function withoutOutbound(config: Config): Config {
  return { ...disableRefresh(config), net: { ...config.net, outbound: false } }
}

/** Reads the data sets of a configuration, with a progress bar; opens no store. */
export function readDataSources(config: Config, terminal: Terminal): Promise<readonly SourceStatus[]> {
  const offline = { ...disableRefresh(config), lists: config.lists }
  return withProgress(terminal, (progress) => readSources(offline, progress))
}

export function makeBundle(config: Config, terminal: Terminal): Promise<Uint8Array> {
  return withProgress(terminal, (progress) => bundleData(disableRefresh(config), progress))
}

/** Opens a Sallyport for a running service, with a progress bar; it keeps its data fresh. */
export function openService(
  config: Config,
  terminal: Terminal,
  hooks: OpenHooks,
  published: readonly PublishedKeys[] = [],
): Promise<Sallyport> {
  return withProgress(terminal, (progress) => openSimulated(published, config, { ...progress, ...hooks }))
}

export async function using<Opened extends { close(): Promise<void> }, Result>(
  opening: Promise<Opened>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await opening
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
