import { describeOutcome, type ObservedRequest, readRule } from '@sallyport/core'
import { Counter, Gauge, Registry } from 'prom-client'
import { createDurations, type Durations, type ReadBy } from './durations.ts'
import { type Count, createCounts, listReadings, nameLabels, type Reading, type Rows } from './rows.ts'
import { METRICS, type MetricId, type MetricRow } from './table.ts'
import { createUnanswered } from './unanswered.ts'

/** Counts what one service does, in its own registry. */
export interface Metrics {
  /** A host merges it into its own registry: `Registry.merge([register, sallyport.metrics()])`. */
  readonly registry: Registry
  /** Counts a request; returns its row in `ended`, or `undefined` if it has none there. */
  readonly observe: (observed: ObservedRequest) => Count | undefined
  /** Counts ended requests, in rows that only grow, by outcome and, after a decision, by enforcement, class, network class and rule. */
  readonly ended: readonly Count[]
  /** Calls `drain` before every read: it hands over requests that have ended and are not counted yet. */
  settleBy(drain: () => void): void
  /** Adds to a counter; labels are in the order of the table. */
  add(id: MetricId, labels: readonly string[], by?: number): void
  /** Reads a gauge or a counter at every scrape, in place of an earlier reader; if reading fails, the metric has no values. */
  read(id: MetricId, read: Read): void
}

type Read = () => Iterable<Reading> | Promise<Iterable<Reading>>

/** From a tenth of a millisecond, as inspection takes, to the longest that clients wait. */
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** From a quick machine's work to the longest that a challenge may be answered. */
const ANSWER_SECONDS = [0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300]

/** Creates the metrics; `now` returns milliseconds since the epoch. */
export function createMetrics(now: () => number = Date.now): Metrics {
  const registry = new Registry()
  let drain = (): void => {}
  const readBy = { registry, settle: (): void => drain() }
  const readers = new Map<MetricId, Read>()
  const inspection = createDurations(METRICS.inspection, SECONDS, readBy)
  const requests = createDurations(METRICS.requests, SECONDS, readBy)
  const counts = registerCounts(readers, readBy)
  const ended = createCounts(['outcome', ...METRICS.decisions.labels.slice(1), 'rule'])

  const listCounts = (id: MetricId) => listReadings(counts.get(id)?.all ?? [])
  const add: Metrics['add'] = (id, labels, by = 1) => {
    const row = counts.get(id)?.of(labels)
    if (row !== undefined) row.count += by
  }
  const challenges = createChallengeCounts(add, createDurations(METRICS.challengeSeconds, ANSWER_SECONDS, readBy), now)
  readers.set('challengesAbandoned', () => {
    challenges.settle()
    return listCounts('challengesAbandoned')
  })
  // Readings with the same labels are summed.
  const decided = () => listReadings(ended.all).filter(([[, enforced]]) => enforced !== '')
  readers.set('decisions', decided)
  readers.set('rules', () => {
    const deciding = decided().map(([[action = '', , , , rule = ''], count]): Reading => [[rule, action], count])
    return [...deciding, ...listCounts('rules')]
  })

  return {
    registry,
    get ended() {
      drain()
      return ended.all
    },
    settleBy(by) {
      drain = by
    },
    add,
    read: (id, read) => void readers.set(id, read),
    observe(observed) {
      const { decision, answeredBy, status, milliseconds, inspectionMilliseconds, refusedFor, payment } = observed
      if (answeredBy === 'check') return undefined
      if (answeredBy === 'event') return void countEvent(decision, add)
      const row = ended.of(listLabels(observed))
      row.count++
      countRules(decision, add)
      challenges.observe(observed)
      if (payment !== undefined) add('payments', [payment.rule, payment.outcome])
      if (refusedFor !== undefined) add('refusals', [refusedFor])
      if (inspectionMilliseconds !== undefined) inspection.observe([], inspectionMilliseconds / 1_000)
      requests.observe([answeredBy, formatStatus(status)], milliseconds / 1_000)
      return row
    },
  }
}

