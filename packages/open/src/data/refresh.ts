import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@sallyport/core'
import { type Feed, type FeedOutcome, isDue } from '@sallyport/datasets'
import type { Feeds, Outcomes } from './feeds.ts'
import type { LiveSnapshots } from './live-snapshots.ts'

/** Counts what happens to feeds; a metrics endpoint is one implementation. */
export interface FeedMetrics {
  /** A feed was asked for. */
  readonly onOutcome?: (source: string, state: FeedOutcome['state']) => void
  /** Another snapshot answers; it took so long to make. */
  readonly onSwap?: (milliseconds: number) => void
}

export interface RefreshOptions {
  readonly feeds: Feeds
  readonly clock: Clock
  readonly snapshots: LiveSnapshots
  /** True downloads; false only follows what other processes of the dataDir take into use. */
  readonly download: boolean
  /** How the feeds of a round, or of a part of it, came out. */
  readonly onRound: (outcomes: Outcomes) => void
  /** A round in which nothing could be fetched, told once until one succeeds. */
  readonly onOffline: (reason: string) => void
  readonly onFault: (error: unknown) => void
  /** 0 to 1, of this process. */
  readonly random: () => number
  /** Ends it. */
  readonly signal: AbortSignal
}

/** How often the disk is looked at for what another process took into use: one `stat` each time. */
const WATCH_MS = 1_000
/** How often it is looked which feeds are due. */
const ROUND_MS = 60_000
const FIRST_ROUND_MS = 250

/**
 * Keeps the data of a running service fresh: asks for feeds that are due, each at its own interval with some jitter,
 * and reloads when a generation has changed. Of several processes on one dataDir the one that has the lock downloads;
 * all of them follow. Keeps no process alive by itself. Resolves once `signal` has ended it and nothing is at work.
 */
export async function startRefresh(options: RefreshOptions): Promise<void> {
  const { snapshots, onFault, signal } = options
  const loops = [
    repeat(WATCH_MS, WATCH_MS, snapshots.follow),
    ...(options.download ? [repeat(FIRST_ROUND_MS * (1 + options.random()), ROUND_MS, createRounds(options))] : []),
  ]

  /** One after the other with a pause, until closed; a fault is told and does not end it. */
  async function repeat(first: number, pause: number, work: () => Promise<void>): Promise<void> {
    for (let wait = first; await pauseFor(wait * (0.9 + 0.2 * options.random()), signal); wait = pause) {
      try {
        await work()
      } catch (error) {
        // What was at work when it ended was cut short.
        if (!signal.aborted) onFault(error)
      }
    }
  }

  await Promise.all(loops)
}

/** A round: the feeds that are due, in the order of preference, reloading as soon as the user's own are in. */
function createRounds(options: RefreshOptions): () => Promise<void> {
  const { feeds, clock, random, snapshots, onOffline, signal } = options
  const jitters = new Map(feeds.all.map((feed) => [feed, random()]))
  let isOffline = false
  // Looking whether a file has changed costs nothing.
  const isAsked = (feed: Feed) =>
    feed.url.startsWith('file:') || isDue(feed.row, feeds.state(feed), jitters.get(feed) ?? 0, clock.now())

  return async () => {
    const outcomes: FeedOutcome[] = []
    for (const published of [false, true]) {
      const due = feeds.all.filter((feed) => feed.published === published && isAsked(feed))
      if (due.length === 0 || signal.aborted) continue
      const round = await feeds.updateIfFree(due, { signal })
      // Another process is at it, and what it takes into use will be seen; or this one is closing.
      if (round === undefined || signal.aborted) return
      outcomes.push(...round)
      options.onRound(round)
      await snapshots.reload()
    }
    if (outcomes.length === 0) return
    const reason = failureOf(outcomes)
    if (reason !== undefined && !isOffline) onOffline(reason)
    isOffline = reason !== undefined
  }
}

/** Why nothing at all could be fetched; `undefined` where something could. */
function failureOf(outcomes: Outcomes): string | undefined {
  const reasons = outcomes.flatMap((outcome) => (outcome.state === 'failed' ? [outcome.reason] : []))
  return reasons.length === outcomes.length ? reasons[0] : undefined
}

/** False when it was aborted meanwhile. */
async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(milliseconds, undefined, { signal, ref: false })
    return !signal.aborted
  } catch {
    return false
  }
}
