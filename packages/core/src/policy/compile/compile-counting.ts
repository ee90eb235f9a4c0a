import { formatDuration, toMilliseconds } from '../../duration.ts'
import type { ChallengeTerms } from '../../values/challenge.ts'
import { type CountingRule, FAILURE_STATUSES } from '../../values/counting.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { McpCall } from '../../values/mcp.ts'
import type { Reason } from '../../values/reason.ts'
import { listCountKeys, readFlights } from '../check/counts-by-user.ts'
import type { Asked } from '../language/asked.ts'
import type { Surroundings } from '../language/surroundings.ts'
import { compilePaths, splitPaths } from '../paths/path-test.ts'
import type { Policy, Rule, RuleCost, RuleLimit } from '../policy.ts'
import { compileCalls } from '../words/mcp.ts'

export type CompiledCounting = NonNullable<ReturnType<typeof compileCounting>>

export interface CountingParts extends Pick<Policy, 'failures'> {
  readonly nameCount: (id: string) => string
  readonly surroundings: Surroundings
}

/** Returns `undefined` for a rule that does not count. Every member has been checked. Each counting rule calls `nameCount` once. */
export function compileCounting(
  rule: Rule,
  { nameCount, failures, surroundings }: CountingParts,
  challenge?: ChallengeTerms,
) {
  const { id, action, monitor = false, limit, cost, then, offer } = rule
  const flights = readFlights(rule)
  if (limit === undefined && flights === undefined) return undefined
  const counted: CountingRule = Object.freeze({
    id,
    countedAs: nameCount(id),
    action,
    onTrial: monitor,
    reason: writeReason(rule),
    ...(challenge && { challenge }),
    ...(offer && { offer }),
    ...(limit && { limit: Object.freeze(compileLimit(limit, failures)) }),
    ...(flights && { concurrent: Object.freeze({ keys: [flights.key].flat(), max: flights.max }) }),
  })
  return {
    rule: counted,
    readCost: compileCost(cost),
    /** Lists the calls that it counts; without it the rule counts requests. */
    listCalls: compileCallList(rule, surroundings),
    /** True where the rule allows within its limits. */
    opens: then === 'allow' && !monitor,
  }
}

/** A batch counts once for each of its calls; a call that a rule does not match is not counted by it. */
function compileCallList(rule: Rule, surroundings: Surroundings) {
  const { mcp } = rule.match
  if (mcp === undefined && !listCountKeys(rule).includes('tool')) return undefined
  const matches = compileCalls(mcp ?? {}, surroundings)
  return ({ mcp: request }: Inspection): readonly McpCall[] => request?.calls.filter(matches) ?? []
}

function compileLimit(
  { key, kind = 'sliding', max, window, burst = max, count, failures, share }: RuleLimit,
  common: readonly number[] = FAILURE_STATUSES,
): NonNullable<CountingRule['limit']> {
  return {
    kind,
    max: kind === 'bucket' ? burst : max,
    windowMs: toMilliseconds(window),
    refill: max,
    keys: [key].flat(),
    ...(count && { counts: count }),
    ...(count === 'failure' && { failures: failures ?? common }),
    ...(share !== undefined && { excused: share / (1 - share) }),
  }
}

function writeReason(rule: Rule): Reason {
  const { id, limit } = rule
  const flights = readFlights(rule)
  const bounds: string[] = []
  if (limit !== undefined) {
    const by = [limit.key].flat().join(' and ')
    const beyond = limit.share === undefined ? '' : ` beyond ${limit.share * 100} % of attempts`
    const what = limit.count === undefined ? '' : ` ${limit.count}s${beyond}`
    bounds.push(`${limit.max}${what} in ${formatDuration(toMilliseconds(limit.window))} by ${by}`)
  }
  if (flights !== undefined) bounds.push(`${flights.max} in flight`)
  return Object.freeze({ id: `policy:${id}`, text: `The limit of the rule "${id}" is exceeded: ${bounds.join(', ')}.` })
}

/** Compiles a number for all requests, or rows of methods and path patterns. */
function compileCost(cost: RuleCost | undefined): (inspection: Inspection, asked: Asked) => number {
  if (cost === undefined) return () => 1
  if (typeof cost === 'number') return () => cost
  const rows = Object.entries(cost).map(([name, value]) => ({ holds: compileCostRow(name, value), value }))
  return (inspection, asked) => rows.find(({ holds }) => holds(inspection, asked))?.value ?? 1
}

/** A lower cost applies only where every server reads this path: no other spelling of a path is cheaper than the path. */
function compileCostRow(name: string, value: number): (inspection: Inspection, asked: Asked) => boolean {
  if (!name.startsWith('/')) return ({ request }) => request.method === name
  const matches = compilePaths([name], value < 1)
  return (inspection, asked) => matches(asked.once(splitPaths, inspection))
}
