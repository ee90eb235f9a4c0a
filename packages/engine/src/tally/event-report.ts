import { groupRows, listShares, pickRows, readLabel, type Share, sumCounts } from './sums.ts'
import type { TallyRow } from './tally-file.ts'

/** Counts events of one kind. Questions without an outcome count only in what was done about them. */
export interface EventReading {
  readonly event: string
  readonly successes: number
  readonly failures: number
  /** Counts failures of identifiers that no user has. */
  readonly unknownUsers: number
  readonly challenged: number
  /** Counts events that were blocked or throttled. */
  readonly refused: number
  /** Counts events that monitor mode or a rule on trial would have stopped. */
  readonly would: number
}

/** Counts events of accounts, and the reasons why some were not allowed. No account is named. */
export interface AccountsReading {
  readonly events: readonly EventReading[]
  readonly reasons: readonly Share[]
}

/** Labels of `event`, in their order. */
const AT = { event: 0, outcome: 1, action: 2, effect: 3 } as const
const MAX_REASONS = 20

export function reportEvents(rows: readonly TallyRow[]): AccountsReading {
  const events = [...groupRows(pickRows(rows, 'event'), (row) => readLabel(row, AT.event))].map(([event, group]) => {
    const sumWith = (at: number, label: string) => sumCounts(group.filter((row) => readLabel(row, at) === label))
    const stopped = group.filter((row) => readLabel(row, AT.effect) === 'stopped')
    const challenged = sumCounts(stopped.filter((row) => readLabel(row, AT.action) === 'challenge'))
    const unknownUsers = sumWith(AT.outcome, 'unknown_user')
    return {
      event,
      successes: sumWith(AT.outcome, 'success'),
      failures: sumWith(AT.outcome, 'failure') + unknownUsers,
      unknownUsers,
      challenged,
      refused: sumCounts(stopped) - challenged,
      would: sumWith(AT.effect, 'would'),
    }
  })
  return { events, reasons: listShares(pickRows(rows, 'eventReason'), (row) => readLabel(row, 0), MAX_REASONS) }
}
