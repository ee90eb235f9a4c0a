import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'

/** What one process says at a scrape, in a form that crosses processes. */
export type Scraped = readonly object[]

/** The metrics of a whole process: those of Sallyport, and Node's own (`process_*`, `nodejs_*`). */
export interface Exposition {
  readonly contentType: string
  scrape(): Promise<Scraped>
}

/** Begins to watch the event loop and the memory of this process. */
export function createExposition(registry: Registry): Exposition {
  const process = new Registry()
  collectDefaultMetrics({ register: process })
  const merged = Registry.merge([registry, process])
  return {
    contentType: merged.contentType,
    scrape: () => merged.getMetricsAsJSON(),
  }
}

/** The text of several processes as one: counters are sums, ages are the oldest. */
export async function exposed(scraped: readonly Scraped[]): Promise<string> {
  const all = scraped.map((one) => [...one])
  return AggregatorRegistry.aggregate(all as Parameters<typeof AggregatorRegistry.aggregate>[0]).metrics()
}
