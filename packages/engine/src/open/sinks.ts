import { describeOutcome, type Observe } from '@sallyport/core'
import { type Config, FEATURES } from '#config/service'
import { createOutbound, type EventSink, type ServiceEvent, type SinkPorts } from '#service'

/** All that sends the events of a service. */
export type Sinks = ReturnType<typeof openSinks>

/** Opens the sinks of a configuration: in a service, or in a process that sends for several. */
export function openSinks(
  config: Config,
  { fetch = createOutbound(config).feeds, ...ports }: Partial<SinkPorts> & Pick<SinkPorts, 'onNotice'>,
) {
  const opened = FEATURES.flatMap(({ openSink }) => openSink?.(config, { fetch, ...ports }) ?? [])
  return {
    raise(event: ServiceEvent): void {
      for (const { raise } of opened) raise(event)
    },
    refused(count: number): void {
      for (const { refused } of opened) refused(count)
    },
    /** Readies another configuration; returns what puts it in force. */
    prepare(next: Config): () => void {
      const prepared = opened.map(({ prepare }) => prepare(next))
      return () => {
        for (const take of prepared) take()
      }
    },
    async close(): Promise<void> {
      await Promise.all(opened.map(({ close }) => close()))
    },
  }
}

/** The sinks of a service whose events another process sends, or of one whose requests were recorded or made up. */
export function handOver({ raise, refused }: EventSink): Sinks {
  return { raise, refused, prepare: () => () => {}, close: async () => {} }
}

/** The outcomes that a spike of refusals is made of. */
const REFUSED: ReadonlySet<string> = new Set(['challenge', 'throttle', 'block', 'refused'])

/** Counts the requests that were refused or challenged. */
export function observeRefusals({ refused }: EventSink): Observe {
  return (observed) => {
    if (observed.answeredBy !== 'check' && observed.answeredBy !== 'event' && REFUSED.has(describeOutcome(observed)))
      refused(1)
  }
}
