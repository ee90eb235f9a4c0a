import type { ServiceEvent } from '#service'

/** Adds to an event what a message needs; the command sends `test`. */
export interface Message extends Omit<ServiceEvent, 'kind'> {
  readonly kind: ServiceEvent['kind'] | 'test'
  /** Identifies the message; retries keep the id. */
  readonly id: string
  /** Gives the time of the event, in milliseconds since the epoch. */
  readonly at: number
  /** Names the machine. */
  readonly host: string
  /** Counts events of the same kind and subject that were left out before it. */
  readonly leftOut: number
}

const TITLES: Readonly<Record<Message['kind'], readonly [trouble: string, over: string]>> = {
  ban: ['client banned', 'client banned'],
  spike: ['more blocked requests than usual', 'blocked requests back to normal'],
  stale: ['data is stale', 'data is up to date again'],
  certificate: ['certificate', 'certificate renewed'],
  origin: ['origin down', 'origin is up again'],
  ledger: ['ledger', 'ledger recovered'],
  reload_refused: ['configuration reload rejected', 'configuration reloaded'],
  test: ['test', 'test'],
}

/** Writes a subject line: `Sallyport on edge-1: origin down`. */
export function writeTitle({ kind, over, host }: Pick<Message, 'kind' | 'over' | 'host'>): string {
  return `Sallyport on ${host}: ${TITLES[kind][over ? 1 : 0]}`
}

/** Writes the sentence, and how many events were left out before it. */
export function writeText({ text, leftOut }: Pick<Message, 'text' | 'leftOut'>): string {
  if (leftOut === 0) return text
  return `${text} (${leftOut} more of this kind ${leftOut === 1 ? 'was' : 'were'} suppressed within the last hour.)`
}
