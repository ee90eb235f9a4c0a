import cluster, { type Worker } from 'node:cluster'
import { isRecord } from '@sallyport/core'
import { sendTo, sendToPrimary } from './worker-messages.ts'

/** Workers ask each other under this topic at a scrape; the primary adds the counts that it keeps. */
export const METRICS = 'metrics'

/** Limits the wait for the other workers. A scrape does not wait for a hung worker; a trial of a policy may have to start a thread. */
const chooseWaitMs = (topic: string): number => (topic === METRICS ? 1_000 : 3_000)

/** Messages between the workers and the primary: a worker asks, all others answer, and it receives what came. */
type Message =
  | { readonly question: 'ask' | 'tell'; readonly id: string; readonly topic: string; readonly about?: unknown }
  | { readonly question: 'answer'; readonly id: string; readonly answer?: unknown }
  | { readonly question: 'all'; readonly id: string; readonly answered: Answered }

/** Holds the answers of the other workers, and counts those that gave none. */
interface Answered {
  readonly answers: readonly unknown[]
  readonly silent: number
  /** Holds what the primary adds; absent where it did not answer. */
  readonly added?: readonly unknown[] | undefined
}

export type WorkerQuestions = NonNullable<ReturnType<typeof openWorkerQuestions>>

function isMessage(message: unknown): message is Message {
  return isRecord(message) && 'question' in message && 'id' in message
}

/** Opens the questions of a worker; `undefined` in a process without a primary. */
export function openWorkerQuestions() {
  const { worker } = cluster
  if (worker === undefined) return undefined
  const topics = new Map<string, (about: unknown) => unknown>()
  const waiting = new Map<string, (answered: Answered) => void>()
  let last = 0

  async function tell(id: string, topic: string, about: unknown): Promise<void> {
    try {
      const answer = await topics.get(topic)?.(about)
      sendToPrimary({ question: 'answer', id, answer } satisfies Message)
    } catch {
      sendToPrimary({ question: 'answer', id } satisfies Message)
    }
  }

  process.on('message', (message) => {
    if (!isMessage(message)) return
    if (message.question === 'tell') void tell(message.id, message.topic, message.about)
    if (message.question === 'all') waiting.get(message.id)?.(message.answered)
  })

  return {
    /** Answers the other workers about a topic; omits an answer that cannot be given. */
    answer: (topic: string, reply: (about: unknown) => unknown) => void topics.set(topic, reply),
    /** Asks all other workers about a topic, as JSON; resolves with the answers that come in time. */
    ask: (topic: string, about?: unknown) =>
      new Promise<Answered>((resolve) => {
        const id = `${worker.id}.${++last}`
        const finish = (answered: Answered): void => {
          clearTimeout(late)
          waiting.delete(id)
          resolve(answered)
        }
        // This is longer than the primary waits.
        const late = setTimeout(finish, 2 * chooseWaitMs(topic), { answers: [], silent: 1 })
        waiting.set(id, finish)
        sendToPrimary({ question: 'ask', id, topic, about } satisfies Message)
      }),
  }
}

/** Creates the relay of the primary: serving workers ask and answer each other. `adding` returns the answers of workers that were not heard. */
export function questionRelay(
  adding: (topic: string, heard: ReadonlySet<Worker>) => readonly unknown[],
): (worker: Worker) => void {
  const serving = new Set<Worker>()
  const open = new Map<string, { take(from: Worker, answer: unknown): void; lose(from: Worker): void }>()

  function pass(from: Worker, id: string, topic: string, about: unknown): void {
    const others = new Set([...serving].filter((other) => other !== from && other.isConnected()))
    const count = others.size
    const answers = new Map<Worker, unknown>()
    const finish = (): void => {
      clearTimeout(late)
      open.delete(id)
      const added = adding(topic, new Set([from, ...answers.keys()]))
      const answered = { answers: [...answers.values()], silent: count - answers.size, added }
      sendTo(from, { question: 'all', id, answered } satisfies Message)
    }
    const late = setTimeout(finish, chooseWaitMs(topic))
    const take = (other: Worker, answer: unknown): void => {
      if (!others.delete(other)) return
      if (answer !== undefined) answers.set(other, answer)
      if (others.size === 0) finish()
    }
    // The primary adds the counts of a worker that has ended, so its answer would count twice.
    const lose = (other: Worker): void => {
      if (topic === METRICS) answers.delete(other)
    }
    open.set(id, { take, lose })
    for (const other of others) sendTo(other, { question: 'tell', id, topic, about } satisfies Message)
    if (count === 0) finish()
  }

  return (worker) => {
    serving.add(worker)
    worker.on('message', (message) => {
      if (!isMessage(message)) return
      if (message.question === 'ask') pass(worker, message.id, message.topic, message.about)
      if (message.question === 'answer') open.get(message.id)?.take(worker, message.answer)
    })
    const lose = (): void => {
      for (const one of open.values()) one.lose(worker)
    }
    worker.once('disconnect', lose)
    worker.once('exit', () => {
      serving.delete(worker)
      lose()
      for (const { take } of [...open.values()]) take(worker, undefined)
    })
  }
}
