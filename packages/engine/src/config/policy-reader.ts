import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import type { ListsOfConfig } from '#features/lists'
import type { PolicyText } from './policy-text.ts'
import type { JudgedRequest, Judgement, PolicyAnswer, PolicyQuestion } from './policy-thread.ts'
import type { Config } from './schema.ts'

/** How long one text may take, and the start of the thread before it. */
const DEADLINE_MS = 2_000
const START_MS = 15_000
/** A thread that nobody asks for so long is ended. */
const IDLE_MS = 60_000
/** Texts that wait for their turn. */
const MAX_WAITING = 8

/**
 * In megabytes: a policy takes a tenth of it. The stack holds the deepest text of 32 KB: V8 ends the whole process where a
 * regular expression is compiled with none left, so that it may not overflow.
 */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 256 }

/** Reads policies that people write and tries them, in a thread of its own: nothing of it stops what serves visitors. */
export interface PolicyReader {
  /**
   * Checks a text. Rejects with `invalid_policy` for one that takes too long to read, and with `service_unavailable`
   * where too many wait.
   */
  check(text: string): Promise<PolicyText>
  /** The text of a configuration with another policy, the rest as it was. Rejects as `check` does, and for a fault. */
  replace(configuration: string, policy: string): Promise<string>
  /**
   * Judges requests by each of some policies, in their order: about as many of the first as there is time for, which is one
   * at least. Rejects as `check` does.
   */
  judge(
    policies: readonly Config['policy'][],
    requests: readonly JudgedRequest[],
  ): Promise<readonly (readonly Judgement[])[]>
  close(): Promise<void>
}

export interface PolicyReaderOptions {
  readonly deadlineMs?: number | undefined
  /** The lists that policies may name. */
  readonly lists?: (() => ListsOfConfig) | undefined
}

const NO_LISTS = (): ListsOfConfig => ({ lists: {}, dataDir: '' })

/** Opens one; the thread starts with the first text, and holds up no exit. */
export function openPolicyReader({
  deadlineMs = DEADLINE_MS,
  lists = NO_LISTS,
}: PolicyReaderOptions = {}): PolicyReader {
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
      const asked = thread
      if (isClosed) throw new SallyportError('service_unavailable')
      asked.ref()
      asked.postMessage(question)
      const answer = await answerOf(asked, deadlineMs)
      asked.unref()
      idle = setTimeout(() => void end(), IDLE_MS).unref()
      return answer
    } catch (error) {
      await end()
      throw error
    }
  }

  function ask(question: PolicyQuestion): Promise<PolicyAnswer> {
    if (waiting >= MAX_WAITING) {
      return Promise.reject(new SallyportError('service_unavailable', 'Too many policies wait to be read.'))
    }
    waiting++
    const turn = last.then(() => run(question)).finally(() => waiting--)
    last = turn.catch(() => {})
    return turn
  }

  return {
    async check(text) {
      const answer = await ask({ text, lists: names() })
      if (typeof answer === 'object' && 'checked' in answer) return answer.checked
      throw refusal(answer)
    },
    async replace(configuration, text) {
      const answer = await ask({ text, configuration, lists: names() })
      if (typeof answer === 'object' && 'replaced' in answer) return answer.replaced
      throw refusal(answer)
    },
    async judge(policies, requests) {
      const config = lists()
      const answer = await ask({ policies, requests, lists: { lists: config.lists, dataDir: config.dataDir } })
      if (typeof answer === 'object' && 'judged' in answer) return answer.judged
      throw refusal(answer)
    },
    async close() {
      isClosed = true
      clearTimeout(idle)
      await end()
    },
  }
}

function refusal(answer: PolicyAnswer): SallyportError {
  return new SallyportError(
    'invalid_policy',
    typeof answer === 'object' && 'refused' in answer ? answer.refused : undefined,
  )
}

async function started(onExit: () => void): Promise<Worker> {
  const thread = new Worker(new URL('./policy-thread.js', import.meta.url), {
    resourceLimits: MEMORY,
    env: {},
    argv: [],
  })
  // A caller that waits for an answer hears of the error by the same event.
  thread.on('error', () => {}).once('exit', onExit)
  try {
    await answerOf(thread, START_MS)
  } catch (error) {
    await thread.terminate()
    throw error
  }
  return thread
}

/** The next message of a thread. Rejects with `invalid_policy` where it is late, or ends: its memory is bounded. */
async function answerOf(thread: Worker, milliseconds: number): Promise<PolicyAnswer> {
  const settled = new AbortController()
  const { signal } = settled
  const refused = (why: string): never => {
    throw new SallyportError('invalid_policy', why)
  }
  try {
    return await Promise.race([
      once(thread, 'message', { signal }).then(([answer]) => answer as PolicyAnswer),
      once(thread, 'exit', { signal }).then(() => refused('The text was not read to its end.')),
      delay(milliseconds, undefined, { signal }).then(() =>
        refused(`The text takes longer than ${milliseconds / 1_000} s to read.`),
      ),
    ])
  } catch (error) {
    if (error instanceof SallyportError) throw error
    return refused('The text cannot be read: it takes too much memory.')
  } finally {
    settled.abort()
  }
}
