/** Kinds of events that operators are notified of. */
export const EVENT_KINDS = ['ban', 'spike', 'stale', 'certificate', 'origin', 'ledger', 'reload_refused'] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** Something that an operator may want to know at once. */
export interface ServiceEvent {
  readonly kind: EventKind
  /** Its subject, as the name of a certificate; events of one kind and subject are limited together. '' where a kind has one. */
  readonly about: string
  /** The trouble is over; of trouble that nobody was notified of it is not said. */
  readonly over?: true | undefined
  /** One sentence; alike where the same is noticed twice. It holds no address that the log would not have. */
  readonly text: string
  /** Facts for programs. */
  readonly details?: Readonly<Record<string, string | number>> | undefined
}

/** Takes events; does not wait and does not throw. */
export interface Notifier {
  raise(event: ServiceEvent): void
  /** So many requests more were refused or asked. */
  refused(count: number): void
}
