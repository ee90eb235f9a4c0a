import type { Fetch } from '@sallyport/core'
import type { z } from 'zod'
import type { LocatedFault, Settings } from '#settings'
import type { EventKind, EventSink } from './event.ts'
import type { CheckResult } from './finding.ts'
import type { Outbound } from './outbound.ts'

type Keys = Readonly<Record<string, z.ZodType>>

/** The part of the configuration that a feature reads: its own keys, and whether requests may go out. */
export type FeatureConfig<Own extends Keys> = Pick<Settings, 'net'> &
  (keyof Own extends never ? unknown : z.output<z.ZodObject<Own>>)

/** Outcomes of an event: of `sent`, `failed` and `dropped` one for each place. */
export type SinkOutcome = 'sent' | 'failed' | 'dropped' | 'left_out'

/** Ports of a sink. */
export interface SinkPorts {
  readonly fetch: Fetch
  /** Milliseconds since the epoch. */
  readonly now?: (() => number) | undefined
  /** Takes one line about a place that cannot be reached, and one when it is reached again. */
  readonly onNotice: (message: string) => void
  readonly onOutcome?: ((kind: EventKind, outcome: SinkOutcome) => void) | undefined
}

/** A sink that a feature has opened. */
export interface OpenedSink<Own extends Keys> extends EventSink {
  /** Readies another configuration; returns what puts it in force. */
  prepare(config: FeatureConfig<Own>): () => void
  close(): Promise<void>
}

/**
 * A feature of the service. It is one folder below `features` and one line in their index, and what a member does not say
 * about it is in that folder alone: delete both, and everything else builds.
 */
export interface Feature<Own extends Keys> {
  /** Its keys of the configuration. */
  readonly keys: Own
  /** Its file in the commands of `sallyport`, without `.ts`. */
  readonly command?: string | undefined
  /** Its page of the documentation. */
  readonly page?: string | undefined
  /** Faults of its keys that a schema cannot express. */
  readonly faults?: ((config: FeatureConfig<Own>) => readonly LocatedFault[]) | undefined
  /** Values of its keys that are allowed and most likely not meant. */
  readonly warnings?: ((config: FeatureConfig<Own>) => readonly LocatedFault[]) | undefined
  /** Checks for `sallyport doctor` what its keys name. */
  readonly examine?: ((config: FeatureConfig<Own>, outbound: Outbound) => Promise<readonly CheckResult[]>) | undefined
  /** Opens what sends the events of a service to its operator. */
  readonly openSink?: ((config: FeatureConfig<Own>, ports: SinkPorts) => OpenedSink<Own>) | undefined
}
