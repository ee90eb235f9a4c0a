import cluster from 'node:cluster'
import type { Writable } from '@sallyport/core'
import type { Config, Scraped } from '@sallyport/engine'
import type { WorkerCounts } from '@sallyport/proxy/internal'
import { isFromPrimary, sendToPrimary } from './worker-messages.ts'

/** Pause between two reports of a worker: that it lives, and what it has counted. */
const REPORT_MS = 1_000
/** A process that has left its primary exits after this time: it has closed all that it knows of. */
const LEAVE_MS = 5_000

/** Describes this process among the serving ones: one of several workers, or the only process, which leads. */
export interface Standing {
  /** Whether this process prints, orders and notifies for all. One process does, until its end. */
  readonly leads: boolean
  /** Whether it is the first process of its command, and announces the service. */
  readonly first: boolean
  /** The configuration that the other workers serve with; absent: the file is read. */
  readonly config: Config | undefined
  readonly serving: boolean
  /** The primary's counts of all workers; absent: there are none. */
  readonly counts: WorkerCounts | undefined
  /** Calls `take` once this process leads, or at once where it already does. */
  onLead(take: () => void): void
  /** Reports that this process takes connections, under this configuration. */
  serves(config: Config): void
  /** Reports that a reload has ended, with this configuration in force. */
  reloaded(config: Config): void
  /** Gives the primary the counts, which it keeps after this process ends. */
  counted(counted: Scraped): void
  /** Reports counts at an interval; returns a function that stops with a last report. */
  reportCounts(read: () => Promise<Scraped>): () => Promise<void>
}

export function isWorker(): boolean {
  return cluster.isWorker
}

/** Reports to the primary, and resolves once the primary has said what to start with; at once where there is no primary. */
export function joinWorkers(): Promise<Standing> {
  const isAlone = !isWorker()
  let lead = (): void => {}
  const standing: Writable<Standing> = {
    leads: isAlone,
    first: isAlone,
    config: undefined,
    serving: isAlone,
    counts: undefined,
    onLead(take) {
      lead = take
      if (standing.leads) take()
    },
    serves(config) {
      standing.serving = true
      sendToPrimary({ worker: 'serves', config })
    },
    reloaded: (config) => sendToPrimary({ worker: 'reloaded', config }),
    counted: (counted) => sendToPrimary({ worker: 'counted', counted }),
    reportCounts: isAlone ? () => async () => {} : reportCounts,
  }
  if (isAlone) return Promise.resolve(standing)
  setInterval(() => sendToPrimary({ worker: 'lives' }), REPORT_MS).unref()
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (!isFromPrimary(message)) return
      if (message.primary === 'workers') standing.counts = message.counts
      if (message.primary === 'start') {
        const { leads, first, config } = message
        resolve(Object.assign(standing, { leads, first, config }))
      }
      if (message.primary === 'lead') {
        standing.leads = true
        lead()
      }
    })
    sendToPrimary({ worker: 'begins' })
  })
}

function reportCounts(read: () => Promise<Scraped>): () => Promise<void> {
  let waits = false
  const done = (): void => {
    waits = false
  }
  const report = async (): Promise<void> => {
    waits = true
    try {
      sendToPrimary({ worker: 'counted', counted: await read() }, done)
    } catch {
      // Counts that cannot be read now are read the next time.
      done()
    }
  }
  // One report at a time: a stopped primary takes none, and each would wait in memory.
  const timer = setInterval(() => void (waits || report()), REPORT_MS).unref()
  return () => {
    clearInterval(timer)
    return report()
  }
}

/** Lets a worker end, however far it had come: its channel would keep the process alive. Does nothing without a primary. */
export function leavePrimary(): void {
  const { worker } = cluster
  if (worker === undefined) return
  if (worker.isConnected()) worker.disconnect()
  setTimeout(() => process.exit(), LEAVE_MS).unref()
}
