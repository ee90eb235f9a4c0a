import { errorText } from '@sallyport/core'
import { connectionReason, systemFault } from '#files'

/** States the result of one check: ok, warning or failure. */
export interface Finding {
  /** Names the check: its subject, or its feature. */
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  /** States the result in a sentence. */
  readonly found: string
  /** Advises the operator; absent if nothing needs to be done. */
  readonly advice?: string | undefined
  /** Points to the key of the configuration, one step per element. */
  readonly path?: readonly PropertyKey[] | undefined
  /** True if the result may change soon, or differs for another user: the configuration is not at fault. */
  readonly passing?: boolean | undefined
}

export type CheckResult = Omit<Finding, 'check'>

export const ok = (found: string): CheckResult => ({ state: 'ok', found })

const makeResult =
  (rest: Pick<CheckResult, 'state' | 'passing'>) =>
  (found: string, advice: string, path?: CheckResult['path']): CheckResult => ({ ...rest, found, advice, path })

export const warn = makeResult({ state: 'warn' })
export const fail = makeResult({ state: 'fail' })
/** Reports a failure that the configuration did not cause. */
export const failNow = makeResult({ state: 'fail', passing: true })

/** Describes the reason of a failure in one line. */
export function describeReason(error: unknown): string {
  const known = connectionReason(error) ?? systemFault(error)
  if (known !== undefined) return known
  const text = errorText(error)
  return text.split('\n', 1)[0] ?? text
}
