import { DAY_MS, HOUR_MS, rulesInForce, SallyportError } from '@sallyport/core'
import { type Period, readHours, readPeriod } from '@sallyport/engine'
import { convertHours } from '../history/history.ts'
import { crawlerSections } from '../report/crawler-sections.ts'
import { tallySections } from '../report/tally-sections.ts'
import { findRuling } from './policy-edit.ts'
import type { ReadReports } from './reports.ts'
import { type ConsoleParts, type Query, row } from './route.ts'

/** Spans that a report may cover. */
const SPANS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const
type Span = keyof typeof SPANS

/** Holds the empty curves of a span without counts. */
const NO_COURSE = convertHours({ from: 0, outcomes: {}, classes: {}, networks: {} })

/** Sums up a day and the day before; null where nothing was counted. */
interface Today {
  /** Whether requests are counted at all. */
  readonly isKept: boolean
  /** Whether decisions are recorded that monitor mode or a trial does not enforce. */
  readonly isMonitoring: boolean
  readonly now: Period | null
  readonly before: Period | null
}

/** Serves hourly counts of all processes: one file has them, so no process is asked. */
export function reportRows(readReports: ReadReports) {
  const readSpan = (query: Query<'span'>, now: number, { sallyport }: Pick<ConsoleParts, 'sallyport'>) =>
    readReports(sallyport.config, SPANS[parseSpan(query)], now)

  async function readToday(now: number, { sallyport: { config } }: Pick<ConsoleParts, 'sallyport'>): Promise<Today> {
    // Spans begin on the hour, as counts do: otherwise two days would share an hour.
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
        const { config } = parts.sallyport
        const [reports, hours] = await Promise.all([
          readSpan(query, now, parts),
          readHours(config, now - SPANS[parseSpan(query)], now),
        ])
        const { all } = reports ?? {}
        const { from, step, curves, totals } = hours === undefined ? NO_COURSE : convertHours(hours)
        const course = { now, from, step, curves, totals }
        return { rules: all?.rules ?? [], sections: all === undefined ? null : tallySections(all), course }
      },
    }),
    row({
      method: 'GET',
      path: 'crawlers/read',
      role: 'read',
      takes: ['span'],
      async answer({ query, now }, parts) {
        const crawlers = (await readSpan(query, now, parts))?.crawlers
        const { policy } = parts.sallyport.config
        const sections = crawlers === undefined ? null : crawlerSections(crawlers)
        return {
          sections:
            sections?.map((section) => ({
              ...section,
              ruling: section.operator === undefined ? undefined : findRuling(policy, section.operator),
            })) ?? null,
        }
      },
    }),
  ]
}

function parseSpan(query: Query<'span'>): Span {
  const span = query.get('span') ?? '7d'
  if (!Object.hasOwn(SPANS, span)) throw new SallyportError('invalid_request', 'span: must be 24h, 7d or 30d')
  return span as Span
}
