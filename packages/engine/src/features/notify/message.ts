import type { ServiceEvent } from '#service'

/** An event as it is sent: `test` is that of the command. */
export interface Message extends Omit<ServiceEvent, 'kind'> {
  readonly kind: ServiceEvent['kind'] | 'test'
  /** Unique; of one that is sent again the same. */
  readonly id: string
  /** The time of the event, in milliseconds since the epoch. */
  readonly at: number
  /** The machine. */
  readonly host: string
  /** Events of its kind and subject that were left out before it. */
  readonly leftOut: number
}

const TITLES: Readonly<Record<Message['kind'], readonly [trouble: string, over: string]>> = {
  ban: ['client banned', 'client banned'],
  spike: ['more requests refused than usual', 'refusals as usual'],
  stale: ['data past its age', 'data renewed'],
  certificate: ['certificate', 'certificate renewed'],
  origin: ['origin down', 'origin up again'],
  ledger: ['ledger', 'ledger works again'],
  reload_refused: ['configuration refused', 'configuration taken over'],
  test: ['test', 'test'],
}

/** A line for a subject: `Sallyport on edge-1: origin down`. */
export function titleOf({ kind, over, host }: Pick<Message, 'kind' | 'over' | 'host'>): string {
  return `Sallyport on ${host}: ${TITLES[kind][over ? 1 : 0]}`
}

/** The sentence, and how many were left out before it. */
export function textOf({ text, leftOut }: Pick<Message, 'text' | 'leftOut'>): string {
  if (leftOut === 0) return text
  return `${text} (${leftOut} more of this kind ${leftOut === 1 ? 'was' : 'were'} left out within the last hour.)`
}
