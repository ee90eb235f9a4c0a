/** Kinds of events that an operator may want to know of at once. */
export const EVENT_KINDS = ['ban', 'spike', 'stale', 'certificate', 'origin', 'ledger', 'reload_refused'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** Something that an operator may want to know at once. */
export interface ServiceEvent {
  readonly kind: EventKind
  /** The subject, such as the name of a certificate; events of one kind and subject share a limit. '' if a kind has only one subject. */
  readonly about: string
  /** True if the trouble is over; if its beginning was never sent, its end is not sent either. */
  readonly over?: true | undefined
  /** One sentence, which is the same if two processes notice the same event. It contains only addresses that the log would contain. */
  readonly text: string
  /** Gives facts that programs read. */
  readonly details?: Readonly<Record<string, string | number>> | undefined
}

/** Takes an event; does not wait and does not throw. */
export type RaiseEvent = (event: ServiceEvent) => void

/** Takes the events of a service. */
export interface EventSink {
  readonly raise: RaiseEvent
  /** Counts further requests that were refused or challenged. */
  refused(count: number): void
}
