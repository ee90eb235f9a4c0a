import { AggregatorRegistry, type Counter, collectDefaultMetrics, Registry } from 'prom-client'

/** One process's metrics at a scrape, in a form that crosses processes. */
export type Scraped = readonly object[]

/** The metrics of a whole process: those of Sallyport, and Node's own (`process_*`, `nodejs_*`). */
export interface Exposition {
  readonly contentType: string
  scrape(): Promise<Scraped>
  /** The same without gauges, whose values end with their process. */
  counted(): Promise<Scraped>
}

/** Begins to watch the event loop and the memory of this process. */
export function createExposition(registry: Registry): Exposition {
  const process = new Registry()
  collectDefaultMetrics({ register: process })
  const merged = Registry.merge([registry, process])
  const counters = new Registry()
  for (const metric of merged.getMetricsAsArray()) {
    // The objects are the metrics themselves, whatever the types of prom-client say.
    if (COUNTED.has(metric.type)) counters.registerMetric(metric as unknown as Counter)
  }
  return {
    contentType: merged.contentType,
    scrape: () => merged.getMetricsAsJSON(),
    counted: () => counters.getMetricsAsJSON(),
  }
}

/** Returns the part of a scrape that is counted: it only grows while its process lives. */
export function countedOf(scraped: Scraped): Scraped {
  return scraped.filter(isCounted)
}

/** Returns what several processes counted as if one had. */
export function summed(counted: readonly Scraped[]): Scraped {
  // As data alone: those of prom-client have a function in which all that was summed stays, and so every sum before it.
  return registryOf(counted)
    .getMetricsAsArray()
    .filter((metric) => isCounted(metric))
    .map(({ name, help, type, aggregator, values }) => ({ name, help, type, aggregator, values }))
}

/** All counts together: of two reports of one process the larger is the later. */
export function totalOf(counted: Scraped): number {
  return counted
    .filter(isCounted)
    .flatMap(({ values }) => values)
    .reduce((sum, { value }) => sum + value, 0)
}

/** The same as the text that Prometheus reads. */
export async function exposed(scraped: readonly Scraped[]): Promise<string> {
  return registryOf(scraped).metrics()
}

/** Types of metrics that only grow. */
const COUNTED: ReadonlySet<unknown> = new Set(['counter', 'histogram'])

interface Counted {
  readonly values: { value: number }[]
}

function isCounted<Metric extends object>(metric: Metric): metric is Metric & Counted {
  return 'type' in metric && COUNTED.has(metric.type) && 'values' in metric
}

function registryOf(scraped: readonly Scraped[]) {
  const all = scraped.map((one) => [...one])
  const registry = AggregatorRegistry.aggregate(all as Parameters<typeof AggregatorRegistry.aggregate>[0])
  for (const metric of registry.getMetricsAsArray().filter((one) => isCounted(one))) {
    // The last bit of a sum depends on who answered first; a sum that falls by it is a restart to Prometheus.
    for (const entry of metric.values) entry.value = Math.round(entry.value * 1e9) / 1e9
  }
  return registry
}
