import { fileURLToPath } from 'node:url'
import { type ConfigInput, splitList } from '@sallyport/engine'
import { type Command, Option } from 'commander'
import { runService } from '../service/service.ts'
import { configSource } from '../settings/config-file.ts'
import { createParser } from '../settings/option-parser.ts'
import { type CommonOptions, withCommonOptions } from '../settings/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

const MAX_WORKERS = 64

type Options = CommonOptions &
  Pick<ConfigInput, 'upstream' | 'listen' | 'admin' | 'store' | 'redis' | 'mode'> & {
    readonly workers?: number | undefined
    readonly trustProxy?: string | undefined
  }

export function addProxyCommand(program: Command, terminal: Terminal): void {
  withCommonOptions(program.command('proxy').description('run the proxy in front of an origin'))
    .option('--upstream <url>', 'origin behind the proxy (default: none, and only /v1 is served)')
    .option('--listen <host:port>', 'address to listen on (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'address of health, metrics and console (default: 127.0.0.1:9090)')
    .option('--store <url>', 'database: sqlite:<path> or postgres://… (default: SQLite in the data directory)')
    .option('--redis <url>', 'Redis that shares rate limits: redis://… (default: each machine counts alone)')
    .addOption(new Option('--workers <n>', 'number of worker processes (default: none)').argParser(parseWorkers))
    .addOption(new Option('--mode <mode>', 'monitor records without blocking').choices(['enforce', 'monitor']))
    .option('--trust-proxy <list>', 'trusted proxies: CIDRs and presets, comma-separated')
    .action(async ({ workers, trustProxy, ...options }: Options) => {
      const { config, dataDir, ...flags } = options
      const given = { ...flags, ...(trustProxy !== undefined && { trustProxy: [...splitList(trustProxy)] }) }
      const source = configSource(options, given)
      const isBeside = dataDir !== undefined || Object.keys(given).length > 0
      // Flags do not replace the file: a file in this folder is read even where no flag names it.
      if (config === undefined && source.file !== undefined && isBeside)
        terminal.err(`Using ${source.file} in this directory; flags override it.`)
      await runService(source, workers, terminal)
    })
}

/** The package contains this configuration: the demo is the proxy that runs with it. */
const DEMO_FILE = fileURLToPath(new URL('../../../../demo.yaml', import.meta.url))

type DemoOptions = Pick<CommonOptions, 'dataDir'> & Pick<ConfigInput, 'listen' | 'admin'>

export function addDemoCommand(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description('run the proxy in front of an example site with sample visitors')
    .option('--listen <host:port>', 'address to listen on (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'address of health, metrics and console (default: 127.0.0.1:9090)')
    .option('--data-dir <dir>', 'directory of compiled data and the store')
    .action(async ({ dataDir, ...flags }: DemoOptions) => {
      await runService(configSource({ config: DEMO_FILE, dataDir }, flags), undefined, terminal)
    })
}

const parseWorkers = createParser((text) => {
  const count = Number(text)
  return /^\d+$/.test(text) && count >= 1 && count <= MAX_WORKERS ? count : undefined
}, `The value must be a number from 1 to ${MAX_WORKERS}.`)
