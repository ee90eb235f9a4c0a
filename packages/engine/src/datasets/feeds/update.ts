import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, createPlaces, type Fetch, SallyportError } from '@sallyport/core'
import type { Feed, FeedState, Generation } from '../sources/feed-state.ts'
import type { FeedStore } from '../sources/feed-store.ts'
import { implausible } from './plausible.ts'
import { type Pulled, pull } from './pull.ts'
import type { Verify } from './verify.ts'

/**
 * How asking for a feed ended. `updated`: a new generation is in use. `unchanged`: the publisher has what is in use.
 * `refused`: what it has is not to be used, and the last good generation stays. `failed`: it could not be asked.
 */
export type FeedOutcome =
  | { readonly source: string; readonly state: 'updated'; readonly entries: number }
  | { readonly source: string; readonly state: 'unchanged' }
  | { readonly source: string; readonly state: 'refused' | 'failed'; readonly reason: string }

/** Called while feeds are updated; nothing waits for them. */
export interface UpdateHooks {
  readonly onBytes?: ((source: string, bytes: number, total: number | undefined) => void) | undefined
  readonly onOutcome?: ((outcome: FeedOutcome) => void) | undefined
}

export interface UpdateOptions extends UpdateHooks {
  readonly store: FeedStore
  readonly outbound: Fetch
  readonly clock: Clock
  readonly verify: Verify
  /** Fetches even what did not change, and takes a list whose size jumped; what is broken stays refused. */
  readonly accept?: boolean | undefined
  /** Between tries; default 1,000, doubled for each. */
  readonly retryMs?: number | undefined
  /** Instead of the bound that a source's kind has. */
  readonly timeoutMs?: number | undefined
  /** Ends waiting and asking. */
  readonly signal?: AbortSignal | undefined
}

const CONCURRENCY = 6
/** Tries of a feed in one round, where the server answered and where it did not. */
const TRIES = { answered: 3, silent: 2 } as const
const MAX_RETRY_MS = 30_000

/** If this many feeds got no answer, and none got one, there is no network. */
const OFFLINE_AFTER = 8

/**
 * Asks for feeds, some at once, and takes into use what is new, whole and plausible. A feed that fails in any way keeps
 * its last good generation. Rejects only where the disk fails.
 */
export async function updateFeeds(feeds: readonly Feed[], options: UpdateOptions): Promise<readonly FeedOutcome[]> {
  const places = createPlaces(CONCURRENCY)
  let answered = 0
  let silent = 0
  const isOver = () => options.signal?.aborted === true || (answered === 0 && silent >= OFFLINE_AFTER)
  const update = async (feed: Feed): Promise<FeedOutcome> => {
    const outcome = isOver()
      ? await fail(feed, 'there is no network', options)
      : await updateFeed(feed, options, (isAnswered) => (isAnswered ? answered++ : silent++), isOver)
    options.onOutcome?.(outcome)
    return outcome
  }
  return Promise.all(feeds.map((feed) => places.run(() => update(feed))))
}

async function updateFeed(
  feed: Feed,
  options: UpdateOptions,
  onTried: (isAnswered: boolean) => void,
  isOver: () => boolean,
): Promise<FeedOutcome> {
  const { store, clock, accept = false } = options
  const { id } = feed.row
  const state = store.read(id, feed.url)
  const path = await store.temporary(id)
  try {
    const isComplete = state.current === undefined || store.file(id, feed.url) !== undefined
    const seen = accept || !isComplete ? undefined : state.seen
    const pulled = await pullWithRetries(feed, { ...options, path, seen }, isOver)
    onTried(pulled.state !== 'failed' || pulled.answered)
    if (pulled.state === 'failed') return await fail(feed, pulled.reason, options)
    if (pulled.state === 'unchanged') return await unchanged(feed, state, options)
    if (pulled.id === state.current?.id && isComplete) {
      return await unchanged(feed, { ...state, seen: seenOf(pulled) }, options)
    }
    if (!accept && pulled.id === state.seen?.id && state.seen.refused !== undefined) {
      return await unchanged(feed, { ...state, seen: seenOf(pulled, state.seen.refused) }, options)
    }
    const found = await validate(feed, path, pulled, state, options)
    if ('refused' in found) return await refuse(feed, state, seenOf(pulled, found.refused), options)
    const { error: _, ...rest } = state
    const previous = state.current?.id === found.id ? state.previous : state.current
    const now = clock.now()
    await store.take(id, path, found, {
      ...rest,
      current: found,
      ...(previous === undefined ? {} : { previous }),
      seen: seenOf(pulled),
      checked: now,
      tried: now,
      failures: 0,
    })
    return { source: id, state: 'updated', entries: found.entries }
  } finally {
    await rm(path, { force: true })
  }
}

