/** Kinds of events that an operator may want to know of at once. */
export const EVENT_KINDS = ['ban', 'spike', 'stale', 'certificate', 'origin', 'ledger', 'reload_refused'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** Something that an operator may want to know at once. */
export interface ServiceEvent {
  readonly kind: EventKind
  /** The subject, such as the name of a certificate; events of one kind and subject are limited together. '' where a kind has one subject. */
  readonly about: string
  /** The trouble is over; the end of trouble that was never sent is not sent either. */
  readonly over?: true | undefined
  /** One sentence; it is the same where two processes notice the same. It holds no address that the log would not have. */
  readonly text: string
  /** Facts for programs. */
  readonly details?: Readonly<Record<string, string | number>> | undefined
}

/** Takes an event; does not wait and does not throw. */
export type RaiseEvent = (event: ServiceEvent) => void

/** Takes the events of a service. */
export interface EventSink {
  readonly raise: RaiseEvent
  /** So many requests more were refused or challenged. */
  refused(count: number): void
}
