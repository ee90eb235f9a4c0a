import { join } from 'node:path'
import { createHistory, type History } from '@sallyport/console'
import {
  type Config,
  type ConfigInput,
  type ConfigRead,
  type Reloaded,
  type Sallyport,
  splitList,
} from '@sallyport/open'
import { openProxy, type ProxyOptions } from '@sallyport/proxy'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { announce, isDemo } from '../announce.ts'
import { type ConfigSource, configSource } from '../config-file.ts'
import { adminPagesOf, CONSOLE, consoleLine, type Steering } from '../console-pages.ts'
import { type DemoAgent, demoAgent } from '../demo-agent.ts'
import { faultText } from '../fault-text.ts'
import { onReload } from '../reload.ts'
import { reloadsOf } from '../reloads.ts'
import { savePolicy } from '../save-policy.ts'
import { type CommonOptions, openService, withCommonOptions } from '../settings.ts'
import { untilStopped } from '../stop.ts'
import { notifySystemd } from '../systemd.ts'
import type { Terminal } from '../terminal.ts'
import { isWorker, joinWorkers, type Standing } from '../worker.ts'
import { ownScrape, scrapeAll } from '../worker-metrics.ts'
import { METRICS, openWorkerQuestions } from '../worker-questions.ts'
import { noticesOf, ofLeader } from '../worker-terminal.ts'
import { runWorkers } from '../workers.ts'
import { warningText } from './config.ts'

const MAX_WORKERS = 64

/** The topic by which workers have each other take a saved policy over, beside metrics and the console's. */
const POLICY = 'policy'

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
  withCommonOptions(program.command('proxy').description('run the filtering proxy in front of an origin'))
    .option('--upstream <url>', 'the origin (without one, /v1 alone is served)')
    .option('--listen <host:port>', 'where to listen (default: 127.0.0.1:8080)')
    .option('--admin <host:port>', 'address of health, metrics and console (default: 127.0.0.1:9090)')
    .option('--store <url>', 'where accounts are kept: sqlite:<path> or postgres://… (default: in the data-dir)')
    .option('--redis <url>', 'where several machines count their limits: redis://… (default: in the data-dir)')
    .addOption(new Option('--workers <n>', 'number of processes (default: this one)').argParser(workersOf))
    .addOption(new Option('--mode <mode>', 'monitor records and blocks nothing').choices(['enforce', 'monitor']))
    .option('--trust-proxy <list>', 'trusted proxies: CIDRs and presets, with commas between')
    .action(async (options: ProxyCommandOptions) => {
      const source = configSource(options, flagsOf(options))
      const warn = ({ warnings }: Pick<ConfigRead, 'warnings'>): void => {
        if (!isWorker()) for (const fault of warnings) terminal.err(`sallyport: ${warningText(fault)}`)
      }
      if (options.workers !== undefined && !isWorker()) {
        const first = source.read()
        warn(first)
        return runWorkers(options.workers, first.config, terminal, source.file)
      }
      const standing = await joinWorkers()
      const config = await beginningOf(source, standing, warn)
      const history = config.console.enabled ? createHistory() : undefined
      const agent = isDemo(config) ? demoAgent(config.dataDir) : undefined
      const hooks = {
        onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
        ...(isWorker() && { onNotice: noticesOf(standing, terminal) }),
        ...(history && { observe: history.observe }),
      }
      const sallyport = await openService(config, ofLeader(standing, terminal), hooks, agent?.published)
      try {
        await serve(sallyport, { config, source, warn, history, agent, standing }, terminal)
      } finally {
        await sallyport.close()
      }
    })
}

/** The configuration that this process begins with: that of the workers beside it, else the file as it is. */
async function beginningOf(
  source: ConfigSource,
  standing: Standing,
  warn: (read: Pick<ConfigRead, 'warnings'>) => void,
): Promise<Config> {
  if (standing.config !== undefined) return standing.config
  // A worker may come in the place of another while somebody writes the file.
  const read = isWorker() ? await source.readSettled() : source.read()
  warn(read)
  return read.config
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
  readonly source: ConfigSource
  readonly warn: (read: Pick<ConfigRead, 'warnings'>) => void
  /** History of the console; absent: there is none. */
  readonly history: History | undefined
  /** Whom one can be in the demo. */
  readonly agent: DemoAgent | undefined
  readonly standing: Standing
}