/** Registers all metrics but histograms at once, so that a merged registry has them all. Counts are read at a scrape. */
function registerCounts(readers: ReadonlyMap<MetricId, Read>, { registry, settle }: ReadBy) {
  const counts = new Map<MetricId, Rows<Count>>()
  for (const [id, row] of Object.entries(METRICS) as [MetricId, MetricRow][]) {
    const { type, name, help, labels, workers: aggregator = 'sum' } = row
    if (type === 'histogram') continue
    const own = createCounts(labels)
    counts.set(id, own)
    const collect = async (): Promise<void> => {
      settle()
      const read = readers.get(id)
      const readings = read === undefined ? listReadings(own.all) : await attempted(read)
      metric.reset()
      // A metric without labels is 0 after a reset, which would look like a reading.
      if (read !== undefined && labels.length === 0) metric.remove()
      for (const [values, value] of readings) metric.inc(nameLabels(labels, values), value)
    }
    const options = { name, help, labelNames: [...labels], registers: [registry], aggregator, collect }
    const metric = type === 'counter' ? new Counter(options) : new Gauge(options)
  }
  return counts
}

/** Counts an event of an account; its request is counted separately. */
function countEvent(decision: ObservedRequest['decision'], add: Metrics['add']): void {
  const { event, outcome = 'asked' } = decision?.inspection.event ?? {}
  if (decision === undefined || event === undefined) return
  add('accountEvents', [event, outcome, decision.action, String(decision.enforced)])
  countRules(decision, add)
  if (decision.action !== 'allow') add('rules', [readRule(decision), decision.action])
}

/** Counts the rules on trial and the limits that a decision met. */
function countRules(decision: ObservedRequest['decision'], add: Metrics['add']): void {
  for (const { rule, action } of decision?.trials ?? []) add('rules', [rule, `trial:${action}`])
  for (const { rule, exceeded } of decision?.limits ?? []) add('limits', [rule, exceeded ? 'beyond' : 'within'])
}

/** Counts the parts of requests in challenges. */
function createChallengeCounts(add: Metrics['add'], answers: Durations, now: () => number) {
  const unanswered = createUnanswered((labels, by) => add('challengesAbandoned', labels, by))
  return {
    settle: (): void => unanswered.settle(now()),
    observe({ challenge, decision, at, milliseconds }: ObservedRequest): void {
      if (challenge === undefined || decision === undefined) return
      const { outcome, seconds, refused, degraded } = challenge
      const ended = at + milliseconds
      const rule = challenge.rule ?? ''
      const level = String(challenge.level ?? '')
      const network = decision.inspection.network.verdict.classification
      unanswered.settle(now())
      for (const one of [outcome, refused, degraded ? 'degraded' : undefined]) {
        if (one !== undefined) add('challenges', [rule, one, level, network])
      }
      if (outcome === 'asked') unanswered.asked([rule, level, network], ended)
      if (seconds === undefined) return
      answers.observe([level], seconds)
      unanswered.answered([rule, level, network], ended - seconds * 1_000)
    },
  }
}

function listLabels(observed: ObservedRequest): readonly string[] {
  const { decision } = observed
  const outcome = describeOutcome(observed)
  if (decision === undefined) return [outcome]
  const { agent, network } = decision.inspection
  return [outcome, String(decision.enforced), agent.class, network.verdict.classification, readRule(decision)]
}

async function attempted(read: Read): Promise<Iterable<Reading>> {
  try {
    return await read()
  } catch {
    return []
  }
}

const STATUSES = ['left', '1xx', '2xx', '3xx', '4xx', '5xx'] as const

function formatStatus(status: number): string {
  const hundreds = Math.floor(status / 100)
  return STATUSES[hundreds] ?? `${hundreds}xx`
}
