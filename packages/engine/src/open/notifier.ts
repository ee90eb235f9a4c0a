import { type Clock, type Observe, outcomeOf, type SourceStatus } from '@sallyport/core'
import type { Metrics } from '#metrics'
import type { Config } from './config/schema.ts'
import type { OpenHooks } from './hooks.ts'
import type { Notifier } from './notify/event.ts'
import {
  type Notifications,
  type NotifyPorts,
  openNotifications,
  type Tested,
  testNotifications,
} from './notify/notifications.ts'
import { watchStale } from './notify/stale-watch.ts'
import { createOutbound, type Outbound } from './outbound.ts'

/** A service downloads what is due before it is said to be old. */
const STALE_GRACE_MS = 300_000

export interface NotifierPorts {
  readonly clock: Clock
  readonly outbound: Outbound
  readonly metrics: Pick<Metrics, 'add'>
  readonly hooks: Pick<OpenHooks, 'notifier'>
  readonly notice: NonNullable<OpenHooks['onNotice']>
}

/** Notices of a service to its operator: its parts raise events here. */
export interface ServiceNotifier extends Notifier {
  /** Counts what was refused or asked. */
  readonly observe: Observe
  /** Readies the places of another configuration; returns what has them in force. */
  prepare(config: Config): () => void
  /** Notices when the data of sources becomes too old. */
  watch(sources: () => readonly SourceStatus[]): void
  close(): Promise<void>
}

/** Sends to the places of a configuration, or hands all to the process that does so for several. */
export function openNotifier(config: Config, ports: NotifierPorts): ServiceNotifier {
  const { clock, outbound, metrics, hooks, notice } = ports
  const { raise, refused, prepare, close } =
    hooks.notifier === undefined
      ? openPlaces(config, outbound, {
          now: clock.now,
          onNotice: (message) => notice('SALLYPORT_NOTIFY', message),
          onOutcome: (kind, outcome) => metrics.add('notifications', [kind, outcome]),
        })
      : handingTo(hooks.notifier)
  let stale: { close(): void } | undefined
  return {
    raise,
    refused,
    observe(observed) {
      if (observed.answeredBy !== 'check' && REFUSED.has(outcomeOf(observed))) refused(1)
    },
    prepare: ({ notify }) => prepare(notify),
    watch(sources) {
      const { data, net } = config
      const graceMs = data.refresh && net.outbound && !data.readOnly ? STALE_GRACE_MS : 0
      stale = watchStale({ sources, clock, raise, graceMs })
    },
    async close() {
      stale?.close()
      await close()
    },
  }
}

/** Outcomes that a spike is made of. */
const REFUSED: ReadonlySet<string> = new Set(['challenge', 'throttle', 'block', 'refused'])

type Handing = Pick<Notifications, 'raise' | 'refused' | 'prepare' | 'close'>

/** Another process sends. */
function handingTo({ raise, refused }: Notifier): Handing {
  return { raise, refused, prepare: () => () => {}, close: async () => {} }
}

function openPlaces({ notify }: Config, { feeds }: Pick<Outbound, 'feeds'>, hooks: NotifyHooks): Notifications {
  return openNotifications(notify, { fetch: feeds, ...hooks })
}

export type NotifyHooks = Pick<NotifyPorts, 'onNotice' | 'onOutcome' | 'now'>

/** Opens the notifications of a configuration alone, in a process that sends for several. */
export function openNotificationsOf(config: Config, hooks: NotifyHooks): Notifications {
  return openPlaces(config, createOutbound(config), hooks)
}

/** Sends a test to each place of a configuration, once. */
export function testNotificationsOf(config: Config): Promise<readonly Tested[]> {
  return testNotifications(config.notify, { fetch: createOutbound(config).feeds })
}
