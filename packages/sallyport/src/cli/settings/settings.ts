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
import { createProgress } from '../terminal/progress.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The options that every command takes. */
export interface CommonOptions {
  readonly config?: string | undefined
  readonly dataDir?: string | undefined
}

/** This file is read where no other file is named. */
const DEFAULT_FILE = 'sallyport.yaml'

/** Adds `--config` and `--data-dir` to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', `configuration file (default: ${DEFAULT_FILE}, if it exists)`)
    .option('--data-dir <dir>', 'directory of compiled data and the store')
}

/** The options of a command whose answer can be JSON. */
export interface JsonOptions extends CommonOptions {
  readonly json?: true | undefined
}

/** Adds `--config`, `--data-dir` and `--json` to a command. */
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
export function readConfig(options: CommonOptions, flags: ConfigInput = {}): Config {
  return readConfigLayers(options, flags).config
}

/** Reads the configuration with the origin of each value; `needsKeys` refuses a file without keys. */
export function readConfigLayers(options: CommonOptions, flags: ConfigInput = {}, needsKeys = false): ConfigRead {
  refusePasswords(flags)
  const { dataDir } = options
  const file = findConfigFile(options)
  return readConfigFrom({
    ...(file === undefined ? {} : { file }),
    env: process.env,
    needsKeys,
    flags: { ...flags, ...(dataDir === undefined ? {} : { dataDir }) },
  })
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
export function openOnce(config: Config, terminal: Terminal, hooks: OpenHooks = {}): Promise<Sallyport> {
  return openService(disableRefresh(config), terminal, {
    clock: { now: () => Date.now() },
    events: { raise() {}, refused() {} },
    ...hooks,
  })
}

/**
 * Returns the configuration without downloads, without a decision log, which belongs to the service, and without writes where the dataDir
 * is read-only.
 */
function disableRefresh(config: Config): Config {
  const readOnly = config.data.readOnly || isReadOnly(config.dataDir)
  const log = { ...config.log, requests: 'off' as const, file: undefined }
  return { ...config, log, data: { ...config.data, refresh: false, readOnly }, lists: postponeRefresh(config.lists) }
}

/** Makes remote lists never too old for a command; a list that was never fetched is still due, because a policy may name it. */
function postponeRefresh(lists: Config['lists']): Config['lists'] {
  const refresh = 30 * DAY_MS
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, 'refresh' in list ? { ...list, refresh } : list]),
  )
}

/** Also stops outbound requests: a million recorded or made requests must cause none. */
export function withoutOutbound(config: Config): Config {
  return { ...disableRefresh(config), net: { ...config.net, outbound: false } }
}

/** Reads the data sets of a configuration, with a progress bar; opens no store. */
export async function readDataSources(config: Config, terminal: Terminal): Promise<readonly SourceStatus[]> {
  const progress = createProgress(terminal)
  try {
    return await readSources({ ...disableRefresh(config), lists: config.lists }, progress.hooks)
  } finally {
    progress.stop()
  }
}

/** Makes the bundle of a configuration's data, with a progress bar where something is compiled. */
export async function makeBundle(config: Config, terminal: Terminal): Promise<Uint8Array> {
  const progress = createProgress(terminal)
  try {
    return await bundleData(disableRefresh(config), progress.hooks)
  } finally {
    progress.stop()
  }
}

/** Opens a Sallyport for a running service, with a progress bar; it keeps its data fresh. */
export async function openService(
  config: Config,
  terminal: Terminal,
  hooks: OpenHooks = {},
  published: readonly PublishedKeys[] = [],
): Promise<Sallyport> {
  const progress = createProgress(terminal)
  try {
    return await openSimulated(published, config, { ...progress.hooks, ...hooks })
  } finally {
    progress.stop()
  }
}

/** Opens a resource, works with it, and closes it. */
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
