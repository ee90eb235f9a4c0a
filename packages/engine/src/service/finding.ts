import { errorText } from '@sallyport/core'
import { connectionReason, systemFault } from '#files'

/** One thing that was looked at: that it is good, that it may not be meant so, or that a start or the service fails with it. */
export interface Finding {
  /** The name of its check: the subject, or the feature. */
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  /** The finding, as a sentence. */
  readonly found: string
  /** Advice; absent where nothing needs to be done. */
  readonly advice?: string | undefined
  /** The key of the configuration that it is about, step by step. */
  readonly path?: readonly PropertyKey[] | undefined
  /** It may be otherwise in a moment, or for another user: no fault of the configuration. */
  readonly passing?: boolean | undefined
}

/** A finding without the name of its check. */
export type CheckResult = Omit<Finding, 'check'>

export const ok = (found: string): CheckResult => ({ state: 'ok', found })
export const warn = (found: string, advice: string, path?: CheckResult['path']): CheckResult => ({
  state: 'warn',
  found,
  advice,
  path,
})
export const fail = (found: string, advice: string, path?: CheckResult['path']): CheckResult => ({
  state: 'fail',
  found,
  advice,
  path,
})
/** A failure that is no fault of the configuration. */
export const failNow = (found: string, advice: string, path?: CheckResult['path']): CheckResult => ({
  ...fail(found, advice, path),
  passing: true,
})

/** The reason of a failure in one line. */
export function reasonOf(error: unknown): string {
  const known = connectionReason(error) ?? systemFault(error)
  if (known !== undefined) return known
  const text = errorText(error)
  return text.split('\n', 1)[0] ?? text
}
