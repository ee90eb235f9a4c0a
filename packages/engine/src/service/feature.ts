import type { Fetch } from '@sallyport/core'
import type { z } from 'zod'
import type { LocatedFault, Settings } from '#settings'
import type { EventKind, EventSink } from './event.ts'
import type { CheckResult } from './finding.ts'
import type { Outbound } from './outbound.ts'

type Keys = Readonly<Record<string, z.ZodType>>

/** A feature reads these parts of the configuration: its own keys, and whether outbound requests are permitted. */
export type FeatureConfig<Own extends Keys> = Pick<Settings, 'net'> &
  (keyof Own extends never ? unknown : z.output<z.ZodObject<Own>>)

/** Each place reports `sent`, `failed` or `dropped` once for an event. */
export type SinkOutcome = 'sent' | 'failed' | 'dropped' | 'left_out'

/** Lists what a sink receives. */
export interface SinkPorts {
  readonly fetch: Fetch
  /** Returns milliseconds since the epoch. */
  readonly now?: (() => number) | undefined
  /** Takes one line about a place that cannot be reached, and another line when the place can be reached again. */
  readonly onNotice: (message: string) => void
  readonly onOutcome?: ((kind: EventKind, outcome: SinkOutcome) => void) | undefined
}

/** A sink that a feature has opened. */
export interface OpenedSink<Own extends Keys> extends EventSink {
  /** Prepares another configuration; returns the function that puts it in force. */
  prepare(config: FeatureConfig<Own>): () => void
  close(): Promise<void>
}

/**
 * Describes a feature of the service. A feature is one folder below `features` and one line in their index, and no other code knows it:
 * delete both, and everything else builds.
 */
export interface Feature<Own extends Keys> {
  /** Defines the keys of the configuration that belong to the feature. */
  readonly keys: Own
  /** Names its file in the commands of `sallyport`, without `.ts`. */
  readonly command?: string | undefined
  /** Returns faults of its keys that a schema cannot express. */
  readonly faults?: ((config: FeatureConfig<Own>) => readonly LocatedFault[]) | undefined
  /** Warns of values of its keys that are allowed and probably not intended. */
  readonly warnings?: ((config: FeatureConfig<Own>) => readonly LocatedFault[]) | undefined
  /** Checks, for `sallyport doctor`, the targets that its keys name. */
  readonly examine?: ((config: FeatureConfig<Own>, outbound: Outbound) => Promise<readonly CheckResult[]>) | undefined
  /** Opens the sink that sends a service's events to its operator. */
  readonly openSink?: ((config: FeatureConfig<Own>, ports: SinkPorts) => OpenedSink<Own>) | undefined
}
