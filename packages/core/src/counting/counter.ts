import type { ChallengeStep } from '../values/challenge.ts'
import type { CountedRule, CountingRule, CountKey, CountLimit, LimitUse } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import type { Inspection } from '../values/inspection.ts'
import { countBuckets, WIDE_FACTOR } from './keys.ts'
import { limited } from './limited.ts'
import type { Counts, CountTask, Taken } from './ports.ts'
import type { CountState } from './step.ts'

/** A decision after counting. */
export interface Counted {
  readonly decision: Decision
  /**
   * To be called once when the answer has ended, with its status where it is the origin's or the application's own, and
   * the request's part in a challenge; absent where nothing waits for it.
   */
  readonly ended?: ((status: number | undefined, challenge?: ChallengeStep) => void) | undefined
}

export interface CounterOptions {
  readonly counts: Counts
  /** Bits of an IPv6 address that are one client. */
  readonly ipv6Prefix: number
  /** Distinguishes this process's requests in flight from those of others. */
  readonly flights: string
}

/** Counts decided requests: the one step after `decide()` in which anything is counted. */
export interface Counter {
  /**
   * The decision as it is with the counts, at once where they are in memory; `fields` are the request's raw header fields.
   * Rejects or throws when nothing can count.
   */
  count(decision: Decision, fields?: readonly string[]): Counted | Promise<Counted>
}

export function createCounter({ counts, ipv6Prefix, flights }: CounterOptions): Counter {
  const measures = new WeakMap<CountingRule, readonly Measure[]>()
  let last = 0

  function measuresOf(rule: CountingRule): readonly Measure[] {
    let known = measures.get(rule)
    if (known === undefined) {
      known = createMeasures(rule)
      measures.set(rule, known)
    }
    return known
  }

  function settle(decision: Decision, tasks: readonly RuleTask[], flight: string, taken: Taken): Counted {
    const { states } = taken
    const uses = states.map((state, at) => useOf(tasks[at] as RuleTask, state))
    const result = limited(decision, uses, tasks, taken.share !== undefined)
    const entered: string[] = []
    for (const [at, { allowed }] of states.entries()) {
      const task = tasks[at] as RuleTask
      if (allowed && task.limit === undefined) entered.push(task.key)
    }
    if (entered.length === 0) return { decision: result }
    return { decision: result, ended: () => counts.leave(entered, flight) }
  }

  return {
    count(decision) {
      const { counting, inspection } = decision
      if (counting === undefined) return { decision }
      const tasks: RuleTask[] = []
      for (const counted of counting.rules) {
        for (const measure of measuresOf(counted.rule)) addTasks(tasks, measure, counted, inspection, ipv6Prefix)
      }
      if (tasks.length === 0) return { decision }
      const flight = `${flights}.${++last}`
      const taken = counts.take(tasks, flight)
      if (!(taken instanceof Promise)) return settle(decision, tasks, flight, taken)
      return taken.then((later) => settle(decision, tasks, flight, later))
    },
  }
}

/** One of the limits of a rule. */
interface Measure {
  /** Prefix of its keys. */
  readonly prefix: string
  readonly keys: readonly CountKey[]
  readonly max: number
  readonly limit: CountLimit | undefined
  /** Limit of the bucket around a network of IPv6. */
  readonly wide: CountLimit | undefined
}

/** A task, and the rule that it is of. */
interface RuleTask extends CountTask {
  readonly rule: CountingRule
}

/** Counts of requests in flight first: a request that is one too many uses up nothing (D174). */
function createMeasures({ countedAs, limit, concurrent }: CountingRule): readonly Measure[] {
  const measures: Measure[] = []
  if (concurrent !== undefined) {
    measures.push({ prefix: `${countedAs} flights `, ...concurrent, limit: undefined, wide: undefined })
  }
  if (limit !== undefined) {
    const { kind, max, windowMs, refill, keys } = limit
    const wide = { kind, max: max * WIDE_FACTOR, windowMs, refill: refill * WIDE_FACTOR }
    measures.push({
      prefix: `${countedAs} ${kind}/${windowMs} `,
      keys,
      max,
      limit: { kind, max, windowMs, refill },
      wide,
    })
  }
  return measures
}

/** Written out, here and below: this runs for each rule of each request, and spreading takes longer than counting. */
function addTasks(
  tasks: RuleTask[],
  { prefix, keys, max, limit, wide }: Measure,
  { rule, cost }: CountedRule,
  inspection: Inspection,
  ipv6Prefix: number,
): void {
  const binding = !rule.onTrial
  for (const { key, factor } of countBuckets(keys, inspection, ipv6Prefix)) {
    tasks.push({ key: prefix + key, cost, max: max * factor, limit: factor > 1 ? wide : limit, binding, rule })
  }
}

function useOf({ rule, limit, max }: RuleTask, { allowed, used, resetMs }: CountState): LimitUse {
  const { id, action, onTrial } = rule
  const exceeded = !allowed
  if (limit === undefined) return { rule: id, action, onTrial, used, max, resetMs, exceeded }
  return { rule: id, action, onTrial, used, max, windowMs: limit.windowMs, resetMs, exceeded }
}
