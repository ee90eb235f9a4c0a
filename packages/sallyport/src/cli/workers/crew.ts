import cluster, { type Worker } from 'node:cluster'
import { errorText } from '@sallyport/core'
import { type Config, createKeptCounts } from '@sallyport/engine'
import type { WorkerCounts } from '@sallyport/proxy/internal'
import type { WorkersSinks } from './events.ts'
import { closeHandedOver } from './handed-over.ts'
import { type FromPrimary, isFromWorker, sendTo } from './worker-messages.ts'
import { METRICS, questionRelay } from './worker-questions.ts'

/** Delays the replacement of a dead worker; the delay doubles until a worker has served for `STEADY_MS`. */
const RESTART_MS = { first: 100, max: 10_000 }
const STEADY_MS = 10_000

/** Counts silence in checks, not by a clock: a machine that sleeps counts one. A busy worker is not killed for it. */
const SILENT_LOOKS = 3
const HUNG_LOOKS = 20
/** The first start compiles the data. */
const HUNG_AT_START_LOOKS = 120
/** Permits so many checks beyond `timeouts.drain`: a worker closes files and stores after it. */
const CLOSE_LOOKS = 5

/** Limits how long a worker's last message may come after its exit. */
const LAST_MESSAGE_MS = 2_000

interface Member {
  readonly worker: Worker
  /** Counts early ends in a row of workers in this place. */
  readonly failures: number
  /** The configuration with which the worker was started; absent: it reads the file. */
  readonly config: Config | undefined
  /** Counts the changes that the configuration of the worker includes. */
  readonly changes: number
  begun: boolean
  servesSince: number | undefined
  /** Counts the checks since the worker last responded. */
  missed: number
}

/** Runs the worker processes of one command, in the primary; one worker leads. `say` takes a line that the operator should read. */
export class Crew {
  /** Resolves with an exit code where the first worker could not start. */
  readonly failed: Promise<number>
  readonly #wanted: number
  readonly #say: (line: string) => void
  readonly #sinks: WorkersSinks
  readonly #members = new Map<Worker, Member>()
  /** Keeps counts, so that no counter falls when its worker ends. */
  readonly #counts = createKeptCounts<Worker>()
  readonly #relay = questionRelay((topic, heard) =>
    topic === METRICS ? [...this.#counts.beside(heard), this.#sinks.counted()] : [],
  )
  /** The configuration that the workers serve under: a replacement starts with it. Until one serves, it is what the primary read. */
  #inForce: Config
  /** Counts reloads that were requested, and reloads that have ended. */
  #changes = 0
  /** Counts the changes that `#inForce` includes. */
  #included = 0
  /** Lists places without a worker, each with its previous failures. */
  readonly #vacant: number[]
  readonly #pauses = new Set<NodeJS.Timeout>()
  #fail: (code: number) => void = () => {}
  #leader: Member | undefined
  #hasServed = false
  /** Starts read the file where no worker serves: the configuration in force may be the cause, and the file may be repaired. */
  #readsFile = false
  #lastCounts = ''
  #ending: { looks: number; over(): void } | undefined

  constructor(wanted: number, config: Config, say: (line: string) => void, sinks: WorkersSinks) {
    this.#wanted = wanted
    this.#say = say
    this.#sinks = sinks
    this.#inForce = config
    this.#vacant = Array.from({ length: wanted }, () => 0)
    this.failed = new Promise((resolve) => {
      this.#fail = resolve
    })
  }

  /** Starts missing workers; one at a time while none serves, because one cause would stop all. */
  fill(): void {
    while (this.#vacant.length > 0 && (this.#serving().length > 0 || this.#members.size === 0)) {
      this.#start(this.#vacant.pop() ?? 0)
    }
  }

