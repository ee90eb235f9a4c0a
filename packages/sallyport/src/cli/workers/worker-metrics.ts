import { SallyportError } from '@sallyport/core'
import { keepCounted, type Scraped } from '@sallyport/engine'
import type { Standing } from './worker.ts'
import { METRICS, type WorkerQuestions } from './worker-questions.ts'

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
