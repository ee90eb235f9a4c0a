import type { ChallengeStep } from '../values/challenge.ts'
import type { CountedRule, CountingRule, CountKey, CountLimit, LimitUse } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import { isCounted, isFile } from './answers.ts'
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
   * To be called once when the answer has ended, with its status, the request's part in a challenge, and the value of Content-Type;
   * absent where nothing waits for it.
   */
  readonly ended?: ((status: AnswerStatus, challenge?: ChallengeStep, contentType?: string) => void) | undefined
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
    const owing: RuleTask[] = []
    for (const [at, { allowed }] of states.entries()) {
      const task = tasks[at] as RuleTask
      if (allowed && task.limit === undefined) entered.push(task.key)
      if (allowed && task.held) held.push(task)
      if (allowed && task.owed) owing.push(task)
    }
    if (entered.length + held.length + owing.length === 0) return { decision: result }
    return {
      decision: result,
      ended(status, _, contentType) {
        const isCharged = ({ rule }: RuleTask) => typeof status === 'number' && isCounted(rule, status, contentType)
        // Each request counts where nobody sees the answer.
        const unused = status === 'unseen' ? [] : held.filter((task) => !isCharged(task))
        if (entered.length + held.length > 0) counts.leave(entered, flight, unused)
        // A file is no page for want of a type, as of a log.
        if (contentType !== undefined) charge(owing.flatMap((task) => (isCharged(task) ? (task.owed ?? []) : [])))
      },
    }
  }

  /** Charges what turned out to be pages. As in `leave`, a charge that a store does not take is lost. */
  function charge(owed: readonly CountTask[]): void {
    if (owed.length === 0) return
    const taken = counts.take(owed, '')
    if (taken instanceof Promise) taken.catch(() => {})
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
  /** Whether it counts failures or pages, which are known when the answer has ended. */
  readonly held: boolean
}

/** A task, and the rule that it is of. */
interface RuleTask extends CountTask {
  readonly rule: CountingRule
  /** A task to take once the answer turns out to be a page. */
  readonly owed?: CountTask | undefined
}

/** Counts of requests in flight first: a request that is one too many uses up nothing. */
function createMeasures({ countedAs, limit, concurrent }: CountingRule): readonly Measure[] {
  const measures: Measure[] = []
  if (concurrent !== undefined) {
    measures.push({ prefix: `${countedAs} flights `, ...concurrent, limit: undefined, wide: undefined, held: false })
  }
  if (limit !== undefined) {
    const { kind, max, windowMs, refill, keys, counts } = limit
    const wide = { kind, max: max * WIDE_FACTOR, windowMs, refill: refill * WIDE_FACTOR }
    measures.push({
      // A count of requests is none of failures or pages, also where a reload makes one of the other.
      prefix: `${countedAs} ${kind}/${windowMs} ${counts === undefined ? '' : `${counts}s `}`,
      keys,
      max,
      limit: { kind, max, windowMs, refill },
      wide,
      held: counts !== undefined,
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
  const isPart = limit !== undefined && rule.limit?.counts === 'page' && isFile(asker.inspection.request)
  for (const { key, factor } of countBuckets(keys, asker)) {
    const counted = factor > 1 ? wide : limit
    const task = { key: prefix + key, cost, max: max * factor, limit: counted, binding, rule }
    if (isPart) tasks.push(partTask(task))
    else tasks.push(held ? { ...task, held } : task)
  }
}

/**
 * Looks, in place of taking: a browser loads the files of a page together, and they would fill its count while they are in flight. A
 * path is what the client writes, so that a page under the name of a file is charged to a count of its own, as large.
 */
function partTask(task: RuleTask): RuleTask {
  const { key, cost, max } = task
  const owed = { ...task, key: `${key} files`, binding: false }
  const limit = task.limit && { ...task.limit, max: max - cost }
  return { ...task, key: owed.key, cost: 0, max: max - cost, limit, owed }
}

function useOf({ rule, limit, owed, cost, ...task }: RuleTask, { allowed, used, resetMs }: CountState): LimitUse {
  const { id, action, onTrial } = rule
  const { max } = owed ?? task
  const exceeded = !allowed
  if (limit === undefined) return { rule: id, action, onTrial, used, max, resetMs, exceeded }
  const { windowMs } = limit
  const counts = task.held || owed ? rule.limit?.counts : undefined
  if (counts === undefined) return { rule: id, action, onTrial, used, max, windowMs, resetMs, exceeded }
  const before = allowed ? Math.max(0, Math.ceil(used - cost)) : used
  return { rule: id, action, onTrial, used: before, max, counts, windowMs, resetMs, exceeded }
}
