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

/** Read where no other file is named. */
const DEFAULT_FILE = 'sallyport.yaml'

/** Adds `--config` and `--data-dir` to a command. */
export function withCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', `configuration file (default: ${DEFAULT_FILE} where there is one)`)
    .option('--data-dir <dir>', 'folder of compiled data and the store')
}

/** The options of a command whose answer can be JSON. */
export interface JsonOptions extends CommonOptions {
  readonly json?: true | undefined
}

/** Adds `--config`, `--data-dir` and `--json` to a command. */
export function withJsonOptions(command: Command): Command {
  return withCommonOptions(command).addOption(jsonOption())
}

/** `--json`, for a command that reads no configuration. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON')
}

/** The configuration file of a run; `undefined` where there is none. */
export function findConfigFile({ config }: CommonOptions): string | undefined {
  return config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : undefined)
}

/** The configuration of a run: file, then `SALLYPORT_*` variables, then flags. Throws `invalid_config`. */
export function readConfig(options: CommonOptions, flags: ConfigInput = {}): Config {
  return readConfigLayers(options, flags).config
}

/** The same, with where each value comes from; `needsKeys` refuses a file without any. */
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
      `--${name} has a password, which other users see in the list of processes: ${instead}`,
    )
  }
}

/** Opens a Sallyport for one command, with a progress bar; it downloads nothing, and its own load is nobody's. */
export function openOnce(config: Config, terminal: Terminal, hooks: OpenHooks = {}): Promise<Sallyport> {
  return openService(withoutRefresh(config), terminal, {
    clock: { now: () => Date.now() },
    events: { raise() {}, refused() {} },
    ...hooks,
  })
}

/**
 * The configuration without downloads, without a decision log, which is the service's, and without a written word where
 * the dataDir can only be read.
 */
function withoutRefresh(config: Config): Config {
  const readOnly = config.data.readOnly || isReadOnly(config.dataDir)
  const log = { ...config.log, requests: 'off' as const, file: undefined }
  return { ...config, log, data: { ...config.data, refresh: false, readOnly }, lists: notDue(config.lists) }
}

/** Remote lists with copies that no command finds too old: one that was never fetched is, since a policy may name it. */
function notDue(lists: Config['lists']): Config['lists'] {
  const refresh = 30 * DAY_MS
  return Object.fromEntries(
    Object.entries(lists).map(([name, list]) => [name, 'refresh' in list ? { ...list, refresh } : list]),
  )
}

/** The same for recorded and made requests, a million of which must cause no question to anybody. */
export function withoutOutbound(config: Config): Config {
  return { ...withoutRefresh(config), net: { ...config.net, outbound: false } }
}

/** The data sets of a configuration, with a progress bar; no store is opened. */
export async function readDataSources(config: Config, terminal: Terminal): Promise<readonly SourceStatus[]> {
  const progress = createProgress(terminal)
  try {
    return await readSources({ ...withoutRefresh(config), lists: config.lists }, progress.hooks)
  } finally {
    progress.stop()
  }
}

/** The bundle of a configuration's data, with a progress bar where something is compiled. */
export async function makeBundle(config: Config, terminal: Terminal): Promise<Uint8Array> {
  const progress = createProgress(terminal)
  try {
    return await bundleData(withoutRefresh(config), progress.hooks)
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

/** Closes what `opening` gives after `work`. */
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
