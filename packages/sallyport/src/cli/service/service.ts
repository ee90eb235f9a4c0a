import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { counted, SallyportError } from '@sallyport/core'
import { type Config, type NoticeCode, policyText, type Reloaded, type Sallyport } from '@sallyport/engine'
import { openProxy, type ProxyOptions } from '@sallyport/proxy'
import { createHistory, type History } from '#console'
import { type DemoAgent, demoAgent } from '../demo/demo-agent.ts'
import { openDemoSite } from '../demo/site.ts'
import { DEMO_PAYMENTS, DEMO_VISITORS } from '../demo/visitors.ts'
import { type ConfigSource, warningText } from '../settings/config-file.ts'
import { openService } from '../settings/settings.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { handEvents } from '../workers/events.ts'
import { LOAD, ownScrape, scrapeAll, shareCrawls, shareLoad, shareVisits } from '../workers/shared-state.ts'
import { type Hangups, noteHangups, untilStopped } from '../workers/signals.ts'
import { notifySystemd } from '../workers/systemd.ts'
import { isWorker, joinWorkers, type Standing } from '../workers/worker.ts'
import { METRICS, openWorkerQuestions, type WorkerQuestions } from '../workers/worker-questions.ts'
import { runWorkers } from '../workers/workers.ts'
import { announce, isDemo } from './announce.ts'
import { CONSOLE, consoleLine, openAdminPages, type Steering } from './console-pages.ts'
import { faultText, throttled } from './faults.ts'
import { forgetAdmin, noteAdmin } from './gate.ts'
import { createReloads, onReload, type Running } from './reload.ts'
import { savePolicy } from './save-policy.ts'

/** Workers ask each other under this topic to adopt a saved policy, beside metrics and the console's topic. */
const POLICY = 'policy'

const QUIET: Terminal = { out() {}, err() {} }

/** Runs the proxy of a configuration until it is stopped: in `workers` processes, or in this one. */
export async function runService(source: ConfigSource, workers: number | undefined, terminal: Terminal): Promise<void> {
  const hangups = noteHangups()
  const warn: Running['warn'] = ({ warnings }) => {
    for (const fault of isWorker() ? [] : warnings) terminal.err(`sallyport: ${warningText(fault)}`)
  }
  if (workers !== undefined && !isWorker()) {
    const { config, warnings } = source.read()
    warn({ warnings })
    return runWorkers(workers, config, source.file, hangups, terminal).finally(() => forgetAdmin(config.dataDir))
  }
  // Full collections set the p99. V8 begins one when old objects have doubled, and places no object of a request among them.
  setFlagsFromString('--no-allocation-site-pretenuring --heap-growing-percent=100')
  const standing = await joinWorkers()
  const config = await readBeginning(source, standing, warn)
  const history = config.console.enabled ? createHistory(() => sallyport.meter.ended) : undefined
  const agent = isDemo(config) ? demoAgent(config.dataDir) : undefined
  const hooks = {
    onFault: throttled((error) => terminal.err(`sallyport: ${faultText(error)}`)),
    ...(isWorker() && { onNotice: filterNotices(standing, terminal), events: handEvents() }),
    ...(history && { observe: history.observe }),
    ...(isDemo(config) && { payments: DEMO_PAYMENTS }),
  }
  const sallyport = await openService(config, muteFollower(standing, terminal), hooks, agent?.published)
  try {
    await serve(sallyport, { config, source, warn, history, agent, standing, hangups }, terminal)
  } finally {
    await sallyport.close()
  }
}

/** Returns the configuration that this process begins with: the other workers', else the current file. */
async function readBeginning(source: ConfigSource, standing: Standing, warn: Running['warn']): Promise<Config> {
  if (standing.config !== undefined) return standing.config
  // A worker may replace another while a program writes the file.
  const read = isWorker() ? await source.readSettled() : source.read()
  warn(read)
  return read.config
}

interface Configured extends Pick<Running, 'source' | 'warn' | 'standing'> {
  readonly config: Config
  readonly history: History | undefined
  readonly agent: DemoAgent | undefined
  readonly hangups: Hangups
}

