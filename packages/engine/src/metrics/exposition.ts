import { AggregatorRegistry, type Counter, collectDefaultMetrics, Registry } from 'prom-client'

/** Holds one process's metrics at a scrape, in a form that crosses processes. */
export type Scraped = readonly object[]

export type Exposition = ReturnType<typeof createExposition>

/** Reads all metrics of a process: Sallyport's own and Node's (`process_*`, `nodejs_*`), which it starts to watch. */
export function createExposition(registry: Registry) {
  const process = new Registry()
  collectDefaultMetrics({ register: process })
  const merged = Registry.merge([registry, process])
  const counters = new Registry()
  for (const metric of merged.getMetricsAsArray()) {
    // The objects are the metrics themselves, although the types of prom-client say otherwise.
    if (COUNTED.has(metric.type)) counters.registerMetric(metric as unknown as Counter)
  }
  return {
    contentType: merged.contentType,
    scrape: (): Promise<Scraped> => merged.getMetricsAsJSON(),
    /** Reads the metrics without gauges, whose values end with their process. */
    counted: (): Promise<Scraped> => counters.getMetricsAsJSON(),
  }
}

/** Returns the part of a scrape that is counted: it only grows while its process lives. */
export function keepCounted(scraped: Scraped): Scraped {
  return scraped.filter(isCounted)
}

/** Sums the counts of several processes. */
export function summed(counted: readonly Scraped[]): Scraped {
  // Plain data here: metrics of prom-client carry a function that keeps everything that was summed, and so every earlier sum.
  return fillRegistry(counted)
    .getMetricsAsArray()
    .filter((metric) => isCounted(metric))
    .map(({ name, help, type, aggregator, values }) => ({ name, help, type, aggregator, values }))
}

/** Sums all counts: of two reports of one process the larger is the later. */
export function sumCounted(counted: Scraped): number {
  return counted
    .filter(isCounted)
    .flatMap(({ values }) => values)
    .reduce((sum, { value }) => sum + value, 0)
}

/** Writes the metrics as the text that Prometheus reads. */
export async function exposed(scraped: readonly Scraped[]): Promise<string> {
  return fillRegistry(scraped).metrics()
}

/** Types of metrics that only grow. */
const COUNTED: ReadonlySet<unknown> = new Set(['counter', 'histogram'])

function isCounted<Metric extends object>(metric: Metric): metric is Metric & { readonly values: { value: number }[] } {
  return 'type' in metric && COUNTED.has(metric.type) && 'values' in metric
}

function fillRegistry(scraped: readonly Scraped[]) {
  const all = scraped.map((one) => [...one])
  const registry = AggregatorRegistry.aggregate(all as Parameters<typeof AggregatorRegistry.aggregate>[0])
  for (const metric of registry.getMetricsAsArray().filter((one) => isCounted(one))) {
    // The last bit of a sum depends on the order of answers; Prometheus takes a sum that falls by this bit for a restart.
    for (const entry of metric.values) entry.value = Math.round(entry.value * 1e9) / 1e9
  }
  return registry
}
