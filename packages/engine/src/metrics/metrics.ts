import type { Decision, Observe, ObservedRequest } from '@sallyport/core'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { METRICS, type MetricId, type MetricRow } from './table.ts'
import { createTally, type Reading, type Tally } from './tally.ts'
import { createUnanswered } from './unanswered.ts'

/** The metrics of one service, in a registry of its own. */
export interface Metrics {
  /** To be merged into a host's: `Registry.merge([register, sallyport.metrics()])`. */
  readonly registry: Registry
  readonly observe: Observe
  /** Adds to a counter; labels in the order of the table. */
  add(id: MetricId, labels: readonly string[], by?: number): void
  /**
   * Has a gauge or a counter read at every scrape, in place of who read it before; where reading fails, it has no values.
   */
  read(id: MetricId, read: () => Iterable<Reading> | Promise<Iterable<Reading>>): void
}

/** From a tenth of a millisecond, as inspection takes, to the longest that somebody waits. */
const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** From a quick machine's work to the longest that a question may be answered. */
const ANSWER_SECONDS = [0.1, 0.25, 0.5, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300]

/** `now`: milliseconds since the epoch. */
export function createMetrics(now: () => number = Date.now): Metrics {
  const registry = new Registry()
  const tallies = new Map<MetricId, Tally>()
  const readers = new Map<MetricId, Parameters<Metrics['read']>[1]>()
  const durations = new Map<string, ReturnType<Histogram['labels']>>()
  const inspection = histogram(METRICS.inspection, registry)
  const requests = histogram(METRICS.requests, registry)
  const answers = histogram(METRICS.challengeSeconds, registry, ANSWER_SECONDS)

  function durationOf(answeredBy: string, status: string): ReturnType<Histogram['labels']> {
    // Labels are put together once for each combination, of which there are some dozens.
    const known = durations.get(answeredBy + status)
    if (known !== undefined) return known
    const made = requests.labels({ answered_by: answeredBy, status })
    durations.set(answeredBy + status, made)
    return made
  }

  // All at once: who merges the registry with another has them all. What was counted is read at a scrape.
  for (const [id, row] of Object.entries(METRICS) as [MetricId, MetricRow][]) {
    if (row.type === 'histogram') continue
    const tally = createTally(row.labels)
    tallies.set(id, tally)
    const collect = async (): Promise<void> => {
      const read = readers.get(id)
      const readings = read === undefined ? tally.readings() : await readingsOf(read)
      metric.reset()
      // A metric without labels is 0 after that, which would be an answer.
      if (read !== undefined && row.labels.length === 0) metric.remove()
      for (const [labels, value] of readings) metric.inc(labelled(row, labels), value)
    }
    const options = { ...optionsOf(row, registry), collect }
    const metric = row.type === 'counter' ? new Counter(options) : new Gauge(options)
  }

  const add: Metrics['add'] = (id, labels, by = 1) => tallies.get(id)?.add(labels, by)
  const unanswered = createUnanswered((labels, by) => add('challengesAbandoned', labels, by))
  readers.set('challengesAbandoned', () => {
    unanswered.settle(now())
    return tallies.get('challengesAbandoned')?.readings() ?? []
  })

  function observeChallenge({ challenge, decision, at, milliseconds }: ObservedRequest): void {
    if (challenge === undefined || decision === undefined) return
    const { outcome, seconds, refused } = challenge
    const ended = at + milliseconds
    const rule = challenge.rule ?? ''
    const level = String(challenge.level ?? '')
    const network = decision.inspection.network.verdict.classification
    unanswered.settle(now())
    for (const one of refused === undefined ? [outcome] : [refused, outcome])
      add('challenges', [rule, one, level, network])
    if (outcome === 'asked') unanswered.asked([rule, level, network], ended)
    if (seconds === undefined) return
    answers.labels({ level }).observe(seconds)
    unanswered.answered([rule, level, network], ended - seconds * 1_000)
  }

  return {
    registry,
    add,
    read: (id, read) => void readers.set(id, read),
    observe(observed) {
      observeDecision(observed, add)
      observeChallenge(observed)
      const { answeredBy, status, milliseconds, inspectionMilliseconds, refusedFor } = observed
      if (answeredBy === 'check') return
      if (refusedFor !== undefined) add('refusals', [refusedFor])
      if (inspectionMilliseconds !== undefined) inspection.observe(inspectionMilliseconds / 1_000)
      durationOf(answeredBy, statusOf(status)).observe(milliseconds / 1_000)
    },
  }
}

const POLICY = 'policy:'

function observeDecision({ decision, answeredBy }: ObservedRequest, add: Metrics['add']): void {
  if (decision === undefined || answeredBy === 'check') return
  const { action, enforced, trials = [], limits = [], inspection } = decision
  const { agent, network } = inspection
  add('decisions', [action, String(enforced), agent.class, network.verdict.classification])
  add('rules', [ruleOf(decision), action])
  for (const trial of trials) add('rules', [trial.rule, `trial:${trial.action}`])
  for (const { rule, exceeded } of limits) add('limits', [rule, exceeded ? 'beyond' : 'within'])
}

/** The id of the rule that decided. */
function ruleOf({ reasons: [rule] }: Decision): string {
  const id = rule?.id ?? ''
  return id.startsWith(POLICY) ? id.slice(POLICY.length) : id
}

function labelled({ labels }: MetricRow, values: readonly string[]): Record<string, string> {
  return Object.fromEntries(labels.map((label, at) => [label, values[at] ?? '']))
}

async function readingsOf(read: Parameters<Metrics['read']>[1]): Promise<Iterable<Reading>> {
  try {
    return await read()
  } catch {
    return []
  }
}

function statusOf(status: number): string {
  return status === 0 ? 'left' : `${Math.floor(status / 100)}xx`
}

function histogram(row: MetricRow, registry: Registry, buckets = SECONDS): Histogram {
  return new Histogram({ ...optionsOf(row, registry), buckets })
}

function optionsOf({ name, help, labels, workers = 'sum' }: MetricRow, registry: Registry) {
  return { name, help, labelNames: [...labels], registers: [registry], aggregator: workers }
}
