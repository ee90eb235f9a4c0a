import type { Clock } from '@sallyport/core'
import type { ExportedBan } from './exported-ban.ts'
import { sendToHelper } from './helper-lines.ts'
import type { Standing } from './standing.ts'

/** Longest time that an element stays in the set without being renewed (D574). */
export const LEASE_MS = 600_000
/** Lines that one nft does. */
const BATCH = 500
/** Pauses after failures, the last of them again and again. */
const PAUSES_MS: readonly number[] = [1_000, 2_000, 5_000, 15_000]

/** An element as it was last sent. */
interface Held {
  readonly until: number
  readonly renewAt: number
}

/** Keeps a set of the firewall equal to the bans. */
export interface NftablesExport {
  /** Sends what differs from these, and what is due; does nothing while that is under way or a pause lasts. */
  follow(bans: ReadonlyMap<string, ExportedBan>): Promise<void>
  close(): void
}

/**
 * Keeps the set behind a helper's socket equal to the bans. It cannot be read, so each element has a short time and is sent
 * again: what a restart, a reload of the firewall or a ban lifted meanwhile left there is right again within the lease.
 */
export function createNftablesExport(path: string, { now }: Clock, standing: Standing): NftablesExport {
  const held = new Map<string, Held>()
  const closing = new AbortController()
  let busy = false
  let failures = 0
  let notBefore = 0

  function changesFor(bans: ReadonlyMap<string, ExportedBan>, time: number): readonly Change[] {
    const changes: Change[] = []
    for (const [target, { ban }] of bans) {
      const before = held.get(target)
      if (before?.until === ban.until && time < before.renewAt) continue
      const seconds = Math.max(1, Math.ceil(Math.min(ban.until - time, LEASE_MS) / 1_000))
      changes.push({
        target,
        line: `add ${target} ${seconds}`,
        held: { until: ban.until, renewAt: time + LEASE_MS / 2 },
      })
    }
    for (const [target, { until }] of held) {
      if (bans.has(target)) continue
      if (until > time) changes.push({ target, line: `del ${target}` })
      else held.delete(target)
    }
    return changes
  }

  async function send(changes: readonly Change[]): Promise<void> {
    for (let from = 0; from < changes.length; from += BATCH) {
      const batch = changes.slice(from, from + BATCH)
      await sendToHelper(
        path,
        batch.map(({ line }) => line),
        closing.signal,
      )
      for (const { target, held: next } of batch) {
        if (next === undefined) held.delete(target)
        else held.set(target, next)
      }
      standing.sent(batch.length)
    }
  }

  return {
    async follow(bans) {
      const time = now()
      if (busy || time < notBefore) return
      const changes = changesFor(bans, time)
      if (changes.length === 0) return
      busy = true
      try {
        await send(changes)
        failures = 0
      } catch (error) {
        if (closing.signal.aborted) return
        notBefore = now() + (PAUSES_MS[Math.min(failures++, PAUSES_MS.length - 1)] as number)
        // Nobody knows what the set holds now: all of it is sent once the helper is back.
        for (const [target, { until }] of held) held.set(target, { until, renewAt: 0 })
        standing.failed(Math.min(changes.length, BATCH), error instanceof Error ? error.message : String(error))
      } finally {
        busy = false
      }
    },
    close: () => closing.abort(),
  }
}

interface Change {
  readonly target: string
  readonly line: string
  /** Absent: it is taken out. */
  readonly held?: Held | undefined
}
