import { SallyportError } from '@sallyport/core'
import { countedOf, type Scraped } from '@sallyport/engine'
import type { Standing } from './worker.ts'
import { METRICS, type WorkerQuestions } from './worker-questions.ts'

/** Returns this worker's answer to a scrape of another; the primary keeps what was counted before anybody shows it. */
export async function ownScrape(read: () => Promise<Scraped>, standing: Standing): Promise<Scraped> {
  const scraped = await read()
  standing.counted(countedOf(scraped))
  return scraped
}

/**
 * The metrics of all workers, with what those counted who are late or gone. Each reports before it answers what it
 * counted, so that no sum falls that was shown once. Rejects where the primary does not answer.
 */
export async function scrapeAll(
  own: Scraped,
  others: WorkerQuestions,
  standing: Standing,
): Promise<readonly Scraped[]> {
  standing.counted(countedOf(own))
  const { answers, added } = await others.ask(METRICS)
  if (added === undefined) throw new SallyportError('service_unavailable')
  return [own, ...(answers as Scraped[]), ...(added as Scraped[])]
}