async function serve(sallyport: Sallyport, configured: Configured, terminal: Terminal): Promise<void> {
  const { config, source, history, standing } = configured
  const { file } = source
  const steering: Steering = { url: undefined, adminUrl: undefined, savePolicy: undefined }
  const others = openWorkerQuestions()
  const onConsoleFault = throttled((error) => terminal.err(`sallyport: console: ${faultText(error)}`))
  const shown = openAdminPages(sallyport, history, steering, file, others, onConsoleFault)
  const site = isDemo(config) ? await openDemoSite() : undefined
  const proxyOptions = (config: Config): ProxyOptions => ({
    ...placeAcme(config),
    upstream: config.upstream ?? site?.url,
  })
  const proxy = await openProxy(sallyport, {
    ...proxyOptions(config),
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
  const take = (next: Config): Promise<Reloaded> =>
    sallyport.reload(next, (config) => proxy.prepare(proxyOptions(config)))
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
  if (file !== undefined) steering.savePolicy = createPolicySaver(sallyport, source, file, takeOver, others, terminal)
  let signal: NodeJS.Signals | undefined
  const reloadNext = createReloads({ ...configured, sallyport, url: proxy.url, take }, terminal)
  const leading = muteFollower(standing, terminal)
  const ends: (() => void)[] = []
  if (others) ends.push(shareLoad(sallyport.load, others), shareVisits(sallyport.behaviour))
  if (others && sallyport.crawls) shareCrawls(sallyport.crawls, others, standing)
  const endCounts = standing.reportCounts(proxy.counted)
  try {
    const stopped = untilStopped(isWorker() ? QUIET : terminal)
    if (proxy.adminUrl !== undefined) await noteAdmin(config.dataDir, proxy.adminUrl)
    if (standing.first) await announce(sallyport, config, proxy, terminal)
    if (standing.first && history && proxy.adminUrl !== undefined) terminal.err(consoleLine(shown, proxy.adminUrl))
    standing.serves(sallyport.config)
    standing.onLead(() => {
      proxy.orderCertificates()
      void notifySystemd('ready', `Listening on ${proxy.url}`, terminal)
    })
    // The start is announced first: systemd accepts a reload only after the service is ready.
    const onNotice = (message: string) => leading.err(`sallyport: ${message}`)
    ends.push(onReload(reloadNext, configured.hangups, config.watch ? source.hasChanged : undefined, onNotice))
    signal = await stopped
    if (!isWorker()) {
      terminal.err('Finishing requests in flight; repeat to stop now.')
      void notifySystemd('stopping', 'Finishing requests in flight', terminal)
    }
  } finally {
    for (const end of ends) end()
    // A person at the terminal does not wait for browsers that keep a connection.
    await proxy.close(signal === 'SIGTERM' ? 'wait' : 'cut')
    await site?.close()
    if (!isWorker()) forgetAdmin(config.dataDir)
    await shown.pages.close?.()
    await endCounts()
  }
}

/** Saves policies of the console one after the other, and makes all workers adopt each. */
function createPolicySaver(
  sallyport: Sallyport,
  source: ConfigSource,
  file: string,
  takeOver: () => Promise<void>,
  others: WorkerQuestions | undefined,
  terminal: Terminal,
): NonNullable<Steering['savePolicy']> {
  let last = Promise.resolve()
  const save: NonNullable<Steering['savePolicy']> = async (written) => {
    // An invalid file gets no policy, because the rest of it would be lost. A file whose policy another worker or program saved, and that
    // is not in force here yet, gets none either.
    const { config: next } = await source.readSettled()
    if (policyText(next.policy) !== policyText(sallyport.config.policy)) {
      throw new SallyportError(
        'edit_conflict',
        'The policy in the file is not the policy in force. Reload the configuration, then save again.',
      )
    }
    await savePolicy(file, written, takeOver)
    const { silent = 0 } = (await others?.ask(POLICY)) ?? {}
    if (silent > 0)
      terminal.err(`sallyport: ${counted(silent, 'worker')} did not apply the saved policy. Send SIGHUP to reload it.`)
  }
  return (written) => {
    const next = last.catch(() => {}).then(() => save(written))
    last = next
    return next
  }
}

/** Keeps the certificate of an authority in the dataDir; the process that leads orders it. */
function placeAcme({ tls, ...config }: Config): ProxyOptions {
  if (tls?.acme === undefined) return { ...config, tls: tls && { ...tls, acme: undefined } }
  const place = { folder: join(config.dataDir, 'acme'), orders: false }
  return { ...config, tls: { ...tls, acme: { ...tls.acme, ...place } } }
}

function muteFollower(standing: Standing, terminal: Terminal): Terminal {
  return {
    out: (text) => void (standing.leads && terminal.out(text)),
    err: (text) => void (standing.leads && terminal.err(text)),
  }
}

/** Codes of a download round's outcome; only the worker with the lock of the dataDir has them. */
const ROUNDS: ReadonlySet<NoticeCode> = new Set(['SALLYPORT_FEED_REFUSED', 'SALLYPORT_OFFLINE'])

/** Chooses the notices that a worker prints: the leader those that all workers have, a serving worker those about its own downloads. */
function filterNotices(standing: Standing, terminal: Terminal): (code: NoticeCode, message: string) => void {
  return (code, message) => {
    if (code === 'SALLYPORT_DATA_STALE') return
    if (standing.leads || (standing.serving && ROUNDS.has(code))) terminal.err(`sallyport: ${message}`)
  }
}
