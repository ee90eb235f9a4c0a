import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Clock,
  type CrawlerVerifier,
  createCatalogue,
  createCrawlerVerifier,
  createReverseChecks,
  type Dns,
  type KeptReverseCheck,
  MOST_KEPT,
} from '@sallyport/core'
import { openSqliteReverseChecks, type SqliteReverseChecks } from '@sallyport/stores'
import type { Config } from './config/schema.ts'

/** How long finished checks are gathered before they are written, and how many make a batch. */
const WRITE_AFTER_MS = 5000
const MOST_IN_BATCH = 1000

/** Longest that an answer of the API waits: for the two questions of a check, and for those that were asked before. */
const PATIENCE_MS = 1200

export interface OpenCrawlers {
  readonly verifier: CrawlerVerifier
  /** Writes what was not written yet and gives the file back. */
  close(): void
}

export interface CrawlerPorts {
  readonly clock: Clock
  readonly dns: Dns
  /** Told when the file cannot be used: verification goes on and forgets at a restart. */
  readonly onFault: (error: unknown) => void
}

/** Verification of crawlers, with what was learned before a restart. Never rejects: the file is a cache. */
export async function openCrawlers({ dataDir }: Config, { clock, dns, onFault }: CrawlerPorts): Promise<OpenCrawlers> {
  const store = await opened(join(dataDir, 'crawler-verdicts.db'), onFault)
  let waiting: KeptReverseCheck[] = []
  let timer: NodeJS.Timeout | undefined
  let closed = false

  /** Gathers, so that no request pays for a write and a flood of claims costs one write in some seconds. */
  function keep(check: KeptReverseCheck): void {
    // What could not run stands for a minute: not worth a write. Of a flood the first thousand refutations are kept.
    const worth = check.status === 'passed' || (check.status === 'refuted' && waiting.length < MOST_IN_BATCH)
    if (closed || store === undefined || !worth) return
    waiting.push(check)
    timer ??= setTimeout(write, WRITE_AFTER_MS).unref()
  }

  function write(): void {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    try {
      store?.save(batch, clock.now(), MOST_KEPT)
    } catch (error) {
      onFault(error)
    }
  }

  const reverse = createReverseChecks({ clock, dns, onFinished: keep })
  if (store !== undefined) reverse.remember(store.load(clock.now(), MOST_KEPT).toReversed())
  return {
    verifier: createCrawlerVerifier(createCatalogue(), {
      reverse,
      patience: () => delay(PATIENCE_MS, undefined, { ref: false }),
    }),
    close() {
      closed = true
      write()
      store?.close()
    },
  }
}

async function opened(path: string, onFault: (error: unknown) => void): Promise<SqliteReverseChecks | undefined> {
  try {
    return await openSqliteReverseChecks(path)
  } catch (error) {
    onFault(new Error(`${path} cannot be used, so checks of crawlers are forgotten at a restart`, { cause: error }))
    return undefined
  }
}