async function serve(sallyport: Sallyport, configured: Configured, terminal: Terminal): Promise<void> {
  const { config, source, history, standing } = configured
  const { file } = source
  const steering: Steering = { url: undefined, savePolicy: undefined }
  const others = openWorkerQuestions()
  const onConsoleFault = throttled((error) => terminal.err(`sallyport: console: ${faultText(error)}`))
  const shown = adminPagesOf(sallyport, history, { steering, file, others, onFault: onConsoleFault })
  const proxy = await openProxy(sallyport, {
    ...withAcme(config),
    adminPages: shown.pages,
    onDecision: history?.onDecision,
    visitors: configured.agent && [configured.agent.visitor],
    workers: () => standing.counts,
    scrapeAll: others && ((own) => scrapeAll(own, others, standing)),
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
    onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
    onOriginFailure: throttled((error) => terminal.err(`sallyport: the origin failed: ${faultText(error)}`)),
  })
  const take = async (next: Config): Promise<Reloaded> => {
    const report = await sallyport.reload(next)
    await proxy.reload(withAcme(sallyport.config))
    return report
  }
  const takeOver = async (): Promise<void> => {
    const read = source.read()
    configured.warn(read)
    await take(read.config)
    standing.reloaded(sallyport.config)
  }
  others?.answer(METRICS, () => ownScrape(proxy.scrape, standing))
  others?.answer(POLICY, async () => takeOver().then(() => true))
  others?.answer(CONSOLE, async (about) => shown.pages.answerOther?.(about))
  steering.url = proxy.url
  steering.savePolicy =
    file === undefined
      ? undefined
      : async (written) => {
          // A file that is not usable as it is gets no policy: the rest of it would be lost.
          await source.readSettled()
          await savePolicy(file, written, takeOver)
          const { silent = 0 } = (await others?.ask(POLICY)) ?? {}
          if (silent > 0)
            terminal.err(`sallyport: ${silent} workers have not taken the saved policy over; SIGHUP does it.`)
        }
  let signal: NodeJS.Signals | undefined
  const reloads = reloadsOf({ ...configured, sallyport, url: proxy.url, take }, terminal)
  const told = ofLeader(standing, terminal)
  const endReload = onReload(
    reloads.next,
    config.watch
      ? { hasChanged: source.hasChanged, onNotice: (message) => told.err(`sallyport: ${message}`) }
      : undefined,
  )
  const endCounts = standing.reportCounts(proxy.counted)
  try {
    const stopped = untilStopped(isWorker() ? QUIET : terminal)
    if (standing.first) await announce(sallyport, config, proxy, terminal)
    if (standing.first && history && proxy.adminUrl !== undefined) terminal.err(consoleLine(shown, proxy.adminUrl))
    standing.serves(sallyport.config)
    standing.onLead((owed) => {
      proxy.orderCertificates()
      if (!owed || !reloads.sayLast()) void notifySystemd('ready', `Listening on ${proxy.url}`, terminal)
    })
    signal = await stopped
    if (!isWorker()) {
      terminal.err('Finishing requests in flight; repeat to stop now.')
      void notifySystemd('stopping', 'Finishing requests in flight', terminal)
    }
  } finally {
    endReload()
    // A person at the terminal does not wait for browsers that keep a connection.
    await proxy.close(signal === 'SIGTERM' ? 'wait' : 'cut')
    await shown.pages.close?.()
    await endCounts()
  }
}

/** The certificate of an authority is kept in the dataDir, and the process that leads orders it. */
function withAcme({ tls, ...config }: Config): ProxyOptions {
  if (tls?.acme === undefined) return { ...config, tls: tls && { ...tls, acme: undefined } }
  const place = { folder: join(config.dataDir, 'acme'), orders: false }
  return { ...config, tls: { ...tls, acme: { ...tls.acme, ...place } } }
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
