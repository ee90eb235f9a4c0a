import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import type { ListsOfConfig } from '#features/lists'
import { threadFlags } from '#files'
import type { JudgedRequest, PolicyAnswer, PolicyQuestion } from './policy-thread.ts'
import type { Config } from './schema.ts'

/** How long one text may take, and the start of the thread before it. */
const DEADLINE_MS = 2_000
const START_MS = 15_000
/** The reader ends a thread that is idle for this time. */
const IDLE_MS = 60_000
/** Further texts are refused while this many wait for their turn. */
const MAX_WAITING = 8

/**
 * In megabytes: a policy takes a tenth of it. The stack holds the deepest text of 32 KB: V8 ends the whole process if a regular expression
 * is compiled with no stack left, so the stack must not overflow.
 */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 256 }

/** Reads policies that users write and tries them, in a thread of its own, so that reading never delays visitors. */
export type PolicyReader = ReturnType<typeof openPolicyReader>

export interface PolicyReaderOptions {
  readonly deadlineMs?: number | undefined
  /** Returns the lists that policies may name. */
  readonly lists?: (() => ListsOfConfig) | undefined
}

const NO_LISTS = (): ListsOfConfig => ({ lists: {}, dataDir: '' })

/** Opens a reader; its thread starts with the first text and does not delay an exit. */
export function openPolicyReader({ deadlineMs = DEADLINE_MS, lists = NO_LISTS }: PolicyReaderOptions = {}) {
  const names = () => Object.keys(lists().lists)
  let thread: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let isClosed = false

  async function end(): Promise<void> {
    const ending = thread
    thread = undefined
    await ending?.terminate()
  }

  async function run(question: PolicyQuestion): Promise<PolicyAnswer> {
    if (isClosed) throw new SallyportError('service_unavailable')
    clearTimeout(idle)
    try {
      thread ??= await started(() => {
        thread = undefined
      })
      const worker = thread
      if (isClosed) throw new SallyportError('service_unavailable')
      worker.ref()
      worker.postMessage(question)
      const answer = await awaitAnswer(worker, deadlineMs)
      worker.unref()
      idle = setTimeout(() => void end(), IDLE_MS).unref()
      return answer
    } catch (error) {
      await end()
      throw error
    }
  }

  async function ask<Part extends keyof PolicyAnswer>(
    part: Part,
    question: PolicyQuestion,
  ): Promise<NonNullable<PolicyAnswer[Part]>> {
    if (waiting >= MAX_WAITING) throw new SallyportError('service_unavailable', 'Too many policies are being parsed.')
    waiting++
    const turn = last.then(() => run(question)).finally(() => waiting--)
    last = turn.catch(() => {})
    const answer = await turn
    const found = answer[part]
    if (found === undefined || found === null) throw new SallyportError('invalid_policy', answer.refused)
    return found
  }

  return {
    /** Checks a text. Rejects with `invalid_policy` if the reading takes too long, and with `service_unavailable` if too many texts wait. */
    check: (text: string) => ask('checked', { text, lists: names() }),
    /** Returns the text of a configuration with another policy and everything else unchanged. Rejects as `check` does, and for a fault. */
    replace: (configuration: string, text: string) => ask('replaced', { text, configuration, lists: names() }),
    /** Judges requests by each policy, in order: as many of the first requests as time permits, and at least one. Rejects as `check` does. */
    judge(policies: readonly Config['policy'][], requests: readonly JudgedRequest[]) {
      const config = lists()
      return ask('judged', { policies, requests, lists: { lists: config.lists, dataDir: config.dataDir } })
    },
    async close(): Promise<void> {
      isClosed = true
      clearTimeout(idle)
      await end()
    },
  }
}

async function started(onExit: () => void): Promise<Worker> {
  const thread = new Worker(new URL('./policy-thread.js', import.meta.url), {
    resourceLimits: MEMORY,
    env: {},
    execArgv: threadFlags(),
  })
  // A caller that waits for an answer receives the error by the same event.
  thread.on('error', () => {}).once('exit', onExit)
  try {
    await awaitAnswer(thread, START_MS)
  } catch (error) {
    await thread.terminate()
    throw error
  }
  return thread
}

/** Returns the next message of a thread. Rejects with `invalid_policy` if the message is late or the thread ends: its memory is bounded. */
async function awaitAnswer(thread: Worker, milliseconds: number): Promise<PolicyAnswer> {
  const settled = new AbortController()
  const { signal } = settled
  const refused = (why: string): never => {
    throw new SallyportError('invalid_policy', why)
  }
  try {
    return await Promise.race([
      once(thread, 'message', { signal }).then(([answer]) => answer as PolicyAnswer),
      once(thread, 'exit', { signal }).then(() => refused('Parsing the policy was interrupted.')),
      delay(milliseconds, undefined, { signal }).then(() =>
        refused(`Parsing the policy takes longer than ${milliseconds / 1_000} s.`),
      ),
    ])
  } catch (error) {
    if (error instanceof SallyportError) throw error
    return refused('Parsing the policy takes too much memory.')
  } finally {
    settled.abort()
  }
}