  /** Makes all workers read the configuration again; a worker that does not serve yet reads it then. */
  reload(): void {
    this.#changes++
    for (const { worker } of this.#serving()) worker.process.kill('SIGHUP')
  }

  /** Checks for workers that hang; call it at an interval. */
  look(): void {
    if (this.#ending) this.#ending.looks++
    for (const member of this.#members.values()) {
      member.missed++
      const most = member.servesSince === undefined ? HUNG_AT_START_LOOKS : HUNG_LOOKS
      const { pid } = member.worker.process
      if (member.missed === most) this.#say(`sallyport: worker ${pid} has not responded for ${most} s; killing it.`)
      if (member.missed >= most || this.#isLate(member)) member.worker.process.kill('SIGKILL')
    }
    this.#tellCounts()
  }

  killSilent(): void {
    for (const { worker, missed } of this.#members.values()) {
      if (missed >= SILENT_LOOKS) worker.process.kill('SIGKILL')
    }
  }

  /** Passes a signal on and waits for the end of all workers; none outlasts `timeouts.drain` by much. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    for (const pause of this.#pauses) clearTimeout(pause)
    await new Promise<void>((over) => {
      this.#ending = { looks: 0, over }
      for (const { worker } of this.#members.values()) worker.process.kill(signal)
      if (this.#members.size === 0) over()
    })
  }

  /** Reports whether a worker delays the end: at once where it hangs, else after its last requests and files. */
  #isLate({ missed }: Member): boolean {
    if (this.#ending === undefined) return false
    const { drain, lameDuck } = this.#inForce.timeouts
    const passed = this.#ending.looks - 1
    if (missed >= SILENT_LOOKS && passed >= drain / 1_000) return true
    return passed >= (drain + lameDuck) / 1_000 + CLOSE_LOOKS
  }

  #serving(): readonly Member[] {
    return [...this.#members.values()].filter(({ servesSince }) => servesSince !== undefined)
  }

  #start(failures: number): void {
    const config = this.#readsFile || !this.#hasServed ? undefined : this.#inForce
    const changes = config === undefined ? this.#changes : this.#included
    let worker: Worker
    try {
      worker = cluster.fork()
    } catch (error) {
      this.#replace({ failures, servesSince: undefined }, null, notStarted(error))
      return
    }
    const member: Member = { worker, failures, config, changes, begun: false, servesSince: undefined, missed: 0 }
    this.#members.set(worker, member)
    closeHandedOver(worker)
    worker.on('message', (message: unknown) => {
      if (!isFromWorker(message)) return
      member.missed = 0
      if (message.worker === 'counted') this.#counts.report(worker, message.counted)
      if (message.worker === 'begins') this.#answer(member)
      if (message.worker === 'serves') this.#serves(member, message.config)
      if (message.worker === 'event') this.#sinks.raise(message.event)
      if (message.worker === 'refused') this.#sinks.refused(message.count)
      if (message.worker === 'visits') this.#tellOthers(worker, { primary: 'visits', events: message.events })
      if (message.worker === 'reloaded') this.#take(message.config, ++this.#changes)
    })
    // The last message may come after the exit.
    worker.once('disconnect', () => this.#counts.end(worker))
    worker.once('exit', (code: number | null, signal: string | null) => {
      setTimeout(() => this.#forget(worker), LAST_MESSAGE_MS).unref()
      this.#ended(member, code, `worker ${worker.process.pid} ended (${signal ?? `exit ${code}`})`)
    })
    worker.on('error', (error) => {
      // The system could not start a process: the worker never begins, and never exits.
      if (worker.process.pid === undefined) this.#ended(member, null, notStarted(error))
    })
  }

  #tellOthers(from: Worker, message: FromPrimary): void {
    for (const other of this.#members.keys()) if (other !== from) sendTo(other, message)
  }

  /** Lets a worker go: Node 22 keeps one that was killed as it was sent a connection, and never says that its channel has ended. */
  #forget(worker: Worker): void {
    this.#counts.end(worker)
    worker.removeAllListeners().on('error', () => {})
  }

  #take(config: Config, changes: number): void {
    this.#inForce = config
    this.#included = changes
    this.#sinks.take(config)
  }

  #answer(member: Member): void {
    member.begun = true
    this.#leader ??= member
    const leads = this.#leader === member
    sendTo(member.worker, { primary: 'start', leads, first: leads && !this.#hasServed, config: member.config })
  }

  #serves(member: Member, config: Config): void {
    member.servesSince = performance.now()
    this.#hasServed = true
    this.#readsFile = false
    this.#relay(member.worker)
    // A change was requested, or adopted by the others, while this worker was starting.
    if (member.changes !== this.#changes) member.worker.process.kill('SIGHUP')
    else if (member.config === undefined) this.#take(config, member.changes)
    if (this.#ending === undefined) this.fill()
    this.#lastCounts = ''
    this.#tellCounts()
  }

  #ended(member: Member, code: number | null, what: string): void {
    if (!this.#members.delete(member.worker)) return
    // A worker that drains takes on no new role.
    if (member === this.#leader && this.#ending === undefined) {
      const [next] = [...this.#serving(), ...[...this.#members.values()].filter(({ begun }) => begun)]
      this.#leader = next
      if (next) sendTo(next.worker, { primary: 'lead' })
    }
    if (this.#ending === undefined) this.#replace(member, code, what)
    else if (this.#members.size === 0) this.#ending.over()
    this.#tellCounts()
  }

  #replace(before: Pick<Member, 'failures' | 'servesSince'>, code: number | null, what: string): void {
    if (!this.#hasServed) {
      // A worker that exits has reported the reason itself.
      if (code === null) this.#say(`sallyport: ${what}.`)
      this.#fail(code ?? 1)
      return
    }
    this.#say(`sallyport: ${what}; starting another.`)
    const { servesSince } = before
    if (servesSince === undefined && this.#serving().length === 0) this.#readsFile = !this.#readsFile
    const isSteady = servesSince !== undefined && performance.now() - servesSince > STEADY_MS
    const failures = isSteady ? 0 : before.failures + 1
    const pause = setTimeout(
      () => {
        this.#pauses.delete(pause)
        this.#vacant.push(failures)
        this.fill()
      },
      Math.min(RESTART_MS.first * 2 ** (isSteady ? 0 : before.failures), RESTART_MS.max),
    )
    this.#pauses.add(pause)
  }

  /** Tells every worker how many workers there are, where the number has changed. */
  #tellCounts(): void {
    const serving = this.#serving()
    const silent = serving.filter(({ missed }) => missed >= SILENT_LOOKS).length
    const counts: WorkerCounts = { wanted: this.#wanted, serving: serving.length, silent }
    const text = JSON.stringify(counts)
    if (text === this.#lastCounts) return
    this.#lastCounts = text
    for (const { worker } of serving) sendTo(worker, { primary: 'workers', counts })
  }
}

function notStarted(error: unknown): string {
  return `no worker could be started (${errorText(error)})`
}
