import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type Clock, createPlaces, SallyportError } from '@sallyport/core'
import type { Feed, FeedState, Generation, SeenAnswer } from '../sources/feed-state.ts'
import type { FeedStore } from '../sources/feed-store.ts'
import { implausible } from './plausible.ts'
import { type Pulled, type PullOptions, pull, type Whole } from './pull.ts'
import type { Verify } from './verify.ts'

/**
 * The outcome of an update. `updated`: a new generation is in use. `unchanged`: the publisher has what is in use. `refused`: the download
 * is not to be used, and the last good generation stays. `failed`: the feed could not be fetched.
 */
export type FeedOutcome =
  | { readonly source: string; readonly state: 'updated'; readonly entries: number }
  | { readonly source: string; readonly state: 'unchanged' }
  | { readonly source: string; readonly state: 'refused' | 'failed'; readonly reason: string }

/** Called while feeds are updated; nothing waits for them. */
export interface UpdateHooks extends Pick<PullOptions, 'onBytes'> {
  readonly onOutcome?: ((outcome: FeedOutcome) => void) | undefined
}

export interface UpdateOptions extends UpdateHooks, Omit<PullOptions, 'path' | 'seen'> {
  readonly store: FeedStore
  readonly verify: Verify
  /** Fetches even unchanged feeds, and accepts a list whose size jumped. A broken list stays refused. */
  readonly accept?: boolean | undefined
  /** The wait before the first retry, 1,000 by default. Each retry doubles it. */
  readonly retryMs?: number | undefined
}

const CONCURRENCY = 6
/** Tries of a feed in one round, where the server answered and where it did not. */
const TRIES = { answered: 3, silent: 2 } as const
const MAX_RETRY_MS = 30_000

/** If so many feeds got no response, and no feed got one, there is no network. */
const OFFLINE_AFTER = 8

/**
 * Requests feeds, several at once, and takes new, complete and plausible downloads into use. A feed that fails in any way keeps its last
 * good generation. Rejects only when the disk fails.
 */
export async function updateFeeds(feeds: readonly Feed[], options: UpdateOptions): Promise<readonly FeedOutcome[]> {
  const places = createPlaces(CONCURRENCY)
  let answered = 0
  let silent = 0
  const isOver = () => options.signal?.aborted === true || (answered === 0 && silent >= OFFLINE_AFTER)
  const update = async (feed: Feed): Promise<FeedOutcome> => {
    const outcome = isOver()
      ? await fail(feed, 'the network is unavailable', options)
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
    if (pulled.state === 'unchanged') return await recordUnchanged(feed, state, options)
    if (pulled.id === state.current?.id && isComplete) {
      return await recordUnchanged(feed, { ...state, seen: describeSeen(pulled) }, options)
    }
    if (!accept && pulled.id === state.seen?.id && state.seen.refused !== undefined) {
      return await recordUnchanged(feed, { ...state, seen: describeSeen(pulled, state.seen.refused) }, options)
    }
    const found = await validate(feed, path, pulled, state, options)
    if ('refused' in found) return await refuse(feed, state, describeSeen(pulled, found.refused), options)
    const previous = state.current?.id === found.id ? state.previous : state.current
    const taken = { ...state, current: found, previous, seen: describeSeen(pulled) }
    await store.take(id, path, found, confirm(taken, clock))
    return { source: id, state: 'updated', entries: found.entries }
  } finally {
    await rm(path, { force: true })
  }
}

/** Retries with exponential backoff where the failure may be transient. */
async function pullWithRetries(
  feed: Feed,
  options: UpdateOptions & PullOptions,
  isOver: () => boolean,
): Promise<Pulled> {
  const { retryMs = 1_000, signal } = options
  for (let tries = 1; ; tries++) {
    const pulled = await pull(feed, options)
    if (pulled.state !== 'failed' || !pulled.transient || isOver()) return pulled
    if (tries >= (pulled.answered ? TRIES.answered : TRIES.silent)) return pulled
    const wait = pulled.retryAfterMs ?? retryMs * 2 ** (tries - 1)
    if (wait > MAX_RETRY_MS) return pulled
    await delay(wait, undefined, { signal }).catch(() => undefined)
  }
}

/** Reads a whole download, and returns its generation or why it is refused. */
async function validate(
  feed: Feed,
  path: string,
  { id, size, lastModified }: Whole,
  { current }: FeedState,
  options: UpdateOptions,
): Promise<Generation | { readonly refused: string }> {
  const { row, published } = feed
  const { verify, clock, accept = false } = options
  const now = clock.now()
  try {
    const contents = await verify(row, path)
    const { entries } = contents
    const before = accept ? undefined : current
    let jump = implausible(row, entries, published, before)
    if (jump !== undefined && before !== undefined) {
      jump = implausible(row, entries, published, await recount(feed, before, options))
    }
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

/** Counts the entries of the generation in use as this version does: another one may have counted repeated ones too. */
async function recount({ row, url }: Feed, current: Generation, { store, verify }: UpdateOptions): Promise<Generation> {
  const file = store.file(row.id, url)
  const contents = file && (await verify(row, file.path).catch(() => undefined))
  return contents === undefined ? current : { ...current, entries: contents.entries }
}

function describeSeen({ id, etag, lastModified }: Whole, refused?: string): SeenAnswer {
  return { id, etag, lastModified, refused }
}

/** Handles an unchanged response: the publisher still has the generation in use, or the download that was refused before. */
async function recordUnchanged(feed: Feed, state: FeedState, options: UpdateOptions): Promise<FeedOutcome> {
  if (state.seen?.refused !== undefined) return refuse(feed, state, state.seen, options)
  await options.store.write(feed.row.id, confirm(state, options.clock))
  return { source: feed.row.id, state: 'unchanged' }
}

async function refuse(
  { row }: Feed,
  state: FeedState,
  seen: SeenAnswer,
  { store, clock }: UpdateOptions,
): Promise<FeedOutcome> {
  const reason = seen.refused ?? ''
  await store.write(row.id, { ...countFailure(state, clock), seen, error: reason })
  return { source: row.id, state: 'refused', reason }
}

async function fail({ row, url }: Feed, reason: string, { store, clock, signal }: UpdateOptions): Promise<FeedOutcome> {
  // An abort is no failure of the publisher: the next start requests the feed again.
  if (signal?.aborted) return { source: row.id, state: 'failed', reason: 'given up' }
  const state = store.read(row.id, url)
  await store.write(row.id, { ...countFailure(state, clock), error: reason })
  return { source: row.id, state: 'failed', reason }
}

function confirm(state: FeedState, clock: Clock): FeedState {
  const now = clock.now()
  return { ...state, checked: now, tried: now, failures: 0, error: undefined }
}

function countFailure(state: FeedState, clock: Clock): FeedState {
  const now = clock.now()
  return { ...state, first: state.first ?? now, tried: now, failures: state.failures + 1 }
}
