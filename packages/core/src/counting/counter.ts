import type { CountedRule, CountKey, CountLimit, LimitUse } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import { countBuckets } from './keys.ts'
import { limited } from './limited.ts'
import type { Counts, CountTask, Taken } from './ports.ts'

/** A decision after counting. */
export interface Counted {
  readonly decision: Decision
  /**
   * To be called once when the answer has ended, with its status where it is the origin's or the application's own; absent
   * where nothing waits for it.
   */
  readonly ended?: (status: number | undefined) => void
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

/** A task, and the rule that it is of. */
interface RuleTask extends CountTask {
  readonly counted: CountedRule
  /** How often the rule's own limit fits in. */
  readonly factor: number
}

export function createCounter({ counts, ipv6Prefix, flights }: CounterOptions): Counter {
  let last = 0

  function settle(decision: Decision, tasks: readonly RuleTask[], flight: string, taken: Taken): Counted {
    const { states, local = false } = taken
    const uses = tasks.slice(0, states.length).map((task, at) => useOf(task, states[at] as Taken['states'][number]))
    const entered = tasks.flatMap(({ key, limit }, at) => (limit === undefined && states[at]?.allowed ? [key] : []))
    const result = limited(decision, uses, local)
    if (entered.length === 0) return { decision: result }
    return { decision: result, ended: () => counts.leave(entered, flight) }
  }

  return {
    count(decision) {
      const { counting } = decision
      if (counting === undefined) return { decision }
      const tasks = counting.rules.flatMap((counted) => tasksOf(counted, decision, ipv6Prefix))
      if (tasks.length === 0) return { decision }
      const flight = `${flights}.${++last}`
      const taken = counts.take(tasks, flight)
      if (!(taken instanceof Promise)) return settle(decision, tasks, flight, taken)
      return taken.then((later) => settle(decision, tasks, flight, later))
    },
  }
}

function tasksOf(counted: CountedRule, { inspection }: Decision, ipv6Prefix: number): readonly RuleTask[] {
  const { rule, cost } = counted
  const { id, limit, concurrent, onTrial } = rule
  const tasks: RuleTask[] = []
  const add = (kind: string, keys: readonly CountKey[], max: number, given?: CountLimit): void => {
    for (const { key, factor } of countBuckets(keys, inspection, ipv6Prefix)) {
      const wider = given && factor > 1 ? { ...given, max: max * factor, refill: given.refill * factor } : given
      tasks.push({
        ...{ key: `${id} ${kind} ${key}`, cost, max: max * factor, binding: !onTrial, counted, factor },
        ...(wider === undefined ? {} : { limit: wider }),
      })
    }
  }
  // First: what is refused for being too many at once uses up nothing.
  if (concurrent !== undefined) add('flights', concurrent.keys, concurrent.max)
  if (limit !== undefined) add(`${limit.kind}/${limit.windowMs}`, limit.keys, limit.max, limit)
  return tasks
}

function useOf({ counted: { rule }, limit, max }: RuleTask, state: Taken['states'][number]): LimitUse {
  const { id, action, onTrial } = rule
  const { allowed, used, resetMs } = state
  const use = { rule: id, action, onTrial, used, max, resetMs, exceeded: !allowed }
  return Object.freeze(limit === undefined ? use : { ...use, windowMs: limit.windowMs })
}
