import { join } from 'node:path'
import { createHistory, type History, openConsole, readTokens } from '@sallyport/console'
import { SallyportError } from '@sallyport/core'
import type { Scraped } from '@sallyport/metrics'
import { type Config, type ConfigInput, type Sallyport, splitList } from '@sallyport/open'
import { openProxy, type ProxyOptions, type Proxy as RunningProxy } from '@sallyport/proxy'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { showDemo } from '../demo.ts'
import { type DemoAgent, demoAgent } from '../demo-agent.ts'
import { faultText } from '../fault-text.ts'
import { onReload, type ReloadCause } from '../reload.ts'
import { savePolicy } from '../save-policy.ts'
import { type CommonOptions, configReadOf, fileOf, openService, withCommonOptions } from '../settings.ts'
import { sourcesSentence } from '../sources.ts'
import { untilStopped } from '../stop.ts'
import { notifySystemd } from '../systemd.ts'
import { bold, type Terminal } from '../terminal.ts'
import { openWorkerQuestions, type WorkerQuestions } from '../worker-questions.ts'
import { isLeader, isWorker, leavePrimary, runWorkers, workerIsReady } from '../workers.ts'
import { warningText } from './config.ts'

const MAX_WORKERS = 64

/** What workers ask each other about. */
const [METRICS, POLICY, CONSOLE] = ['metrics', 'policy', 'console'] as const

