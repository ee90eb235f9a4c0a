import { existsSync } from 'node:fs'
import type { Dns } from '@sallyport/core'
import { type Config, type ConfigInput, type OpenHooks, open, readConfig, type Sallyport } from '@sallyport/open'
import { type Command, Option } from 'commander'
import { showProgress } from './progress.ts'
import type { Terminal } from './terminal.ts'

/** The options that every command takes. */
export interface SharedOptions {
  readonly config?: string
  readonly dataDir?: string
}

/** Read when it is there and no other file is named. */
const USUAL_FILE = 'sallyport.yaml'

/** Adds `--config` and `--data-dir` to a command. */
export function withShared(command: Command): Command {
  return command
    .option('--config <file>', `configuration file (default: ${USUAL_FILE} where there is one)`)
    .option('--data-dir <dir>', 'where compiled data and the store are kept')
}

/** Adds `--json` to a command that reads. */
export function jsonOption(): Option {
  return new Option('--json', 'print JSON')
}

/** The configuration of a run: file, then `SALLYPORT_*` variables, then flags. Throws `invalid_config`. */
export function configOf({ config, dataDir }: SharedOptions, flags: ConfigInput = {}): Config {
  const file = config ?? (existsSync(USUAL_FILE) ? USUAL_FILE : undefined)
  return readConfig({
    ...(file === undefined ? {} : { file }),
    env: process.env,
    flags: { ...flags, ...(dataDir === undefined ? {} : { dataDir }) },
  })
}

/** Opens a Sallyport for one piece of work, showing its progress; it downloads nothing. */
export function openShowing(config: Config, terminal: Terminal, hooks: OpenHooks = {}): Promise<Sallyport> {
  return openServing(withoutRefresh(config), terminal, hooks)
}

/** The configuration of a Sallyport that downloads nothing. */
export function withoutRefresh(config: Config): Config {
  return { ...config, data: { ...config.data, refresh: false } }
}

/** Opens a Sallyport that goes on running, showing its progress; it keeps its data fresh. */
export async function openServing(config: Config, terminal: Terminal, hooks: OpenHooks = {}): Promise<Sallyport> {
  const progress = showProgress(terminal)
  try {
    return await open(config, { ...progress.hooks, ...hooks })
  } finally {
    progress.stop()
  }
}

/** Opens something for one piece of work and closes it after. */
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

/** Answers no name: for work on requests of the past or of a file, which must not ask anybody. */
export const NO_DNS: Dns = {
  resolve: async () => ({ state: 'failed', reason: 'names are not asked' }),
  resolvePtr: async () => ({ state: 'failed', reason: 'names are not asked' }),
}
