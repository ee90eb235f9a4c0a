import { byLabels, groupRows, listShares, pickRows, readLabel, type Share, sumCounts, sumWith } from './sums.ts'
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
  const events = [...groupRows(pickRows(rows, 'event'), byLabels(AT.event))].map(([event, group]) => {
    const stopped = group.filter((row) => readLabel(row, AT.effect) === 'stopped')
    const challenged = sumWith(stopped, AT.action, 'challenge')
    const unknownUsers = sumWith(group, AT.outcome, 'unknown_user')
    return {
      event,
      successes: sumWith(group, AT.outcome, 'success'),
      failures: sumWith(group, AT.outcome, 'failure') + unknownUsers,
      unknownUsers,
      challenged,
      refused: sumCounts(stopped) - challenged,
      would: sumWith(group, AT.effect, 'would'),
    }
  })
  return { events, reasons: listShares(pickRows(rows, 'eventReason'), byLabels(0), MAX_REASONS) }
}
