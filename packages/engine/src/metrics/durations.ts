import type { Histogram, Registry } from 'prom-client'
import { createRows } from './rows.ts'
import type { MetricRow } from './table.ts'

/** A histogram of our own: that of prom-client puts labels together and looks a number up by its text for each observation. */
export interface Durations {
  /** `labels` in the order of the metric's. */
  observe(labels: readonly string[], seconds: number): void
}

/** The registry of a histogram, and what is called before it is read. */
interface ReadBy {
  readonly registry: Registry
  settle(): void
}

/** `bounds`: seconds, ascending. */
export function createDurations(
  { name, help, labels }: MetricRow,
  bounds: readonly number[],
  { registry, settle }: ReadBy,
): Durations {
  const rows = createRows(labels.length, (values) => ({
    labels: Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ''])),
    // One for each bound, then those beyond all of them, then the sum of seconds.
    counts: new Float64Array(bounds.length + 2),
  }))
  // Without labels there is one row, which is 0 until something is observed.
  if (labels.length === 0) rows.of([])
  function valuesOf({ labels, counts }: (typeof rows.all)[number]) {
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
    return { ...head, values: rows.all.flatMap(valuesOf) }
  }
  const metric = { ...head, get, reset() {} }
  // A registry asks its metrics for no more than that.
  registry.registerMetric(metric as unknown as Histogram)
  return {
    observe(labels, seconds) {
      const { counts } = rows.of(labels)
      const found = bounds.findIndex((bound) => seconds <= bound)
      const at = found < 0 ? bounds.length : found
      counts[at] = (counts[at] as number) + 1
      counts[bounds.length + 1] = (counts[bounds.length + 1] as number) + seconds
    },
  }
}
