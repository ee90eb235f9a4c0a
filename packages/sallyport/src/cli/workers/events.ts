import { type Config, createMetrics, type EventSink, METRICS, openSinks, type Scraped } from '@sallyport/engine'
import { sendToPrimary } from './worker-messages.ts'

/** Refusals are handed over by the second. */
const HAND_MS = 1_000

/** In a worker: hands all events to the primary. */
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

/** In the primary: sends the events of all workers, because each of them would send the same. */
export interface WorkersSinks extends EventSink {
  /** Puts another configuration in force. */
  take(config: Config): void
  /** Its own counts, which a scrape adds to those of the workers. */
  counted(): Scraped
  close(): Promise<void>
}

/** Opens the sinks of the first configuration. */
export function openWorkersSinks(first: Config, say: (line: string) => void): WorkersSinks {
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
  return { raise, refused, take: (config) => prepare(config)(), counted: () => counted, close }
}
