import type { Histogram, Registry } from 'prom-client'
import { createRows, nameLabels } from './rows.ts'
import type { MetricRow } from './table.ts'

export type Durations = ReturnType<typeof createDurations>

/** The registry of a histogram, and the function that it calls before a read. */
export interface ReadBy {
  readonly registry: Registry
  settle(): void
}

/**
 * Creates a histogram of our own; `bounds` are ascending seconds. For each observation, that of prom-client joins the labels and looks
 * the result up as text.
 */
export function createDurations(
  { name, help, labels }: MetricRow,
  bounds: readonly number[],
  { registry, settle }: ReadBy,
) {
  const rows = createRows(labels.length, (values) => ({
    labels: nameLabels(labels, values),
    // Each bound has a count, and so have all longer observations; the sum of seconds comes last.
    counts: new Float64Array(bounds.length + 2),
  }))
  // Without labels there is one row, which is 0 until something is observed.
  if (labels.length === 0) rows.of([])
  function listValues({ labels, counts }: (typeof rows.all)[number]) {
    let count = 0
    const buckets = [...bounds, '+Inf'].map((le, at) => {
      count += counts[at] as number
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
    })
    return [
      ...buckets,
      { labels: { ...labels }, value: counts.at(-1) as number, metricName: `${name}_sum` },
      { labels: { ...labels }, value: count, metricName: `${name}_count` },
    ]
  }

  const head = { name, help, type: 'histogram', aggregator: 'sum' }
  const get = async () => {
    settle()
    return { ...head, values: rows.all.flatMap(listValues) }
  }
  const metric = { ...head, get, reset() {} }
  // A registry uses no other members of its metrics.
  registry.registerMetric(metric as unknown as Histogram)
  return {
    /** Adds an observation; `labels` are in the order of the metric's labels. */
    observe(labels: readonly string[], seconds: number): void {
      const { counts } = rows.of(labels)
      const found = bounds.findIndex((bound) => seconds <= bound)
      const at = found < 0 ? bounds.length : found
      counts[at] = (counts[at] as number) + 1
      counts[bounds.length + 1] = (counts[bounds.length + 1] as number) + seconds
    },
  }
}
