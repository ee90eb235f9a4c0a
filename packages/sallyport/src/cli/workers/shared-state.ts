import { SallyportError } from '@sallyport/core'
import { keepCounted, type Sallyport, type Scraped } from '@sallyport/engine'
import type { Standing } from './worker.ts'
import { isFromPrimary, sendToPrimary } from './worker-messages.ts'
import { METRICS, type WorkerQuestions } from './worker-questions.ts'

type Crawls = NonNullable<Sallyport['crawls']>
type Minute = Parameters<Crawls['take']>[0]

const CRAWLS = 'crawls'
export const LOAD = 'load'

const ASK_LOAD_MS = 1_000

/** Makes the worker that leads write the records of crawling of all workers, which otherwise multiply with them. */
export function shareCrawls({ share, take }: Crawls, others: WorkerQuestions, standing: Pick<Standing, 'leads'>): void {
  others.answer(CRAWLS, (minute) => standing.leads && take(minute as Minute))
  share(async (minute) => {
    if (standing.leads) return false
    const { answers, silent } = await others.ask(CRAWLS, minute)
    if (answers.includes(true)) return true
    return silent > 0 ? undefined : false
  })
}

/** Gives rules the highest load of all workers; asks only while a rule reads it. Returns a function that stops it. */
export function shareLoad(load: Sallyport['load'], others: Pick<WorkerQuestions, 'ask'>): () => void {
  let asking = false
  const ask = async (): Promise<void> => {
    asking = true
    const { answers } = await others.ask(LOAD)
    load.takeOthers(Math.max(0, ...answers.filter((answer) => typeof answer === 'number')), performance.now())
    asking = false
  }
  const timer = setInterval(() => {
    if (load.isAsked && !asking) void ask()
  }, ASK_LOAD_MS).unref()
  return () => clearInterval(timer)
}

/**
 * Tells the other workers which requests of visits ended here, and counts theirs: the connections of one browser end in several workers, so
 * two workers may answer a page and its files. Returns a function that stops it.
 */
export function shareVisits({ share, takeAll }: Sallyport['behaviour']): () => void {
  share((events) => sendToPrimary({ worker: 'visits', events }))
  const take = (message: unknown): void => {
    if (isFromPrimary(message) && message.primary === 'visits') takeAll(message.events)
  }
  process.on('message', take)
  return () => void process.off('message', take)
}

/** Returns this worker's answer to another's scrape; the primary stores the counts before a scrape shows them. */
export async function ownScrape(read: () => Promise<Scraped>, standing: Standing): Promise<Scraped> {
  const scraped = await read()
  standing.counted(keepCounted(scraped))
  return scraped
}

/**
 * Collects the metrics of all workers, with the counts of workers that are late or gone. Each worker reports its counts before it answers,
 * so that no sum falls after it was shown. Rejects where the primary does not answer.
 */
export async function scrapeAll(own: Scraped, others: WorkerQuestions, standing: Standing) {
  standing.counted(keepCounted(own))
  const { answers, added } = await others.ask(METRICS)
  if (added === undefined) throw new SallyportError('service_unavailable')
  return [own, ...(answers as Scraped[]), ...(added as Scraped[])]
}
