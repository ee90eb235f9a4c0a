import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@sallyport/core'
import { isDue } from '../feeds/age.ts'
import type { FeedOutcome } from '../feeds/update.ts'
import type { Feed } from '../sources/feed-state.ts'
import type { Feeds, Outcomes } from './feeds.ts'
import type { LiveOptions, LiveSnapshots } from './live-snapshots.ts'

/** Counters of feeds; a metrics endpoint is one implementation. */
export interface FeedMetrics extends Pick<LiveOptions, 'onSwap'> {
  /** Called when a feed was fetched, or could not be. */
  readonly onOutcome?: ((source: string, state: FeedOutcome['state']) => void) | undefined
}

export interface RefreshOptions {
  readonly feeds: Feeds
  readonly clock: Clock
  readonly snapshots: LiveSnapshots
  /** False only follows what other processes of the dataDir download. */
  readonly download: boolean
  /** False downloads nothing from elsewhere: only files of the user are looked at. */
  readonly outbound: boolean
  /** Called with the outcomes of a round, or of part of one. */
  readonly onRound: (outcomes: Outcomes) => void
  /** Called after a round in which nothing could be fetched; reported once until one succeeds. */
  readonly onOffline: (reason: string) => void
  readonly onFault: (error: unknown) => void
  /** Returns a number from 0 to 1, of this process. */
  readonly random: () => number
  /** Ends the refresh. */
  readonly signal: AbortSignal
}

interface Pace {
  /** Milliseconds before the first run, and between two runs; a jitter of a tenth changes each. */
  readonly first: number
  readonly pause: number
}

/** How often the disk is polled for another process's changes: one `stat` each time. */
const WATCH_MS = 1_000
/** How often due feeds are looked for. */
const ROUND_MS = 60_000
const FIRST_ROUND_MS = 250

/**
 * Keeps the data of a running service fresh: downloads feeds that are due, each at its own interval with some jitter,
 * and reloads when a generation has changed. Of several processes on one dataDir the holder of the lock downloads; all
 * of them reload. Keeps no process alive. Resolves once `signal` has aborted it and its work has ended.
 */
export async function startRefresh(options: RefreshOptions): Promise<void> {
  const { snapshots, random } = options
  const watching = repeat(snapshots.reloadIfChanged, { first: WATCH_MS, pause: WATCH_MS }, options)
  if (!options.download) return watching
  const first = FIRST_ROUND_MS * (1 + random())
  await Promise.all([watching, repeat(createRounds(options), { first, pause: ROUND_MS }, options)])
}

/** Runs work with pauses until aborted; a fault is reported and does not end it. */
async function repeat(work: () => Promise<void>, { first, pause }: Pace, options: RefreshOptions): Promise<void> {
  const { random, onFault, signal } = options
  for (let wait = first; await pauseFor(wait * (0.9 + 0.2 * random()), signal); wait = pause) {
    try {
      await work()
    } catch (error) {
      // Work that the abort cut short is no fault.
      if (!signal.aborted) onFault(error)
    }
  }
}

/** Returns false when aborted. */
async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(milliseconds, undefined, { signal, ref: false })
    return !signal.aborted
  } catch {
    return false
  }
}

/** One round downloads the due feeds in order of preference, and reloads once the user's own are in. */
function createRounds(options: RefreshOptions): () => Promise<void> {
  const { feeds, clock, random, snapshots, outbound, onOffline, signal } = options
  const jitters = new Map(feeds.all.map((feed) => [feed, random()]))
  let isOffline = false
  // A file is cheap to compare, so it is due in every round.
  const isDueNow = (feed: Feed) =>
    feed.url.startsWith('file:') ||
    (outbound && isDue(feed.row, feeds.state(feed), jitters.get(feed) ?? 0, clock.now()))

  return async () => {
    const outcomes: FeedOutcome[] = []
    for (const published of [false, true]) {
      const due = feeds.all.filter((feed) => feed.published === published && isDueNow(feed))
      if (due.length === 0 || signal.aborted) continue
      const round = await feeds.updateIfFree(due, { signal })
      // Another process holds the lock and its result will be followed, or this one is closing.
      if (round === undefined || signal.aborted) return
      outcomes.push(...round)
      options.onRound(round)
      await snapshots.reload()
    }
    if (outcomes.length === 0) return
    const reason = describeFailures(outcomes)
    if (reason !== undefined && !isOffline) onOffline(reason)
    isOffline = reason !== undefined
  }
}

/** Returns why nothing could be fetched; `undefined` when something could. */
function describeFailures(outcomes: Outcomes): string | undefined {
  const reasons = outcomes.flatMap((outcome) => (outcome.state === 'failed' ? [outcome.reason] : []))
  return reasons.length === outcomes.length ? reasons[0] : undefined
}
