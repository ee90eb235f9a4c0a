import { rulesInForce, SallyportError } from '@sallyport/core'
import { type Period, readPeriod, readTally, type TallyReports } from '@sallyport/engine'
import { type ConsoleParts, type Query, row } from './route.ts'

/** How far back a report looks. */
const SPANS = { '24h': 86_400_000, '7d': 7 * 86_400_000, '30d': 30 * 86_400_000 } as const
type Span = keyof typeof SPANS

/** A month of a busy site takes a moment to sum up, and changes little meanwhile. */
const KEPT_MS = 5_000

const DAY_MS = SPANS['24h']
const HOUR_MS = 3_600_000

/** A day in short, and the day before it; null where nothing was counted. */
interface Today {
  /** Whether requests are counted at all. */
  readonly isKept: boolean
  /** Whether something is recorded and not carried out: all, in monitor mode, or a rule that is a dry run. */
  readonly isMonitoring: boolean
  readonly now: Period | null
  readonly before: Period | null
}

type Kept = { readonly at: number; readonly reports: Promise<TallyReports | undefined> }

/** Counts by the hour of all processes: one file has them, so none is asked. */
export function reportRows() {
  const kept = new Map<Span, Kept>()
  let today: { readonly at: number; readonly answer: Promise<Today> } | undefined

  function reportsOf(query: Query<'span'>, now: number, { sallyport }: Pick<ConsoleParts, 'sallyport'>) {
    const span = spanOf(query)
    const known = kept.get(span)
    if (known !== undefined && now - known.at < KEPT_MS) return known.reports
    const reports = readTally(sallyport.config, now - SPANS[span], now)
    kept.set(span, { at: now, reports })
    // One that failed is asked again.
    reports.catch(() => kept.delete(span))
    return reports
  }

  async function todayOf(now: number, { sallyport: { config } }: Pick<ConsoleParts, 'sallyport'>): Promise<Today> {
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
      answer({ now }, parts) {
        if (today === undefined || now - today.at >= KEPT_MS) {
          today = { at: now, answer: todayOf(now, parts) }
          // One that failed is asked again.
          today.answer.catch(() => {
            today = undefined
          })
        }
        return today.answer
      },
    }),
    row({
      method: 'GET',
      path: 'report',
      role: 'read',
      takes: ['span'],
      answer: async ({ query, now }, parts) => ({ report: (await reportsOf(query, now, parts))?.all ?? null }),
    }),
    row({
      method: 'GET',
      path: 'crawlers/read',
      role: 'read',
      takes: ['span'],
      answer: async ({ query, now }, parts) => ({ report: (await reportsOf(query, now, parts))?.crawlers ?? null }),
    }),
  ]
}

function spanOf(query: Query<'span'>): Span {
  const span = query.get('span') ?? '7d'
  if (!Object.hasOwn(SPANS, span)) throw new SallyportError('invalid_request', 'span: must be 24h, 7d or 30d')
  return span as Span
}
