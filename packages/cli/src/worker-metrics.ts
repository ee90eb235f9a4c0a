import cluster, { type Worker } from 'node:cluster'
import type { Scraped } from '@sallyport/metrics'

/** Longest that a scrape waits for the other workers; who is later is left out. */
const WAIT_MS = 1_000

/** What travels between the workers and the primary: a worker asks, all answer, it gets what came. */
type Message =
  | { readonly scrape: 'ask' | 'tell'; readonly id: string }
  | { readonly scrape: 'answer'; readonly id: string; readonly own: Scraped }
  | { readonly scrape: 'all'; readonly id: string; readonly all: readonly Scraped[] }

function isMessage(message: unknown): message is Message {
  return typeof message === 'object' && message !== null && 'scrape' in message
}

/** In a worker: what all workers say at a scrape. `undefined` in a process of its own. */
export function scrapingAll(): ((own: Scraped) => Promise<readonly Scraped[]>) | undefined {
  const { worker } = cluster
  if (worker === undefined) return undefined
  let last = 0
  return (own) =>
    new Promise((resolve) => {
      const id = `${worker.id}.${++last}`
      const finish = (all: readonly Scraped[]): void => {
        clearTimeout(late)
        process.off('message', listen)
        resolve(all)
      }
      const listen = (message: unknown): void => {
        if (isMessage(message) && message.scrape === 'all' && message.id === id) finish([own, ...message.all])
      }
      // Longer than the primary waits.
      const late = setTimeout(() => finish([own]), 2 * WAIT_MS)
      process.on('message', listen)
      process.send?.({ scrape: 'ask', id } satisfies Message)
    })
}

/** In a worker: answers when another one is scraped. */
export function answerScrapes(scrape: () => Promise<Scraped>): void {
  process.on('message', (message) => {
    if (!isMessage(message) || message.scrape !== 'tell') return
    void scrape().then((own) => process.send?.({ scrape: 'answer', id: message.id, own } satisfies Message))
  })
}

/** In the primary: asks all other workers for the one that is scraped. */
export function relayScrapes(workers: ReadonlySet<Worker>, worker: Worker): void {
  worker.on('message', (message) => {
    if (!isMessage(message) || message.scrape !== 'ask') return
    const { id } = message
    const others = [...workers].filter((other) => other !== worker && other.isConnected())
    const all: Scraped[] = []
    const finish = (): void => {
      clearTimeout(late)
      for (const other of others) other.off('message', listen)
      if (worker.isConnected()) worker.send({ scrape: 'all', id, all } satisfies Message)
    }
    const listen = (answer: unknown): void => {
      if (!isMessage(answer) || answer.scrape !== 'answer' || answer.id !== id) return
      all.push(answer.own)
      if (all.length === others.length) finish()
    }
    const late = setTimeout(finish, WAIT_MS)
    for (const other of others) {
      other.on('message', listen)
      other.send({ scrape: 'tell', id } satisfies Message)
    }
    if (others.length === 0) finish()
  })
}
