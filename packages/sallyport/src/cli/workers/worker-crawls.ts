import type { Sallyport } from '@sallyport/engine'
import type { Standing } from './worker.ts'
import type { WorkerQuestions } from './worker-questions.ts'

type Crawls = NonNullable<Sallyport['crawls']>
type Minute = Parameters<Crawls['take']>[0]

const CRAWLS = 'crawls'

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
