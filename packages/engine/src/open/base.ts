import type { Clock } from '@sallyport/core'
import type { Config } from '#config'
import { createMetrics } from '#metrics'
import {
  createOutbound,
  type DisposeStack,
  guarded,
  type OpenHooks,
  openLog,
  openObservations,
  readKeeping,
  SINK_NOTICE,
  sayOnStderr,
} from '#service'
import { countedDns } from './measures.ts'
import { handOver, openSinks } from './sinks.ts'

/** Holds what every other part of a service uses. */
export type Base = Awaited<ReturnType<typeof openBase>>

/** Opens the outputs of a service: metrics, events, the log and the observations. */
export async function openBase(config: Config, hooks: OpenHooks, resources: DisposeStack) {
  const { onNotice: notice = sayOnStderr } = hooks
  const onFault = guarded(hooks.onFault ?? ((error) => notice('SALLYPORT_FAULT', String(error))))
  const clock: Clock = hooks.clock ?? { now: () => Date.now() }
  const isTrial = hooks.clock !== undefined
  const metrics = createMetrics(clock.now)
  const outbound = createOutbound(config, { dns: hooks.dns, counted: (dns) => countedDns(dns, metrics) })
  const sinks = await resources.use(
    hooks.events === undefined
      ? openSinks(config, {
          fetch: outbound.feeds,
          now: clock.now,
          onNotice: (message) => notice(SINK_NOTICE, message),
          onOutcome: (kind, outcome) => metrics.add('events', [kind, outcome]),
        })
      : handOver(hooks.events),
  )
  const log = await resources.use(openLog(config, onFault))
  const keeping = await readKeeping(config, isTrial ? () => {} : notice)
  const observations = await resources.use(openObservations(keeping.kept, clock, keeping.missing))
  return { keeping, notice, onFault, clock, isTrial, metrics, outbound, sinks, log, observations }
}
