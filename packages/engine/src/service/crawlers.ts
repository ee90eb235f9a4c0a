import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Clock,
  createCatalogue,
  createCrawlerVerifier,
  createPendingCrawlers,
  createReverseChecks,
  type Dns,
  type KeptReverseCheck,
  MAX_REVERSE_CHECKS,
  type NameTurns,
  type Snapshots,
} from '@sallyport/core'
import type { Settings } from '#settings'
import { openSqliteReverseChecks, type SqliteReverseChecks } from '#stores/service'

/** Finished checks are written in batches. */
const WRITE_AFTER_MS = 5000
const MAX_BATCH = 1000

/** How long the requests of a client wait for the check of the crawler that it claims to be. */
const PENDING_MS = 300

/** The API does not wait longer for DNS: for the two questions of a check and for the questions queued before them. */
const PATIENCE_MS = 1200

export interface CrawlerPorts {
  readonly clock: Clock
  readonly dns: Dns
  /** Every other lookup of names takes these turns too. */
  readonly turns: NameTurns
  readonly snapshots: Snapshots
  /** Called if the file cannot be used: verification continues without persistence. */
  readonly onFault: (error: unknown) => void
}

/** Opens crawler verification with a cache that survives restarts. Never rejects: without the file the cache starts empty. */
export async function openCrawlers(
  { dataDir, data }: Settings,
  { clock, dns, turns, snapshots, onFault }: CrawlerPorts,
) {
  const { store, checks } = data.readOnly ? EMPTY : await opened(join(dataDir, FILE), { clock, onFault })
  let waiting: KeptReverseCheck[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  /** Collects checks in batches, so that a flood of claims costs one write every few seconds. */
  function keep(check: KeptReverseCheck): void {
    // A check that could not run is valid for a minute only; refutations are capped, because a flood makes them.
    const isKept = check.status === 'passed' || (check.status === 'refuted' && waiting.length < MAX_BATCH)
    if (closed || store === undefined || !isKept) return
    waiting.push(check)
    timer ??= setTimeout(write, WRITE_AFTER_MS).unref()
  }

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    try {
      store?.save(batch, clock.now(), MAX_REVERSE_CHECKS)
    } catch (error) {
      onFault(error)
    }
  }

  const reverse = createReverseChecks({ clock, dns, turns, onFinished: keep })
  reverse.remember(checks)
  const waitFor = (ms: number) => () => delay(ms, undefined, { ref: false })
  const verifier = createCrawlerVerifier(createCatalogue(), { reverse, patience: waitFor(PATIENCE_MS) })
  const pending = { clock, snapshots, crawlers: verifier, patience: waitFor(PENDING_MS) }
  return {
    verifier,
    settle: createPendingCrawlers(pending).settle,
    /** Writes the last batch and closes the file. */
    close(): void {
      closed = true
      write()
      store?.close()
    },
  }
}

interface Kept {
  readonly store: SqliteReverseChecks | undefined
  readonly checks: readonly KeptReverseCheck[]
}

const FILE = 'crawler-verdicts.db'
const EMPTY: Kept = { store: undefined, checks: [] }

async function opened(path: string, { clock, onFault }: Pick<CrawlerPorts, 'clock' | 'onFault'>): Promise<Kept> {
  let store: SqliteReverseChecks | undefined
  try {
    store = await openSqliteReverseChecks(path)
    return { store, checks: store.load(clock.now(), MAX_REVERSE_CHECKS).toReversed() }
  } catch (error) {
    store?.close()
    onFault(new Error(`${path} cannot be used, so crawler checks are lost at a restart`, { cause: error }))
    return EMPTY
  }
}
