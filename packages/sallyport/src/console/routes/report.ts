import { DAY_MS, HOUR_MS, rulesInForce } from '@sallyport/core'
import { type Config, readHours, readPeriod, readTally, type TallyReports } from '@sallyport/engine'
import { convertHours } from '../history/history.ts'
import { crawlerSections } from '../report/crawler-sections.ts'
import { tallySections } from '../report/tally-sections.ts'
import { findRuling } from './policy-edit.ts'
import { get } from './route.ts'
import { parseSpan } from './values.ts'

/** Spans that a report may cover. */
const SPANS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const

const NO_HOURS = { from: 0, outcomes: {}, classes: {}, networks: {} }

/** Keeps a report for so long: summing up a busy month takes a moment, and changes little meanwhile. */
const KEPT_MS = 5_000

/** Reads the tally of all processes over the last `ms` milliseconds. */
export type ReadReports = (config: Config, ms: number, now: number) => Promise<TallyReports | undefined>

/** Keeps each report for some seconds; reads a failed report again. */
export function keepReports(): ReadReports {
  const kept = new Map<number, { readonly at: number; readonly reports: ReturnType<ReadReports> }>()
  return (config, ms, now) => {
    const known = kept.get(ms)
    if (known !== undefined && now - known.at < KEPT_MS) return known.reports
    const reports = readTally(config, now - ms, now)
    kept.set(ms, { at: now, reports })
    reports.catch(() => kept.delete(ms))
    return reports
  }
}

/** Serves hourly counts of all processes: one file has them, so no process is asked. */
export function reportRows(readReports: ReadReports) {
  return [
    get('today', {}, async ({ now }, { sallyport: { config } }) => {
      // Spans begin on the hour, as counts do: otherwise two days would share an hour.
      const until = Math.ceil(now / HOUR_MS) * HOUR_MS
      const [one, before] = await Promise.all([
        readPeriod(config, until - DAY_MS, until),
        readPeriod(config, until - 2 * DAY_MS, until - DAY_MS),
      ])
      return {
        /** Whether requests are counted at all. */
        isKept: config.tally > 0 && !config.data.readOnly,
        /** Whether decisions are recorded that monitor mode or a trial does not enforce. */
        isMonitoring: config.mode === 'monitor' || rulesInForce(config.policy).some(({ monitor }) => monitor === true),
        now: one ?? null,
        before: before ?? null,
      }
    }),
    get('report', { takes: ['span'] }, async ({ asked, now }, { sallyport: { config } }) => {
      const ms = SPANS[parseSpan(SPANS, asked.span, '7d')]
      const [reports, hours = NO_HOURS] = await Promise.all([
        readReports(config, ms, now),
        readHours(config, now - ms, now),
      ])
      const { from, step, curves, totals } = convertHours(hours)
      const course = { now, from, step, curves, totals }
      return { rules: reports?.all.rules ?? [], sections: reports ? tallySections(reports.all) : null, course }
    }),
    get('crawlers/read', { takes: ['span'] }, async ({ asked, now }, { sallyport: { config } }) => {
      const reports = await readReports(config, SPANS[parseSpan(SPANS, asked.span, '7d')], now)
      const sections = reports && crawlerSections(reports.crawlers)
      return {
        sections:
          sections?.map((section) => ({
            ...section,
            ruling: section.operator === undefined ? undefined : findRuling(config.policy, section.operator),
          })) ?? null,
      }
    }),
  ]
}
