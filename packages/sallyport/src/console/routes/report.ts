import { DAY_MS, HOUR_MS, rulesInForce, SallyportError } from '@sallyport/core'
import { type Period, readPeriod } from '@sallyport/engine'
import { crawlerSections } from '../report/crawler-sections.ts'
import { tallySections } from '../report/tally-sections.ts'
import type { ReadReports } from './reports.ts'
import { type ConsoleParts, type Query, row } from './route.ts'

/** How far back a report looks. */
const SPANS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const
type Span = keyof typeof SPANS

/** A day in short, and the day before it; null where nothing was counted. */
interface Today {
  /** Whether requests are counted at all. */
  readonly isKept: boolean
  /** Whether something is recorded and not carried out: all, in monitor mode, or a rule that is a dry run. */
  readonly isMonitoring: boolean
  readonly now: Period | null
  readonly before: Period | null
}

/** Counts by the hour of all processes: one file has them, so none is asked. */
export function reportRows(readReports: ReadReports) {
  const readSpan = (query: Query<'span'>, now: number, { sallyport }: Pick<ConsoleParts, 'sallyport'>) =>
    readReports(sallyport.config, SPANS[parseSpan(query)], now)

  async function readToday(now: number, { sallyport: { config } }: Pick<ConsoleParts, 'sallyport'>): Promise<Today> {
    // On the hour, as counts are kept: an hour of two days would be in both.
    const until = Math.ceil(now / HOUR_MS) * HOUR_MS
    const [one, before] = await Promise.all([
      readPeriod(config, until - DAY_MS, until),
      readPeriod(config, until - 2 * DAY_MS, until - DAY_MS),
    ])
    const isMonitoring =
      config.mode === 'monitor' || rulesInForce(config.policy).some(({ monitor }) => monitor === true)
    return { isKept: config.tally > 0 && !config.data.readOnly, isMonitoring, now: one ?? null, before: before ?? null }
  }

  return [
    row({
      method: 'GET',
      path: 'today',
      role: 'read',
      answer: ({ now }, parts) => readToday(now, parts),
    }),
    row({
      method: 'GET',
      path: 'report',
      role: 'read',
      takes: ['span'],
      async answer({ query, now }, parts) {
        const all = (await readSpan(query, now, parts))?.all
        return { rules: all?.rules ?? [], sections: all === undefined ? null : tallySections(all) }
      },
    }),
    row({
      method: 'GET',
      path: 'crawlers/read',
      role: 'read',
      takes: ['span'],
      async answer({ query, now }, parts) {
        const crawlers = (await readSpan(query, now, parts))?.crawlers
        return { sections: crawlers === undefined ? null : crawlerSections(crawlers) }
      },
    }),
  ]
}

function parseSpan(query: Query<'span'>): Span {
  const span = query.get('span') ?? '7d'
  if (!Object.hasOwn(SPANS, span)) throw new SallyportError('invalid_request', 'span: must be 24h, 7d or 30d')
  return span as Span
}
