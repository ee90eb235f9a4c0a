/** Outcomes of what is exported: `dropped` was never tried to its end. */
export type ExportOutcome = 'sent' | 'failed' | 'dropped'

/** A place that bans are exported to. */
export type ExportPlace = 'nftables' | 'crowdsec'

export interface StandingHooks {
  /** One line for who reads the terminal. */
  readonly notice: (message: string) => void
  /** The same for the log. */
  readonly audit: (what: 'ban export lost' | 'ban export back', details: Readonly<Record<string, string>>) => void
  readonly count: (place: ExportPlace, outcome: ExportOutcome, by: number) => void
}

/** Whether a place is reached: the beginning and the end of an outage are said once. */
export interface Standing {
  sent(count: number): void
  /** So many were not taken, for a reason without a secret; they are tried again unless `dropped`. */
  failed(count: number, reason: string): void
  dropped(count: number): void
}

export function createStanding(place: ExportPlace, { notice, audit, count }: StandingHooks): Standing {
  let isAway = false
  return {
    sent(by) {
      count(place, 'sent', by)
      if (!isAway) return
      isAway = false
      notice(`bans.export.${place}: it is reached again`)
      audit('ban export back', { place })
    },
    failed(by, reason) {
      count(place, 'failed', by)
      if (isAway) return
      isAway = true
      notice(`bans.export.${place}: bans hold here alone: ${reason}`)
      audit('ban export lost', { place, reason })
    },
    dropped(by) {
      count(place, 'dropped', by)
    },
  }
}
