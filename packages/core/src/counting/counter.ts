import type { InspectedEvent } from '../values/account-event.ts'
import type { ChallengeStep } from '../values/challenge.ts'
import type { CountedRule, CountingRule, CountKey, CountLimit, LimitUse } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import type { McpCall } from '../values/mcp.ts'
import { refuses } from '../vocabulary.ts'
import { isCounted, isFile } from './answers.ts'
import { type Asker, countBuckets, WIDE_FACTOR } from './keys.ts'
import { limited } from './limited.ts'
import { type Counts, type CountTask, makeFixedTask, type Taken } from './ports.ts'
import type { CountState } from './step.ts'

/**
 * Status of the origin's or the application's own response. `undefined`: there is none, or Sallyport responded. `unseen`: another server
 * sends it, and Sallyport does not see it.
 */
export type AnswerStatus = number | 'unseen' | undefined

export interface Counted {
  readonly decision: Decision
  /** Must be called once when the response has ended; absent where nothing waits for it. */
  readonly ended?: ((status: AnswerStatus, challenge?: ChallengeStep, contentType?: string) => void) | undefined
}

/** Counts decided requests. After `decide()` no other step counts. */
export interface Counter {
  /**
   * Returns the decision after counting, synchronously where counts are in memory; `fields` are the request's raw header fields. Rejects or
   * throws when nothing can count.
   */
  count(decision: Decision, fields?: readonly string[]): Counted | Promise<Counted>
}

/** `flights` tells the requests in flight of this process from those of other processes. */
export function createCounter({ counts, flights }: { readonly counts: Counts; readonly flights: string }): Counter {
  const measures = new WeakMap<CountingRule, readonly Measure[]>()
  let last = 0

  function listMeasures(rule: CountingRule): readonly Measure[] {
    let known = measures.get(rule)
    if (known === undefined) {
      known = createMeasures(rule)
      measures.set(rule, known)
    }
    return known
  }

  function settle(decision: Decision, tasks: readonly RuleTask[], flight: string, taken: Taken): Counted {
    const { states } = taken
    const uses = states.map((state, at) => describeUse(tasks[at] as RuleTask, state))
    const result = limited(decision, uses, tasks, taken.share !== undefined)
    if (decision.inspection.event?.outcome === 'success') {
      const failed = tasks.filter(({ rule }, at) => rule.limit?.excused !== undefined && states[at]?.used)
      excuse(counts, result, failed, flight)
    }
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
        // Where the response is unseen, each request counts.
        const unused = status === 'unseen' ? [] : held.filter((task) => !isCharged(task))
        if (entered.length + held.length > 0) counts.leave(entered, flight, unused)
        // A response without a type, as in a log, is not charged as a page.
        if (contentType !== undefined) charge(owing.flatMap((task) => (isCharged(task) ? (task.owed ?? []) : [])))
      },
    }
  }

  /** Charges requests that turned out to be pages. As in `leave`, a charge that a store does not accept is lost. */
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
        for (const measure of listMeasures(counted.rule)) addTasks(tasks, measure, counted, { inspection, fields })
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

/** Takes back failures for the success of an account, once a window: a guesser would log in to its own again and again. */
function excuse(
  counts: Counts,
  { action, enforced, inspection }: Decision,
  failed: readonly RuleTask[],
  flight: string,
): void {
  const { event, identifiers = [] } = inspection.event ?? {}
  // Anybody signs up, and has a reset sent to each account that is there.
  if (failed.length === 0 || event === 'signup' || event === 'reset' || (enforced && refuses(action))) return
  const windowMs = Math.max(...failed.map(({ limit }) => limit?.windowMs ?? 0))
  const task = makeFixedTask(`success ${identifiers.at(-1)}`, 1, windowMs)
  // The counter keeps this place, so that later calls go where the request was counted: to the store, or to this process.
  const taken = counts.take([{ ...task, held: true }], flight)
  const giveBack = ({ states: [first] }: Taken): void => {
    const excused = failed.map((task) => ({ ...task, cost: task.rule.limit?.excused ?? 0 }))
    if (first?.allowed) counts.leave([], flight, excused)
  }
  if (taken instanceof Promise) taken.then(giveBack).catch(() => {})
  else giveBack(taken)
}

/** A rule has one measure for each of its limits. */
interface Measure {
  readonly prefix: string
  readonly keys: readonly CountKey[]
  readonly max: number
  readonly limit: CountLimit | undefined
  /** The bucket around a network of IPv6 has this limit. */
  readonly wide: CountLimit | undefined
  /** True where the measure counts failures or pages, which are known when the response has ended. */
  readonly held: boolean
}

