import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import { type BundleFolder, openBundleFolder, publicKeyOf, type SignedManifest } from '../published/folder.ts'
import { openPollStates, type PollState } from '../published/poll-state.ts'
import { missingFiles, type Pulled, type PullOptions, pullBundle } from '../published/pull.ts'
import { type DataConfig, type FeedPorts, requireCheckedTls } from './feeds.ts'

/** Source id of all that a publisher sends. */
export const PUBLISHED = 'published'

/** A publisher that is asked, and the copy of what it publishes in this dataDir, which all processes on it share. */
export interface Published {
  readonly host: string
  readonly folder: BundleFolder
  /** The manifest in use; `undefined` where nothing was fetched yet, or not under this key. */
  held(): SignedManifest | undefined
  /** Whether all that its manifest names is there. */
  isWhole(): boolean
  state(): PollState
  /** Asks the publisher now, or once another process that does so has ended. */
  pull(request?: PullRequest): Promise<PublishedOutcome>
  /** Asks where that is due and no other process does it; `undefined` where none of that holds. */
  pullIfDue(jitter: number, request?: PullRequest): Promise<PublishedOutcome | undefined>
  /** Changes whenever any process has learnt something of the publisher. */
  revision(): string
}

export type PullRequest = Pick<PullOptions, 'signal' | 'onBytes'>

export interface PublishedOutcome {
  readonly pulled: Pulled
  /** All that was known before. */
  readonly before: PollState
}

/** A publish is followed within twice that; a conditional question costs both sides next to nothing. */
const POLL_MS = 30_000
const MAX_WAIT_MS = 120_000

/** Throws `invalid_config` for a key that is none, and where TLS certificates would not be checked. */
export function openPublished(config: DataConfig, { clock, outbound, lock }: FeedPorts): Published {
  const { from = '', city } = config.data
  const key = publicKeyIn(config)
  if (config.data.refresh) requireCheckedTls()
  const root = join(config.dataDir, 'published')
  const path = join(config.dataDir, 'published.lock')
  const folder = openBundleFolder(root)
  const states = openPollStates(root)

  async function pull(request: PullRequest): Promise<PublishedOutcome> {
    requireCheckedTls()
    const before = states.read()
    const { etag } = before
    const pulled = await pullBundle({ ...request, from, key, folder, city, etag, outbound, clock })
    // Giving up is no failure of the publisher's: the next start asks it again.
    if (request.signal?.aborted !== true) states.write(stateAfter(before, pulled, clock.now()))
    return { pulled, before }
  }

  function isDue(jitter: number): boolean {
    const { tried, failures } = states.read()
    const wait = Math.min(POLL_MS * 2 ** Math.max(0, failures - 1), MAX_WAIT_MS) * (0.9 + 0.2 * jitter)
    const now = clock.now()
    return tried === undefined || tried > now || now - tried >= wait
  }

  return {
    host: new URL(from).host,
    folder,
    held: () => folder.held(key),
    isWhole() {
      const held = folder.held(key)
      return held !== undefined && missingFiles({ folder, city }, held.manifest).length === 0
    },
    state: states.read,
    pull: (request = {}) => lock.withLock(path, () => pull(request), { signal: request.signal }),
    async pullIfDue(jitter, request = {}) {
      if (!isDue(jitter)) return undefined
      return lock.withFreeLock(path, async () => (isDue(jitter) ? pull(request) : undefined))
    },
    revision: () => `${folder.revision()} ${states.revision()}`,
  }
}

function publicKeyIn({ data: { fromKey = '' } }: DataConfig): KeyObject {
  const key = publicKeyOf(fromKey)
  if (key !== undefined) return key
  throw new SallyportError('invalid_config', 'data.fromKey: it is not a public key of sallyport data publish')
}

function stateAfter(before: PollState, pulled: Pulled, now: number): PollState {
  switch (pulled.state) {
    case 'updated':
      return { etag: pulled.etag, checked: now, tried: now, failures: 0 }
    case 'unchanged':
      return { etag: before.etag, checked: now, tried: now, failures: 0 }
    default: {
      const { state, reason } = pulled
      const failures = before.failures + 1
      return { ...before, tried: now, failures, error: reason, refused: state === 'refused' }
    }
  }
}