/** Retries with exponential backoff where the failure may be transient. */
async function pullWithRetries(
  feed: Feed,
  options: UpdateOptions & { readonly path: string; readonly seen: FeedState['seen'] },
  isOver: () => boolean,
): Promise<Pulled> {
  const { path, seen, outbound, clock, onBytes, retryMs = 1_000, timeoutMs, signal } = options
  for (let tries = 1; ; tries++) {
    const pulled = await pull({
      feed,
      path,
      outbound,
      now: clock.now(),
      seen,
      timeoutMs,
      signal,
      onBytes: (bytes, total) => onBytes?.(feed.row.id, bytes, total),
    })
    if (pulled.state !== 'failed' || !pulled.transient || isOver()) return pulled
    if (tries >= (pulled.answered ? TRIES.answered : TRIES.silent)) return pulled
    const wait = pulled.retryAfterMs ?? retryMs * 2 ** (tries - 1)
    if (wait > MAX_RETRY_MS) return pulled
    await delay(wait, undefined, { signal }).catch(() => undefined)
  }
}

/** Reads a download whole and says why it is not to be used, or what it is. */
async function validate(
  { row, published }: Feed,
  path: string,
  { id, size, lastModified }: Extract<Pulled, { state: 'whole' }>,
  { current }: FeedState,
  { verify, clock, accept = false }: UpdateOptions,
): Promise<Generation | { readonly refused: string }> {
  const now = clock.now()
  try {
    const contents = await verify(row, path)
    const { entries } = contents
    const jump = implausible(row, entries, published, accept ? undefined : current)
    if (jump !== undefined) return { refused: jump }
    const made = contents.made ?? Date.parse(lastModified ?? '')
    // A clock that is ahead, or a file that says it is from the future, must not make data look newer than it is.
    const dated = contents.made === undefined ? {} : { dated: true as const }
    return { id, size, entries, made: made <= now ? made : now, taken: now, ...dated }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    // The path is a temporary one and says nothing to the reader.
    return { refused: error.message.replace(`${path}: `, '') }
  }
}

function seenOf({ id, etag, lastModified }: Extract<Pulled, { state: 'whole' }>, refused?: string) {
  return {
    id,
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
    ...(refused === undefined ? {} : { refused }),
  }
}

/** The publisher has what it had: what is in use, or what was refused before. */
async function unchanged(feed: Feed, state: FeedState, options: UpdateOptions): Promise<FeedOutcome> {
  if (state.seen?.refused !== undefined) return refuse(feed, state, state.seen, options)
  const now = options.clock.now()
  const { error: _, ...rest } = state
  await options.store.write(feed.row.id, { ...rest, checked: now, tried: now, failures: 0 })
  return { source: feed.row.id, state: 'unchanged' }
}

async function refuse(
  feed: Feed,
  state: FeedState,
  seen: NonNullable<FeedState['seen']>,
  { store, clock }: UpdateOptions,
): Promise<FeedOutcome> {
  const reason = seen.refused ?? ''
  const { id } = feed.row
  await store.write(id, { ...state, seen, tried: clock.now(), failures: state.failures + 1, error: reason })
  return { source: id, state: 'refused', reason }
}

async function fail({ row, url }: Feed, reason: string, { store, clock, signal }: UpdateOptions): Promise<FeedOutcome> {
  // Giving up is no failure of the publisher's: the next start asks it again.
  if (signal?.aborted) return { source: row.id, state: 'failed', reason: 'given up' }
  const state = store.read(row.id, url)
  await store.write(row.id, { ...state, tried: clock.now(), failures: state.failures + 1, error: reason })
  return { source: row.id, state: 'failed', reason }
}
