import type { ChallengeStep } from '../values/challenge.ts'
import type { CountedRule, CountingRule, CountKey, CountLimit, LimitUse } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import { type Asker, countBuckets, WIDE_FACTOR } from './keys.ts'
import { limited } from './limited.ts'
import type { Counts, CountTask, Taken } from './ports.ts'
import type { CountState } from './step.ts'

/**
 * Status of an answer that is the origin's or the application's own. `undefined`: there is none, or it is ours. `unseen`: another
 * server sends it, and Sallyport does not see it.
 */
export type AnswerStatus = number | 'unseen' | undefined

/** A decision after counting. */
export interface Counted {
  readonly decision: Decision
  /**
   * To be called once when the answer has ended, with its status and the request's part in a challenge; absent where
   * nothing waits for it.
   */
  readonly ended?: ((status: AnswerStatus, challenge?: ChallengeStep) => void) | undefined
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
    const held: RuleTask[] = []
    for (const [at, { allowed }] of states.entries()) {
      const task = tasks[at] as RuleTask
      if (allowed && task.limit === undefined) entered.push(task.key)
      if (allowed && task.held) held.push(task)
    }
    if (entered.length + held.length === 0) return { decision: result }
    return {
      decision: result,
      ended: (status) =>
        counts.leave(
          entered,
          flight,
          held.filter(({ rule }) => !isFailure(rule, status)),
        ),
    }
  }

  return {
    count(decision, fields = NO_FIELDS) {
      const { counting, inspection } = decision
      if (counting === undefined) return { decision }
      const tasks: RuleTask[] = []
      for (const counted of counting.rules) {
        for (const measure of measuresOf(counted.rule))
          addTasks(tasks, measure, counted, { inspection, fields, ipv6Prefix })
      }
      if (tasks.length === 0) return { decision }
      const flight = `${flights}.${++last}`
      const taken = counts.take(tasks, flight)
      if (!(taken instanceof Promise)) return settle(decision, tasks, flight, taken)
      return taken.then((later) => settle(decision, tasks, flight, later))
    },
  }
}

const NO_FIELDS: readonly string[] = []

/** One of the limits of a rule. */
interface Measure {
  /** Prefix of its keys. */
  readonly prefix: string
  readonly keys: readonly CountKey[]
  readonly max: number
  readonly limit: CountLimit | undefined
  /** Limit of the bucket around a network of IPv6. */
  readonly wide: CountLimit | undefined
  /** Whether it counts failures, which are known when the answer has ended. */
  readonly held: boolean
}

/** A task, and the rule that it is of. */
interface RuleTask extends CountTask {
  readonly rule: CountingRule
}

/** Counts of requests in flight first: a request that is one too many uses up nothing (D174). */
function createMeasures({ countedAs, limit, concurrent }: CountingRule): readonly Measure[] {
  const measures: Measure[] = []
  if (concurrent !== undefined) {
    measures.push({ prefix: `${countedAs} flights `, ...concurrent, limit: undefined, wide: undefined, held: false })
  }
  if (limit !== undefined) {
    const { kind, max, windowMs, refill, keys, failures } = limit
    const wide = { kind, max: max * WIDE_FACTOR, windowMs, refill: refill * WIDE_FACTOR }
    measures.push({
      // A count of requests is none of failures, also where a reload makes one of the other.
      prefix: `${countedAs} ${kind}/${windowMs} ${failures === undefined ? '' : 'failures '}`,
      keys,
      max,
      limit: { kind, max, windowMs, refill },
      wide,
      held: failures !== undefined,
    })
  }
  return measures
}

/** Written out, here and below: this runs for each rule of each request, and spreading takes longer than counting. */
function addTasks(
  tasks: RuleTask[],
  { prefix, keys, max, limit, wide, held }: Measure,
  { rule, cost }: CountedRule,
  asker: Asker,
): void {
  const binding = !rule.onTrial
  for (const { key, factor } of countBuckets(keys, asker)) {
    const counted = factor > 1 ? wide : limit
    const task = { key: prefix + key, cost, max: max * factor, limit: counted, binding, rule }
    tasks.push(held ? { ...task, held } : task)
  }
}

/** A failure is charged when it is known; where nobody sees the answer each request is one. */
function isFailure({ limit }: CountingRule, status: AnswerStatus): boolean {
  return status === 'unseen' || (status !== undefined && limit?.failures?.includes(status) === true)
}

function useOf({ rule, limit, max, cost, held }: RuleTask, { allowed, used, resetMs }: CountState): LimitUse {
  const { id, action, onTrial } = rule
  const exceeded = !allowed
  if (limit === undefined) return { rule: id, action, onTrial, used, max, resetMs, exceeded }
  const { windowMs } = limit
  if (held === undefined) return { rule: id, action, onTrial, used, max, windowMs, resetMs, exceeded }
  const before = allowed ? Math.max(0, Math.ceil(used - cost)) : used
  return { rule: id, action, onTrial, used: before, max, counts: 'failure', windowMs, resetMs, exceeded }
}
