import { isDeepStrictEqual } from 'node:util'
import {
  type Config,
  createMetrics,
  METRICS,
  type Notifier,
  openNotificationsOf,
  type Scraped,
} from '@sallyport/engine'
import { sendToPrimary } from './worker-messages.ts'

/** Refusals are handed over by the second. */
const HAND_MS = 1_000

/** In a worker: hands all to the primary. */
export function handingNotifier(): Notifier {
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

/** In the primary: sends for all workers (D533). */
export interface WorkersNotifier extends Notifier {
  /** The configuration in force; another one is in force from then on. */
  take(config: Config): void
  /** Its own counts, which a scrape adds to those of the workers. */
  counted(): Scraped
  close(): Promise<void>
}

/** Opens the notifications of the first configuration. */
export function openWorkersNotifier(first: Config, say: (line: string) => void): WorkersNotifier {
  const metrics = createMetrics()
  let counted: Scraped = []
  const refresh = async (): Promise<void> => {
    const all: Scraped = await metrics.registry.getMetricsAsJSON()
    counted = all.filter((metric) => 'name' in metric && metric.name === METRICS.notifications.name)
  }
  const { raise, refused, prepare, close } = openNotificationsOf(first, {
    onNotice: (message) => say(`sallyport: ${message}`),
    onOutcome(kind, outcome) {
      metrics.add('notifications', [kind, outcome])
      void refresh()
    },
  })
  let places = first.notify
  return {
    raise,
    refused,
    take({ notify }) {
      if (isDeepStrictEqual(notify, places)) return
      places = notify
      prepare(notify)()
    },
    counted: () => counted,
    close,
  }
}
