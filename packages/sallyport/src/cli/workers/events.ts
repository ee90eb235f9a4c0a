import { type Config, createMetrics, type EventSink, METRICS, openSinks, type Scraped } from '@sallyport/engine'
import { sendToPrimary } from './worker-messages.ts'

const HAND_MS = 1_000

export function handEvents(): EventSink {
  let refused = 0
  let waits = false
  return {
    raise: (event) => sendToPrimary({ worker: 'event', event }),
    refused(count) {
      refused += count
      if (waits) return
      waits = true
      setTimeout(() => {
        waits = false
        sendToPrimary({ worker: 'refused', count: refused })
        refused = 0
      }, HAND_MS).unref()
    },
  }
}

export type WorkersSinks = ReturnType<typeof openWorkersSinks>

/** Opens the sinks that send the events of all workers, in the primary, because each worker would send the same. */
export function openWorkersSinks(first: Config, say: (line: string) => void) {
  const metrics = createMetrics()
  let counted: Scraped = []
  const refresh = async (): Promise<void> => {
    const all: Scraped = await metrics.registry.getMetricsAsJSON()
    counted = all.filter((metric) => 'name' in metric && metric.name === METRICS.events.name)
  }
  const { raise, refused, prepare, close } = openSinks(first, {
    onNotice: (message) => say(`sallyport: ${message}`),
    onOutcome(kind, outcome) {
      metrics.add('events', [kind, outcome])
      void refresh()
    },
  })
  return {
    raise,
    refused,
    take: (config: Config): void => prepare(config)(),
    /** Returns its own counts, which a scrape adds to the workers' counts. */
    counted: (): Scraped => counted,
    close,
  }
}
