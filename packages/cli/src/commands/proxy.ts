import { openProxy, type Proxy as RunningProxy } from '@sallyport/proxy'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, type ConfigInput, type Sallyport, splitList } from 'sallyport'
import { showDemo } from '../demo.ts'
import { configOf, openShowing, type SharedOptions, withShared } from '../settings.ts'
import { creditLines, sourceLines } from '../sources.ts'
import { bold, dim, type Terminal } from '../terminal.ts'

interface ProxyCommandOptions extends SharedOptions {
  readonly upstream?: string
  readonly listen?: string
  readonly admin?: string
  readonly store?: string
  readonly mode?: 'enforce' | 'monitor'
  readonly trustProxy?: string
}

/** `sallyport proxy` */
export function addProxyCommand(program: Command, terminal: Terminal): void {
  withShared(program.command('proxy').description('stand in front of an origin, inspect and decide'))
    .option('--upstream <url>', 'the origin (default: a bundled example site)')
    .option('--listen <host:port>', 'where to listen (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'where to answer health checks (default: 127.0.0.1:9090)')
    .option('--store <url>', 'where accounts are kept (default: sqlite:<data-dir>/state.db)')
    .addOption(new Option('--mode <mode>', 'monitor records and blocks nothing').choices(['enforce', 'monitor']))
    .option('--trust-proxy <list>', 'proxies that are believed: CIDRs and presets, with commas between')
    .addOption(
      new Option('--workers <n>').argParser(notYet('one process serves; start several behind a balancer')).hideHelp(),
    )
    .addOption(new Option('--redis <url>').argParser(notYet('limits are kept in this process')).hideHelp())
    .action(async (options: ProxyCommandOptions) => {
      const config = configOf(options, flagsOf(options))
      const sallyport = await openShowing(config, terminal)
      try {
        await serve(sallyport, config, terminal)
      } finally {
        await sallyport.close()
      }
    })
}

/** Refuses an option whose room is not built, rather than ignore what somebody relies on. */
function notYet(instead: string): () => never {
  return () => {
    throw new InvalidArgumentError(`It is not supported by this version: ${instead}.`)
  }
}

function flagsOf({ upstream, listen, admin, store, mode, trustProxy }: ProxyCommandOptions): ConfigInput {
  return {
    ...(upstream === undefined ? {} : { upstream }),
    ...(listen === undefined ? {} : { listen }),
    ...(admin === undefined ? {} : { admin }),
    ...(store === undefined ? {} : { store }),
    ...(mode === undefined ? {} : { mode }),
    ...(trustProxy === undefined ? {} : { trustProxy: [...splitList(trustProxy)] }),
  }
}

async function serve(sallyport: Sallyport, config: Config, terminal: Terminal): Promise<void> {
  const proxy = await openProxy(sallyport, {
    ...config,
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
    onFault: (error) => terminal.err(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    onOriginFailure: seldom((error) => terminal.err(`sallyport: the origin failed: ${error.message}`)),
  })
  try {
    const stopped = untilStopped(terminal)
    await announce(sallyport, config, proxy, terminal)
    await stopped
    terminal.err('Finishing what is in flight; once more to stop now.')
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

/** Every second while it happens is often enough to be told the same. */
function seldom(tell: (error: Error) => void): (error: Error) => void {
  let last = Number.NEGATIVE_INFINITY
  return (error) => {
    const now = performance.now()
    if (now - last < 1_000) return
    last = now
    tell(error)
  }
}

/** Resolves at the first SIGINT or SIGTERM; one more, a second or later, ends the process at once. */
function untilStopped(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined
    const stop = (): void => {
      if (first === undefined) {
        first = performance.now()
        resolve()
        // npm passes on to its child the Ctrl-C that the terminal sent to both.
      } else if (performance.now() - first > 1_000) {
        terminal.err('Stopped.')
        process.exit(1)
      }
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}
