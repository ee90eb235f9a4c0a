import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { counted, SallyportError } from '@sallyport/core'
import {
  type Config,
  type ConfigRead,
  type NoticeCode,
  policyText,
  type Reloaded,
  type Sallyport,
} from '@sallyport/engine'
import { openProxy, type ProxyOptions } from '@sallyport/proxy'
import { createHistory, type History } from '#console'
import { type DemoAgent, demoAgent } from '../demo/demo-agent.ts'
import { openDemoSite } from '../demo/site.ts'
import { DEMO_VISITORS } from '../demo/visitors.ts'
import { type ConfigSource, warningText } from '../settings/config-file.ts'
import { openService } from '../settings/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { handEvents } from '../workers/events.ts'
import { type Hangups, noteHangups } from '../workers/hangups.ts'
import { untilStopped } from '../workers/stop.ts'
import { notifySystemd } from '../workers/systemd.ts'
import { isWorker, joinWorkers, type Standing } from '../workers/worker.ts'
import { LOAD, shareLoad } from '../workers/worker-load.ts'
import { ownScrape, scrapeAll } from '../workers/worker-metrics.ts'
import { METRICS, openWorkerQuestions, type WorkerQuestions } from '../workers/worker-questions.ts'
import { runWorkers } from '../workers/workers.ts'
import { announce, isDemo } from './announce.ts'
import { CONSOLE, consoleLine, openAdminPages, type Steering } from './console-pages.ts'
import { faultText, throttled } from './faults.ts'
import { forgetAdmin, noteAdmin } from './gate.ts'
import { onReload } from './reload.ts'
import { createReloads } from './reloads.ts'
import { savePolicy } from './save-policy.ts'

/** The topic by which workers have each other take a saved policy over, beside metrics and the console's. */
const POLICY = 'policy'

const QUIET: Terminal = { out() {}, err() {} }

/** Warnings that a start says. */
const MAX_WARNINGS = 20

/** Runs the proxy of a configuration until it is stopped: in `workers` processes, or in this one. */
export async function runService(source: ConfigSource, workers: number | undefined, terminal: Terminal): Promise<void> {
  const hangups = noteHangups()
  const warn = ({ warnings }: Pick<ConfigRead, 'warnings'>): void => {
    if (isWorker()) return
    for (const fault of warnings.slice(0, MAX_WARNINGS)) terminal.err(`sallyport: ${warningText(fault)}`)
    const left = warnings.length - MAX_WARNINGS
    if (left > 0) terminal.err(`sallyport: ${counted(left, 'warning')} more: config check has them all`)
  }
  if (workers !== undefined && !isWorker()) {
    const first = source.read()
    warn(first)
    const { config } = first
    return runWorkers(workers, { config, file: source.file, hangups }, terminal).finally(() =>
      forgetAdmin(config.dataDir),
    )
  }
  // V8 comes to allocate some objects of requests among the old ones, and the full collections that follow are the p99.
  setFlagsFromString('--no-allocation-site-pretenuring')
  const standing = await joinWorkers()
  const config = await readBeginning(source, standing, warn)
  const history = config.console.enabled ? createHistory(() => sallyport.meter.ended) : undefined
  const agent = isDemo(config) ? demoAgent(config.dataDir) : undefined
  const hooks = {
    onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
    ...(isWorker() && {
      onNotice: filterNotices(standing, terminal),
      events: handEvents(),
    }),
    ...(history && { observe: history.observe }),
  }
  const sallyport = await openService(config, ofLeader(standing, terminal), hooks, agent?.published)
  try {
    await serve(sallyport, { config, source, warn, history, agent, standing, hangups }, terminal)
  } finally {
    await sallyport.close()
  }
}

