/** The checks, in the order in which they are shown. */
export const CHECKS = ['dataDir', 'clock', 'dns', 'store', 'redis', 'feeds', 'data', 'trust', 'listeners'] as const

/** One thing that was looked at: that it is good, that it may not be meant so, or that a start or the service fails with it. */
export interface Finding {
  readonly check: (typeof CHECKS)[number]
  readonly state: 'ok' | 'warn' | 'fail'
  /** The finding, as a sentence. */
  readonly found: string
  /** Advice; absent where nothing needs to be done. */
  readonly advice?: string | undefined
}

/** A finding without the name of its check. */
export type CheckResult = Omit<Finding, 'check'>

export const ok = (found: string): CheckResult => ({ state: 'ok', found })
export const warn = (found: string, advice: string): CheckResult => ({ state: 'warn', found, advice })
export const fail = (found: string, advice: string): CheckResult => ({ state: 'fail', found, advice })

/** The reason of a failure in one line; drivers give several failed addresses of one host without a message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const text = error.message !== '' ? error.message : 'code' in error ? String(error.code) : error.name
  return text.split('\n', 1)[0] ?? text
}
