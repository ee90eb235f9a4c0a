import { formatDuration, toMilliseconds } from '../../duration.ts'
import type { ChallengeTerms } from '../../values/challenge.ts'
import { type CountingRule, type CountKey, FAILURE_STATUSES } from '../../values/counting.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { Reason } from '../../values/reason.ts'
import type { Asked } from '../language/asked.ts'
import { compilePaths, splitPaths } from '../paths/path-test.ts'
import type { Policy, Rule, RuleCost, RuleLimit } from '../policy.ts'

/** A counting rule, checked, with what a request costs. */
export interface CompiledCounting {
  readonly rule: CountingRule
  readCost(inspection: Inspection, asked: Asked): number
  /** Within its limits it allows. */
  readonly opens: boolean
}

/** `undefined` for a rule that does not count. Every member has been checked. `nameCount` is asked once for each that does. */
export function compileCounting(
  rule: Rule,
  { nameCount, failures }: Pick<Policy, 'failures'> & { readonly nameCount: (id: string) => string },
  challenge?: ChallengeTerms,
): CompiledCounting | undefined {
  const { id, action, monitor = false, limit, concurrent, cost, then } = rule
  if (limit === undefined && concurrent === undefined) return undefined
  const flights = typeof concurrent === 'number' ? { key: [], max: concurrent } : concurrent
  return {
    rule: Object.freeze({
      id,
      countedAs: nameCount(id),
      action,
      onTrial: monitor,
      reason: writeReason(rule),
      ...(challenge && { challenge }),
      ...(limit && { limit: Object.freeze(compileLimit(limit, failures)) }),
      ...(flights && { concurrent: Object.freeze({ keys: listKeys(flights.key), max: flights.max }) }),
    }),
    readCost: compileCost(cost),
    opens: then === 'allow' && !monitor,
  }
}

function compileLimit(
  { key, kind = 'sliding', max, window, refill = max, burst = max, count, failures }: RuleLimit,
  common: readonly number[] = FAILURE_STATUSES,
): NonNullable<CountingRule['limit']> {
  return {
    kind,
    max: kind === 'bucket' ? burst : max,
    windowMs: toMilliseconds(window),
    refill,
    keys: listKeys(key),
    ...(count && { counts: count }),
    ...(count === 'failure' && { failures: failures ?? common }),
  }
}

function listKeys(key: CountKey | readonly CountKey[]): readonly CountKey[] {
  return typeof key === 'string' ? [key] : key
}

function writeReason({ id, limit, concurrent }: Rule): Reason {
  const bounds: string[] = []
  if (limit !== undefined) {
    const by = listKeys(limit.key).join(' and ')
    const what = limit.count === undefined ? '' : ` ${limit.count}s`
    bounds.push(`${limit.max}${what} in ${formatDuration(toMilliseconds(limit.window))} by ${by}`)
  }
  if (concurrent !== undefined) {
    bounds.push(`${typeof concurrent === 'number' ? concurrent : concurrent.max} in flight`)
  }
  return Object.freeze({ id: `policy:${id}`, text: `The limit of the rule "${id}" is exceeded: ${bounds.join(', ')}.` })
}

/** A number for all requests, or rows of methods and path patterns. */
function compileCost(cost: RuleCost | undefined): CompiledCounting['readCost'] {
  if (cost === undefined) return () => 1
  if (typeof cost === 'number') return () => cost
  const rows = Object.entries(cost).map(([name, value]) => ({ holds: compileCostRow(name, value), value }))
  return (inspection, asked) => rows.find(({ holds }) => holds(inspection, asked))?.value ?? 1
}

/** A lower cost is for what every server reads as this path: no other spelling of a path is cheaper than the path. */
function compileCostRow(name: string, value: number): (inspection: Inspection, asked: Asked) => boolean {
  if (!name.startsWith('/')) return ({ request }) => request.method === name
  const matches = compilePaths([name], value < 1)
  return (inspection, asked) => matches(asked.once(splitPaths, inspection))
}
