import { type Config, type ConfigInput, type Sallyport, splitList } from '@sallyport/open'
import { openProxy, type Proxy as RunningProxy } from '@sallyport/proxy'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { showDemo } from '../demo.ts'
import { type CommonOptions, configOf, openService, withCommonOptions } from '../settings.ts'
import { creditLines, sourceLines } from '../sources.ts'
import { untilStopped } from '../stop.ts'
import { bold, dim, type Terminal } from '../terminal.ts'
import { isLeader, isWorker, leavePrimary, runWorkers, workerIsReady } from '../workers.ts'

const MAX_WORKERS = 64

/** For the workers after the first one. */
const QUIET: Terminal = { out() {}, err() {} }

interface ProxyCommandOptions extends CommonOptions {
  readonly upstream?: string
  readonly listen?: string
  readonly admin?: string
  readonly store?: string
  readonly redis?: string
  readonly workers?: number
  readonly mode?: 'enforce' | 'monitor'
  readonly trustProxy?: string
}

/** `sallyport proxy` */
export function addProxyCommand(program: Command, terminal: Terminal): void {
  withCommonOptions(program.command('proxy').description('stand in front of an origin, inspect and decide'))
    .option('--upstream <url>', 'the origin (default: a bundled example site)')
    .option('--listen <host:port>', 'where to listen (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'where to answer health checks (default: 127.0.0.1:9090)')
    .option('--store <url>', 'where accounts are kept: sqlite:<path> or postgres://… (default: in the data-dir)')
    .option('--redis <url>', 'where several machines count their limits: redis://… (default: in the data-dir)')
    .addOption(new Option('--workers <n>', 'how many processes serve (default: this one)').argParser(workersOf))
    .addOption(new Option('--mode <mode>', 'monitor records and blocks nothing').choices(['enforce', 'monitor']))
    .option('--trust-proxy <list>', 'proxies that are believed: CIDRs and presets, with commas between')
    .action(async (options: ProxyCommandOptions) => {
      const config = configOf(options, flagsOf(options))
      if (options.workers !== undefined && !isWorker()) return runWorkers(options.workers, terminal)
      const sallyport = await openService(config, isLeader() ? terminal : QUIET, {
        onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
      })
      try {
        await serve(sallyport, config, terminal)
      } finally {
        await sallyport.close()
        leavePrimary()
      }
    })
}

function workersOf(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_WORKERS) {
    throw new InvalidArgumentError(`It is a number from 1 to ${MAX_WORKERS}.`)
  }
  return count
}

function flagsOf({ upstream, listen, admin, store, redis, mode, trustProxy }: ProxyCommandOptions): ConfigInput {
  return {
    ...(upstream === undefined ? {} : { upstream }),
    ...(listen === undefined ? {} : { listen }),
    ...(admin === undefined ? {} : { admin }),
    ...(store === undefined ? {} : { store }),
    ...(redis === undefined ? {} : { redis }),
    ...(mode === undefined ? {} : { mode }),
    ...(trustProxy === undefined ? {} : { trustProxy: [...splitList(trustProxy)] }),
  }
}

async function serve(sallyport: Sallyport, config: Config, terminal: Terminal): Promise<void> {
  const proxy = await openProxy(sallyport, {
    ...config,
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
    onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
    onOriginFailure: throttled((error) => terminal.err(`sallyport: the origin failed: ${faultText(error)}`)),
  })
  try {
    const stopped = untilStopped(isWorker() ? QUIET : terminal)
    if (isLeader()) await announce(sallyport, config, proxy, terminal)
    workerIsReady()
    await stopped
    if (!isWorker()) terminal.err('Finishing what is in flight; once more to stop now.')
  } finally {
    await proxy.close()
  }
}

async function announce(sallyport: Sallyport, config: Config, proxy: RunningProxy, terminal: Terminal): Promise<void> {
  terminal.out(bold('Data'))
  terminal.out(sourceLines(sallyport.sources().filter(({ state }) => state !== 'absent')))
  for (const credit of creditLines(sallyport.sources())) terminal.out(dim(credit))
  terminal.out('')
  const origin = config.upstream === undefined ? 'a bundled example site' : proxy.upstream
  terminal.out(`${bold('Listening')} on ${proxy.url}, in front of ${origin}`)
  if (proxy.adminUrl !== undefined) terminal.out(`Health at ${proxy.adminUrl}/readyz`)
  if (config.api.enabled) terminal.out(`API at ${proxy.url}${config.api.base}/v1/openapi.json`)
  if (config.upstream === undefined) await showDemo(sallyport, proxy.url, terminal)
}

/** Drops repetitions of the last error within a second. */
function throttled(report: (error: unknown) => void): (error: unknown) => void {
  let last = { text: '', at: Number.NEGATIVE_INFINITY }
  return (error) => {
    const now = performance.now()
    const text = String(error)
    if (text === last.text && now - last.at < 1_000) return
    last = { text, at: now }
    report(error)
  }
}

/** An error with a code is a failure outside and takes one line; any other is a bug and shows its stack. */
function faultText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error ? `${error.message} (${error.code})` : (error.stack ?? error.message)
}
