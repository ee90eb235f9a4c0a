import { Worker } from 'node:worker_threads'
import type { Draft, LedgerStore, Place } from '@sallyport/ledger'
import { closeOnExit, createExitGate } from './exit-gate.ts'
import { createAheadPlacer } from './placed-ahead.ts'
import { createSharedRecords, TRANSACTIONS } from './shared-records.ts'
import type { LedgerFile } from './sqlite-file.ts'
import type { Call, Operation, Reply, WorkerInput } from './sqlite-worker.ts'
import { packDrafts, packSpans, unpackRecords, unpackSubjects } from './transit.ts'

/** Longest that an operation of a request takes: a disk that hangs is a store that is down. */
const CALL_MS = 5_000

/** These look at every row, or wait for every reader. */
const UNTIMED: readonly Operation[] = ['eraseSubject', 'emptyLog']

type Expected = Parameters<LedgerStore['append']>[1]

interface Pending {
  resolve(result: unknown): void
  reject(error: Error): void
  readonly timer?: NodeJS.Timeout
}

/**
 * Opens the ledger in the SQLite file at `path`, creating it. The file is written by a thread of its own, with a full
 * sync at every commit; any number of processes may do so at once.
 */
export async function openSqliteLedger(path: string): Promise<LedgerStore> {
  const shared = createSharedRecords()
  const gate = createExitGate()
  const worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    workerData: { path, gate, shared } satisfies WorkerInput,
  })
  const forgetExit = closeOnExit(gate)
  const pending = new Map<number, Pending>()
  let calls = 0
  let ended: Error | undefined

  function settle(id: number): Pending | undefined {
    const found = pending.get(id)
    if (found === undefined) return undefined
    pending.delete(id)
    clearTimeout(found.timer)
    // The thread holds the process only while somebody waits for it.
    if (pending.size === 0) worker.unref()
    return found
  }

  function fail(error: Error): void {
    ended ??= error
    for (const id of [...pending.keys()]) settle(id)?.reject(ended)
  }

  worker.on('message', ({ id, result, error }: Reply) => {
    const waiting = settle(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error))
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    forgetExit()
    fail(new Error('The ledger is closed.'))
  })

  function expect(id: number, limitMs?: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const expire = () => settle(id)?.reject(new Error(`The ledger has not answered for ${CALL_MS} ms.`))
      const timer = limitMs === undefined ? undefined : setTimeout(expire, limitMs)
      pending.set(id, { resolve, reject, ...(timer === undefined ? {} : { timer }) })
      worker.ref()
    })
  }

  async function call<Name extends Operation>(
    operation: Name,
    ...values: Parameters<LedgerFile[Name]>
  ): Promise<ReturnType<LedgerFile[Name]>> {
    if (ended !== undefined) throw ended
    const id = ++calls
    const answer = expect(id, UNTIMED.includes(operation) ? undefined : CALL_MS)
    worker.postMessage({ id, operation, values } satisfies Call)
    return (await answer) as ReturnType<LedgerFile[Name]>
  }

  /** Appends whose records the thread places: until it has answered, nobody knows where the ledger ends. */
  const placing = new Set<Promise<unknown>>()

  /**
   * Records are placed here, on what is known of the ledger's end, and the thread only writes them. Where that cannot be,
   * or another process was quicker, the thread is given the drafts, and places them itself.
   */
  async function append(drafts: readonly Draft[]): Promise<readonly Place[]> {
    // What fails takes with it those behind it, who would wait as long for the same answer.
    while (placing.size > 0) await Promise.all(placing)
    const placed = placer.place(drafts)
    if (placed !== undefined) {
      const { area, packed, places } = placed
      if ((await call('write', area, packed).catch(lose)) > 0) return places
      placer.forget()
    }
    return (await appendInThread(drafts)) as readonly Place[]
  }

  async function appendInThread(drafts: readonly Draft[], expected?: Expected): Promise<readonly Place[] | undefined> {
    const learning = call('append', packDrafts(drafts), expected).then((appended) => {
      if (appended !== undefined)
        placer.learn(appended.firstId, appended.firstId + appended.positions.length, appended.heads)
      return appended
    }, lose)
    placing.add(learning)
    try {
      const appended = await learning
      if (appended === undefined) return undefined
      return Array.from(appended.positions, (seq, index) => ({ attestationId: appended.firstId + index, seq }))
    } finally {
      placing.delete(learning)
    }
  }

  function lose(error: unknown): never {
    placer.forget()
    throw error
  }

  const eraseNext = (after: number, moment: number) => call('eraseNext', after, moment)
  const origin = String(await expect(0))
  const placer = createAheadPlacer(origin, shared)
  return {
    origin,
    append: (drafts, expected) => (expected === undefined ? append(drafts) : appendInThread(drafts, expected)),
    overlap: {
      appends: TRANSACTIONS,
      elapsed: () => performance.now(),
      // Behind all microtasks, where it is called in one.
      afterTurn: (run) => process.nextTick(run),
    },
    head: (log) => call('head', log),
    logs: () => call('logs'),
    find: (attestationId, log) => call('find', attestationId, log),
    records: async (log, from, count) => unpackRecords(log, await call('records', log, from, count)),
    tile: (log, tileLevel, index) => call('tile', log, tileLevel, index),
    subjects: async (ids) => unpackSubjects(await call('subjects', packSpans(ids)), ids),
    uncovered: (limit) => call('uncovered', limit),
    putCheckpoint: (head, after, keyCount) => call('putCheckpoint', head, after, keyCount),
    checkpoints: (log, seq) => call('checkpoints', log, seq),
    allCheckpoints: (log) => call('allCheckpoints', log),
    putDocument: (document) => call('putDocument', document),
    document: (sha256) => call('document', sha256),
    eraseSubject: (address) => call('eraseSubject', address),
    async eraseBefore(moment) {
      let erased = 0
      // All of them, in many short steps, between which records are appended: those of a log whose clock once was ahead
      // are younger than what lies behind them.
      for (let after: number | undefined = 0; after !== undefined; ) {
        const step: Awaited<ReturnType<typeof eraseNext>> = await eraseNext(after, moment)
        erased += step.erased
        after = step.upTo
      }
      if (erased > 0) await call('emptyLog')
      return erased
    },
    async close() {
      if (ended === undefined) await call('close').catch(() => {})
      await worker.terminate()
    },
  }
}
