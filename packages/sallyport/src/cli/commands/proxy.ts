import { type ConfigInput, splitList } from '@sallyport/engine'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { runService } from '../service/service.ts'
import { configSource } from '../settings/config-file.ts'
import { type CommonOptions, withCommonOptions } from '../settings/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'

const MAX_WORKERS = 64

type Options = CommonOptions &
  Pick<ConfigInput, 'upstream' | 'listen' | 'admin' | 'store' | 'redis' | 'mode'> & {
    readonly workers?: number | undefined
    readonly trustProxy?: string | undefined
  }

/** `sallyport proxy` */
export function addProxyCommand(program: Command, terminal: Terminal): void {
  withCommonOptions(program.command('proxy').description('run the filtering proxy in front of an origin'))
    .option('--upstream <url>', 'the origin (without one, /v1 alone is served)')
    .option('--listen <host:port>', 'address to listen on (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'address of health, metrics and console (default: 127.0.0.1:9090)')
    .option('--store <url>', 'store of accounts: sqlite:<path> or postgres://… (default: in the data-dir)')
    .option('--redis <url>', 'Redis in which several machines count limits: redis://… (default: each machine alone)')
    .addOption(new Option('--workers <n>', 'number of processes (default: this one)').argParser(parseWorkers))
    .addOption(new Option('--mode <mode>', 'monitor records and blocks nothing').choices(['enforce', 'monitor']))
    .option('--trust-proxy <list>', 'trusted proxies: CIDRs and presets, with commas between')
    .action(async ({ workers, trustProxy, ...options }: Options) => {
      const { config, dataDir, ...flags } = options
      const given = { ...flags, ...(trustProxy !== undefined && { trustProxy: [...splitList(trustProxy)] }) }
      const source = configSource(options, given)
      const isBeside = Object.keys({ ...given, ...(dataDir !== undefined && { dataDir }) }).length > 0
      // Flags hide nothing: a file of this folder that nobody has named is read too.
      if (config === undefined && source.file !== undefined && isBeside)
        terminal.err(`Configured by ${source.file} of this folder too; flags go before it.`)
      await runService(source, workers, terminal)
    })
}

function parseWorkers(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_WORKERS) {
    throw new InvalidArgumentError(`It is a number from 1 to ${MAX_WORKERS}.`)
  }
  return count
}
