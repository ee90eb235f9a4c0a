import { type Config, readTally, type TallyReports } from '@sallyport/engine'

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