interface RuleTask extends CountTask {
  readonly rule: CountingRule
  /** This task is charged once the response turns out to be a page. */
  readonly owed?: CountTask | undefined
  /** `max` of the limit, where the task checks whether one more would fit. */
  readonly shown?: number | undefined
}

/** Counts of requests in flight come first: a request that exceeds them uses up no other limit. */
function createMeasures({ countedAs, limit, concurrent }: CountingRule): readonly Measure[] {
  const measures: Measure[] = []
  if (concurrent !== undefined) {
    measures.push({ prefix: `${countedAs} flights `, ...concurrent, limit: undefined, wide: undefined, held: false })
  }
  if (limit !== undefined) {
    const { kind, max, windowMs, refill, keys, counts } = limit
    const wide = { kind, max: max * WIDE_FACTOR, windowMs, refill: refill * WIDE_FACTOR }
    measures.push({
      // Requests never share a count with failures or pages, also where a reload changes a limit from one to another.
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

/** These objects are written out, because this runs for each rule of each request, and spreading takes longer than counting. */
function addTasks(
  tasks: RuleTask[],
  { prefix, keys, max, limit, wide, held }: Measure,
  { rule, cost, calls }: CountedRule,
  asker: Asker,
): void {
  const binding = !rule.onTrial
  const { event } = asker.inspection
  const isPart = limit !== undefined && rule.limit?.counts === 'page' && isFile(asker.inspection.request)
  for (const { tool, times } of calls === undefined ? ONE : groupCalls(calls, keys.includes('tool'))) {
    for (const { key, factor } of countBuckets(keys, tool === undefined ? asker : { ...asker, tool })) {
      const counted = factor > 1 ? wide : limit
      const task = { key: prefix + key, cost: cost * times, max: max * factor, limit: counted, binding, rule }
      if (isPart) tasks.push(partTask(task))
      else if (event !== undefined) tasks.push(isRecorded(event, rule) ? task : lookTask(task))
      else tasks.push(held ? { ...task, held } : task)
    }
  }
}

/** A group is counted together: all calls, or the calls of one tool. */
interface CallGroup {
  readonly tool?: string | undefined
  readonly times: number
}

const ONE: readonly CallGroup[] = [{ times: 1 }]

/** Several calls of the same tool in a request are one group, as a request counts once per key. */
function groupCalls(calls: readonly McpCall[], byTool: boolean): readonly CallGroup[] {
  if (!byTool) return [{ times: Math.max(1, calls.length) }]
  const times = new Map<string, number>()
  for (const { method, name } of calls) {
    if (method === 'tools/call' && name !== undefined) times.set(name, (times.get(name) ?? 0) + 1)
  }
  return [...times].map(([tool, count]) => ({ tool, times: count }))
}

/** Reports whether a count includes an event: its outcome is known, and is a failure where the count is of failures. */
function isRecorded({ outcome }: InspectedEvent, { limit }: CountingRule): boolean {
  return outcome !== undefined && (limit?.counts === undefined || outcome !== 'success')
}

/** Makes a task that only checks whether one more would fit. */
function lookTask({ key, cost, max, limit, binding, rule }: RuleTask): RuleTask {
  const before = max - cost
  const rest = limit && { kind: limit.kind, max: before, windowMs: limit.windowMs, refill: limit.refill }
  return { key, cost: 0, max: before, limit: rest, binding, rule, shown: max }
}

/**
 * Checks in place of counting: a browser loads the files of a page together, and they would fill its count while they are in flight. A
 * client chooses its paths, so a page under the name of a file is charged to a count of its own, as large.
 */
function partTask(task: RuleTask): RuleTask {
  const { key, cost, max } = task
  const owed = { ...task, key: `${key} files`, binding: false }
  const limit = task.limit && { ...task.limit, max: max - cost }
  return { ...task, key: owed.key, cost: 0, max: max - cost, limit, owed }
}

function describeUse(task: RuleTask, { allowed, used, resetMs }: CountState): LimitUse {
  const { rule, limit, owed, cost } = task
  const { id, action, onTrial } = rule
  const max = task.shown ?? (owed ?? task).max
  const exceeded = !allowed
  if (limit === undefined) return { rule: id, action, onTrial, used, max, resetMs, exceeded }
  const { windowMs } = limit
  const counts = task.held || owed ? rule.limit?.counts : undefined
  if (counts === undefined) return { rule: id, action, onTrial, used, max, windowMs, resetMs, exceeded }
  const before = allowed ? Math.max(0, Math.ceil(used - cost)) : used
  return { rule: id, action, onTrial, used: before, max, counts, windowMs, resetMs, exceeded }
}