const NO_ORIGIN =
  'with no origin: all but /v1 is 404. Name an upstream or routes, or set demo: true for an example site.'

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
    .option('--upstream <url>', 'the origin (without one, /v1 alone is served)')
    .option('--listen <host:port>', 'where to listen (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'where to answer health checks (default: 127.0.0.1:9090)')
    .option('--store <url>', 'where accounts are kept: sqlite:<path> or postgres://… (default: in the data-dir)')
    .option('--redis <url>', 'where several machines count their limits: redis://… (default: in the data-dir)')
    .addOption(new Option('--workers <n>', 'how many processes serve (default: this one)').argParser(workersOf))
    .addOption(new Option('--mode <mode>', 'monitor records and blocks nothing').choices(['enforce', 'monitor']))
    .option('--trust-proxy <list>', 'proxies that are believed: CIDRs and presets, with commas between')
    .action(async (options: ProxyCommandOptions) => {
      const read = (): Config => {
        const { config, warnings } = configReadOf(options, flagsOf(options))
        if (!isWorker()) for (const fault of warnings) terminal.err(`sallyport: ${warningText(fault)}`)
        return config
      }
      const config = read()
      if (options.workers !== undefined && !isWorker()) return runWorkers(options.workers, terminal)
      const history = config.console.enabled ? createHistory() : undefined
      const agent = isDemo(config) ? demoAgent(config.dataDir) : undefined
      const sallyport = await openService(config, isLeader() ? terminal : QUIET, {
        onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
        ...(history && { observe: history.observe }),
        ...(agent && { published: agent.published }),
      })
      try {
        await serve(sallyport, { config, read, file: fileOf(options), history, agent }, terminal)
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

/** The configuration of a run, and how it is read again. */
interface Configured {
  readonly config: Config
  readonly read: () => Config
  readonly file: string | undefined
  /** What the console shows; absent: there is none. */
  readonly history: History | undefined
  /** Whom one can be in the demo. */
  readonly agent: DemoAgent | undefined
}

async function serve(sallyport: Sallyport, configured: Configured, terminal: Terminal): Promise<void> {
  const { config, file, history } = configured
  const steering: Steering = { url: undefined, savePolicy: undefined }
  const others = openWorkerQuestions()
  const shown = history && consoleOf(sallyport, history, { steering, file, terminal, others })
  const proxy = await openProxy(sallyport, {
    ...withAcme(config),
    adminPages: shown?.pages,
    onDecision: history?.onDecision,
    visitors: configured.agent && [configured.agent.visitor],
    scrapeAll: others && (async (own) => [own, ...((await others.ask(METRICS)).answers as Scraped[])]),
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
    onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
    onOriginFailure: throttled((error) => terminal.err(`sallyport: the origin failed: ${faultText(error)}`)),
  })
  const takeOver = async (): Promise<void> => {
    await sallyport.reload(configured.read())
    await proxy.reload(withAcme(sallyport.config))
  }
  others?.answer(METRICS, proxy.scrape)
  others?.answer(POLICY, async () => takeOver().then(() => true))
  others?.answer(CONSOLE, async (about) => shown?.pages.answerOther(about))
  steering.url = proxy.url
  steering.savePolicy =
    file === undefined
      ? undefined
      : async (text) => {
          await savePolicy(file, text, takeOver)
          const { silent = 0 } = (await others?.ask(POLICY)) ?? {}
          if (silent > 0)
            terminal.err(`sallyport: ${silent} workers have not taken the saved policy over; SIGHUP does it.`)
        }
  let signal: NodeJS.Signals | undefined
  const told = isLeader() ? terminal : QUIET
  const endReload = onReload(
    async (cause) => {
      if (isLeader()) await notifySystemd('reloading', 'Reading the configuration again', terminal)
      const news = await reload(sallyport, proxy, configured, cause)
      told.err(`sallyport: ${news}`)
      if (isLeader()) await notifySystemd('ready', `Listening on ${proxy.url}; ${news}`, terminal)
    },
    config.watch ? file : undefined,
  )
  try {
    const stopped = untilStopped(isWorker() ? QUIET : terminal)
    if (isLeader()) await announce(sallyport, config, proxy, terminal)
    if (isLeader() && shown && proxy.adminUrl !== undefined) {
      const place = shown.file === undefined ? '' : `, administrators by the token in ${shown.file}`
      terminal.err(`Console at ${proxy.adminUrl}/${place}`)
    }
    workerIsReady()
    if (isLeader()) void notifySystemd('ready', `Listening on ${proxy.url}`, terminal)
    signal = await stopped
    if (!isWorker()) terminal.err('Finishing what is in flight; once more to stop now.')
    if (isLeader()) void notifySystemd('stopping', 'Finishing what is in flight', terminal)
  } finally {
    endReload()
    // A person at the terminal does not wait for browsers that keep a connection.
    await proxy.close(signal === 'SIGTERM' ? 'wait' : 'cut')
  }
}

/** What the console steers, once the proxy is there. */
interface Steering {
  url: string | undefined
  savePolicy: ((text: string) => Promise<void>) | undefined
}

/** The console, and the file of its token. */
function consoleOf(
  sallyport: Sallyport,
  history: History,
  {
    steering,
    file: configured,
    terminal,
    others,
  }: {
    readonly steering: Steering
    readonly file: string | undefined
    readonly terminal: Terminal
    readonly others: WorkerQuestions | undefined
  },
) {
  const { tokens, file } = readTokens(sallyport.config.dataDir, sallyport.config.console)
  const onFault = throttled((error) => terminal.err(`sallyport: console: ${faultText(error)}`))
  return {
    pages: openConsole({
      ...{ sallyport, history, tokens, onFault, url: () => steering.url ?? '' },
      askOthers: others && ((about) => others.ask(CONSOLE, about)),
      ...(configured !== undefined && { savePolicy: async (text) => steering.savePolicy?.(text) }),
    }),
    file,
  }
}

/** The certificate of an authority is kept in the dataDir, and one worker orders it. */
function withAcme({ tls, ...config }: Config): ProxyOptions {
  if (tls?.acme === undefined) return { ...config, tls: tls && { ...tls, acme: undefined } }
  const place = { folder: join(config.dataDir, 'acme'), orders: isLeader() }
  return { ...config, tls: { ...tls, acme: { ...tls.acme, ...place } } }
}

/** Takes over the configuration as it is now, or keeps the old one; resolves with which of the two, and why. */
async function reload(
  sallyport: Sallyport,
  proxy: RunningProxy,
  { read }: Configured,
  cause: ReloadCause,
): Promise<string> {
  try {
    sallyport.log.reopen()
    const { changed, needRestart } = await sallyport.reload(read())
    await proxy.reload(withAcme(sallyport.config))
    if (isLeader()) sallyport.log.audit({ what: 'reload', who: cause, details: { changed, needRestart } })
    const news = changed.length === 0 ? 'nothing has changed' : `${changed.join(', ')} taken over`
    const rest = needRestart.length === 0 ? '' : `; ${needRestart.join(', ')} after a restart only`
    return `configuration read again: ${news}${rest}.`
  } catch (error) {
    const code = error instanceof SallyportError ? error.code : 'internal_error'
    if (isLeader()) sallyport.log.audit({ what: 'reload', who: cause, error: code })
    return `configuration kept as it was: ${error instanceof Error ? error.message : error}`
  }
}

function isDemo({ demo, upstream }: Config): boolean {
  return demo && upstream === undefined
}

async function announce(sallyport: Sallyport, config: Config, proxy: RunningProxy, terminal: Terminal): Promise<void> {
  terminal.err(`${bold('Data')} from ${sourcesSentence(sallyport.sources())}`)
  const origins = config.routes.flatMap(({ upstreams = [] }) => upstreams)
  const named = [...new Set([...origins, ...(proxy.upstream === undefined ? [] : [proxy.upstream])])]
  const origin = isDemo(config) ? 'a bundled example site' : named.length === 0 ? undefined : named.join(', ')
  if (config.forwardAuth !== false) terminal.err(`Checks for ${config.forwardAuth} at ${proxy.url}/.sallyport/check`)
  terminal.err(`${bold('Listening')} on ${proxy.url}, ${origin === undefined ? NO_ORIGIN : `in front of ${origin}`}`)
  if (proxy.httpUrl !== undefined) terminal.err(`Plain HTTP on ${proxy.httpUrl}`)
  if (proxy.adminUrl !== undefined) terminal.err(`Health at ${proxy.adminUrl}/readyz`)
  if (config.api.enabled) terminal.err(`API at ${proxy.url}${config.api.base}/v1/openapi.json`)
  if (isDemo(config)) await showDemo(sallyport, proxy.url, terminal)
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
