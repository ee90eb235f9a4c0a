import type { Observe, ObservedRequest } from '@sallyport/core'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createBound } from './bounded.ts'
import { METRICS, type MetricId, type MetricRow } from './table.ts'

/** A value with its labels, in the order of the metric's. */
export type Reading = readonly [labels: readonly string[], value: number]

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

/** Different values of one label; those of ours are fewer, names of rules and sources are the operator's. */
const MAX_VALUES = 300

export function createMetrics(): Metrics {
  const registry = new Registry()
  const bounds = new Map<string, (value: string) => string>()
  const readers = new Map<MetricId, Parameters<Metrics['read']>[1]>()
  const made = new Map<MetricId, Counter | Gauge>()
  const children = new Map<string, { inc(by?: number): void }>()
  const inspection = histogram(METRICS.inspection, registry)
  const requests = histogram(METRICS.requests, registry)

  const durations = new Map<string, ReturnType<typeof requests.labels>>()

  function durationOf(answeredBy: string, status: string) {
    // Labels are put together once for each combination, of which there are some dozens.
    return keep(durations, answeredBy + status, () => requests.labels({ answered_by: answeredBy, status }))
  }

  function bounded({ name, labels }: MetricRow, values: readonly string[]): Record<string, string> {
    return Object.fromEntries(
      labels.map((label, at) => {
        const bound = keep(bounds, `${name} ${label}`, () => createBound(MAX_VALUES))
        return [label, bound(values[at] ?? '')]
      }),
    )
  }

  function add(id: MetricId, labels: readonly string[], by = 1): void {
    // Labels are put together once for each combination.
    const key = `${id}\n${labels.join('\n')}`
    let child = children.get(key)
    if (child === undefined) {
      const row: MetricRow = METRICS[id]
      child = (made.get(id) as Counter).labels(bounded(row, labels))
      if (children.size < MAX_CHILDREN) children.set(key, child)
    }
    child.inc(by)
  }

  // All at once: who merges the registry with another has them all.
  for (const [id, row] of Object.entries(METRICS) as [MetricId, MetricRow][]) {
    if (row.type === 'histogram') continue
    const collect = async (): Promise<void> => {
      const read = readers.get(id)
      if (read === undefined) return
      metric.reset()
      // A metric without labels is 0 after that, which would be an answer.
      if (row.labels.length === 0) metric.remove()
      for (const [labels, value] of await readingsOf(read)) metric.inc(bounded(row, labels), value)
    }
    const options = { ...optionsOf(row, registry), collect }
    const metric = row.type === 'counter' ? new Counter(options) : new Gauge(options)
    made.set(id, metric)
  }

  return {
    registry,
    add,
    read: (id, read) => void readers.set(id, read),
    observe(observed) {
      observeDecision(observed, add)
      const { answeredBy, status, milliseconds, inspectionMilliseconds, refusedFor } = observed
      if (answeredBy === 'check') return
      if (refusedFor !== undefined) add('refusals', [refusedFor])
      if (inspectionMilliseconds !== undefined) inspection.observe(inspectionMilliseconds / 1_000)
      durationOf(answeredBy, statusOf(status)).observe(milliseconds / 1_000)
    },
  }
}

/** A bound on memory, far above what labels of ours can make. */
const MAX_CHILDREN = 20_000

function observeDecision({ decision, answeredBy }: ObservedRequest, add: Metrics['add']): void {
  if (decision === undefined || answeredBy === 'check') return
  const { action, enforced, trials = [], reasons, limits = [], inspection } = decision
  const { agent, network } = inspection
  add('decisions', [action, String(enforced), agent.class, network.verdict.classification])
  const [rule] = reasons
  if (rule !== undefined) add('rules', [rule.id.replace(/^policy:/, ''), action])
  for (const trial of trials) add('rules', [trial.rule, `trial:${trial.action}`])
  for (const { rule, exceeded } of limits) add('limits', [rule, exceeded ? 'beyond' : 'within'])
}

/** What is kept under a key, made where it is not there. */
function keep<T>(kept: Map<string, T>, key: string, make: () => T): T {
  const known = kept.get(key)
  if (known !== undefined) return known
  const made = make()
  kept.set(key, made)
  return made
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

function histogram(row: MetricRow, registry: Registry): Histogram {
  return new Histogram({ ...optionsOf(row, registry), buckets: SECONDS })
}

function optionsOf({ name, help, labels, workers = 'sum' }: MetricRow, registry: Registry) {
  return { name, help, labelNames: [...labels], registers: [registry], aggregator: workers }
}
