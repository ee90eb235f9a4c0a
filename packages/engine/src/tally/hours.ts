import { HOUR_MS } from '@sallyport/core'
import { byLabels, DECIDED, listShares, pickRows, readLabel } from './sums.ts'
import type { TallyReading, TallyRow } from './tally-file.ts'

/** Counts the requests of a span by the hour. */
export interface TallyHours {
  /** The span begins here: milliseconds since the epoch, on the hour. */
  readonly from: number
  /** Counts the requests of each hour by outcome, the oldest first. */
  readonly outcomes: Readonly<Record<string, readonly number[]>>
  /** Counts the requests of the span by class of client, and by network class. */
  readonly classes: Readonly<Record<string, number>>
  readonly networks: Readonly<Record<string, number>>
}

export function sumHours({ from, until, rows }: TallyReading): TallyHours {
  const decided = pickRows(rows, 'decided')
  const outcomes: Record<string, number[]> = {}
  for (const row of decided) {
    const name = readLabel(row, DECIDED.outcome)
    outcomes[name] ??= new Array<number>((until - from) / HOUR_MS).fill(0)
    const at = row.hour - from / HOUR_MS
    outcomes[name][at] = (outcomes[name][at] ?? 0) + row.requests
  }
  return { from, outcomes, classes: countBy(decided, DECIDED.class), networks: countBy(decided, DECIDED.network) }
}

function countBy(rows: readonly TallyRow[], label: number): Readonly<Record<string, number>> {
  return Object.fromEntries(listShares(rows, byLabels(label)).map(({ name, requests }) => [name, requests]))
}
