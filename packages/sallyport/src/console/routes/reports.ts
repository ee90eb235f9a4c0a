import { type Config, readTally, type TallyReports } from '@sallyport/engine'

/** A month of a busy site takes a moment to sum up, and changes little meanwhile. */
const KEPT_MS = 5_000

/** Reads the tally of all processes over the last `ms` milliseconds. */
export type ReadReports = (config: Config, ms: number, now: number) => Promise<TallyReports | undefined>

/** Keeps each report for some seconds; one that failed is read again. */
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
