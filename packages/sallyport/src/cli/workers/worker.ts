import cluster from 'node:cluster'
import type { Config, Scraped } from '@sallyport/engine'
import type { WorkerCounts } from '@sallyport/proxy/internal'
import { isFromPrimary, sendToPrimary } from './worker-messages.ts'

/** How often a worker shows that it lives, and says what it has counted. */
const REPORT_MS = 1_000
/** The time after which a process that has left its primary exits: it has closed all that it knows of. */
const LEAVE_MS = 5_000

/** This process among those that serve: one of several workers, or the only one, which leads. */
export interface Standing {
  /** Whether this process prints, orders and notifies for all. One does, and does so until its end. */
  readonly leads: boolean
  /** Whether it is the first of its command, and says what there is to say of the service. */
  readonly first: boolean
  /** The configuration that the others serve with; absent: it is read. */
  readonly config: Config | undefined
  /** Whether it takes connections. */
  readonly serving: boolean
  /** The primary's counts of all workers; absent: there are none. */
  readonly counts: WorkerCounts | undefined
  /** Calls `take` once this process leads, at once where it does. */
  onLead(take: () => void): void
  /** This process takes connections, under this configuration. */
  serves(config: Config): void
  /** A reload has ended, with this configuration in force. */
  reloaded(config: Config): void
  /** The primary keeps what was counted, for the time after this process. */
  counted(counted: Scraped): void
  /** Does that at an interval; returns what ends it, with a last word. */
  reportCounts(read: () => Promise<Scraped>): () => Promise<void>
}

/** Whether this process is one of several workers. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/** A process without a primary. */
const ALONE: Standing = {
  leads: true,
  first: true,
  config: undefined,
  serving: true,
  counts: undefined,
  onLead: (take) => take(),
  serves() {},
  reloaded() {},
  counted() {},
  reportCounts: () => async () => {},
}

/** Reports to the primary, and resolves once that has said what to start with. */
export function joinWorkers(): Promise<Standing> {
  if (!isWorker()) return Promise.resolve(ALONE)
  setInterval(() => sendToPrimary({ worker: 'lives' }), REPORT_MS).unref()
  const state: { leads: boolean; serving: boolean; counts: WorkerCounts | undefined } = {
    leads: false,
    serving: false,
    counts: undefined,
  }
  let lead = (): void => {}
  const standing = (first: boolean, config: Config | undefined): Standing => ({
    get leads() {
      return state.leads
    },
    first,
    config,
    get serving() {
      return state.serving
    },
    get counts() {
      return state.counts
    },
    onLead(take) {
      lead = take
      if (state.leads) take()
    },
    serves(config) {
      state.serving = true
      sendToPrimary({ worker: 'serves', config })
    },
    reloaded: (config) => sendToPrimary({ worker: 'reloaded', config }),
    counted: (counted) => sendToPrimary({ worker: 'counted', counted }),
    reportCounts,
  })
  return new Promise((resolve) => {
    process.on('message', (message) => {
      if (!isFromPrimary(message)) return
      if (message.primary === 'workers') state.counts = message.counts
      if (message.primary === 'start') {
        state.leads = message.leads
        resolve(standing(message.first, message.config))
      }
      if (message.primary === 'lead') {
        state.leads = true
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
  // One at a time: a primary that is stopped takes none of them, and each would wait in memory.
  const timer = setInterval(() => void (waits || report()), REPORT_MS).unref()
  return () => {
    clearInterval(timer)
    return report()
  }
}

/**
 * Lets a worker go that has come to its end, however far it had come: the channel to the primary would hold the process. In
 * a process without a primary it does nothing.
 */
export function leavePrimary(): void {
  const { worker } = cluster
  if (worker === undefined) return
  if (worker.isConnected()) worker.disconnect()
  setTimeout(() => process.exit(), LEAVE_MS).unref()
}