/** The configuration that this process begins with: that of the workers beside it, else the file as it is. */
async function readBeginning(
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

/** The configuration of a run, and how it is read again. */
interface Configured {
  readonly config: Config
  readonly source: ConfigSource
  readonly warn: (read: Pick<ConfigRead, 'warnings'>) => void
  /** Source of the console's figures; absent: there is no console. */
  readonly history: History | undefined
  /** The agent that signs requests in the demo. */
  readonly agent: DemoAgent | undefined
  readonly standing: Standing
  readonly hangups: Hangups
}

async function serve(sallyport: Sallyport, configured: Configured, terminal: Terminal): Promise<void> {
  const { config, source, history, standing } = configured
  const { file } = source
  const steering: Steering = { url: undefined, adminUrl: undefined, savePolicy: undefined }
  const others = openWorkerQuestions()
  const onConsoleFault = throttled((error) => terminal.err(`sallyport: console: ${faultText(error)}`))
  const shown = openAdminPages(sallyport, history, { steering, file, others, onFault: onConsoleFault })
  const site = isDemo(config) ? await openDemoSite() : undefined
  const optionsOf = (config: Config): ProxyOptions => ({ ...withAcme(config), upstream: config.upstream ?? site?.url })
  const proxy = await openProxy(sallyport, {
    ...optionsOf(config),
    adminPages: shown.pages,
    onDecision: site?.onDecision,
    readsRobots: site !== undefined,
    workers: () => standing.counts,
    scrapeAll: others && ((own) => scrapeAll(own, others, standing)),
    onNotice: (message) => terminal.err(`sallyport: ${message}`),
    onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
    onOriginFailure: throttled((error) => terminal.err(`sallyport: the origin failed: ${faultText(error)}`)),
  })
  site?.stand({
    sallyport,
    url: proxy.url,
    consoleUrl: history && proxy.adminUrl,
    visitors: [...DEMO_VISITORS, ...(configured.agent ? [configured.agent.visitor] : [])],
  })
  const take = (next: Config): Promise<Reloaded> => sallyport.reload(next, (config) => proxy.prepare(optionsOf(config)))
  const takeOver = async (): Promise<void> => {
    const read = source.read()
    configured.warn(read)
    await take(read.config)
    standing.reloaded(sallyport.config)
  }
  others?.answer(METRICS, () => ownScrape(proxy.scrape, standing))
  others?.answer(POLICY, async () => takeOver().then(() => true))
  others?.answer(LOAD, () => sallyport.load.own)
  others?.answer(CONSOLE, async (about) => shown.pages.answerOther?.(about))
  steering.url = proxy.url
  steering.adminUrl = proxy.adminUrl
  // Workers come and go, and their primary stays.
  if (proxy.adminUrl !== undefined) noteAdmin(config.dataDir, proxy.adminUrl, isWorker() ? process.ppid : process.pid)
  steering.savePolicy =
    file === undefined ? undefined : createPolicySaver({ ...configured, sallyport, file, takeOver, others }, terminal)
  let signal: NodeJS.Signals | undefined
  const reloadNext = createReloads({ ...configured, sallyport, url: proxy.url, take }, terminal)
  const leading = ofLeader(standing, terminal)
  let endReload = (): void => {}
  const endLoad = others && shareLoad(sallyport.load, others)
  const endCounts = standing.reportCounts(proxy.counted)
  try {
    const stopped = untilStopped(isWorker() ? QUIET : terminal)
    if (standing.first) await announce(sallyport, config, proxy, terminal)
    if (standing.first && history && proxy.adminUrl !== undefined) terminal.err(consoleLine(shown, proxy.adminUrl))
    standing.serves(sallyport.config)
    standing.onLead(() => {
      proxy.orderCertificates()
      void notifySystemd('ready', `Listening on ${proxy.url}`, terminal)
    })
    // After the start is said: systemd hears of a reload once it knows that the service is ready.
    endReload = onReload(
      reloadNext,
      configured.hangups,
      config.watch
        ? { hasChanged: source.hasChanged, onNotice: (message) => leading.err(`sallyport: ${message}`) }
        : undefined,
    )
    signal = await stopped
    if (!isWorker()) {
      terminal.err('Finishing requests in flight; repeat to stop now.')
      void notifySystemd('stopping', 'Finishing requests in flight', terminal)
    }
  } finally {
    endReload()
    endLoad?.()
    // A person at the terminal does not wait for browsers that keep a connection.
    await proxy.close(signal === 'SIGTERM' ? 'wait' : 'cut')
    await site?.close()
    if (!isWorker()) forgetAdmin(config.dataDir)
    await shown.pages.close?.()
    await endCounts()
  }
}

interface Saving extends Pick<Configured, 'source'> {
  readonly sallyport: Sallyport
  readonly file: string
  readonly takeOver: () => Promise<void>
  readonly others: WorkerQuestions | undefined
}

/** Saves policies of the console one after the other, and has all workers take each over. */
function createPolicySaver(
  { sallyport, source, file, takeOver, others }: Saving,
  terminal: Terminal,
): NonNullable<Steering['savePolicy']> {
  return inTurn(async (written) => {
    // A file that is not usable as it is gets no policy: the rest of it would be lost. Nor does a file whose policy another worker
    // saved, or somebody wrote, and that is not in force here yet.
    const { config: next } = await source.readSettled()
    if (policyText(next.policy) !== policyText(sallyport.config.policy)) {
      throw new SallyportError(
        'edit_conflict',
        'The file has another policy than the one in force: reload, and save again.',
      )
    }
    await savePolicy(file, written, takeOver)
    const { silent = 0 } = (await others?.ask(POLICY)) ?? {}
    if (silent > 0)
      terminal.err(`sallyport: the saved policy was not taken over by ${counted(silent, 'worker')}; SIGHUP does it.`)
  })
}

/** Calls one after the other. */
function inTurn<Given>(act: (given: Given) => Promise<void>): (given: Given) => Promise<void> {
  let last: Promise<void> = Promise.resolve()
  return (given) => {
    const next = last.catch(() => {}).then(() => act(given))
    last = next
    return next
  }
}

/** The certificate of an authority is kept in the dataDir, and the process that leads orders it. */
function withAcme({ tls, ...config }: Config): ProxyOptions {
  if (tls?.acme === undefined) return { ...config, tls: tls && { ...tls, acme: undefined } }
  const place = { folder: join(config.dataDir, 'acme'), orders: false }
  return { ...config, tls: { ...tls, acme: { ...tls.acme, ...place } } }
}

/** A terminal that prints for all processes, as long as this one leads. */
function ofLeader(standing: Standing, terminal: Terminal): Terminal {
  return {
    out: (text) => void (standing.leads && terminal.out(text)),
    err: (text) => void (standing.leads && terminal.err(text)),
  }
}

/** Codes of what a round of downloads came to; one worker has it, the one with the lock of the dataDir. */
const ROUNDS: ReadonlySet<NoticeCode> = new Set(['SALLYPORT_FEED_REFUSED', 'SALLYPORT_OFFLINE'])

/** Notices of a worker: who leads says what all notice, and each one that serves what came of its own round. */
function filterNotices(standing: Standing, terminal: Terminal): (code: NoticeCode, message: string) => void {
  return (code, message) => {
    if (code === 'SALLYPORT_DATA_STALE') return
    if (standing.leads || (standing.serving && ROUNDS.has(code))) terminal.err(`sallyport: ${message}`)
  }
}
