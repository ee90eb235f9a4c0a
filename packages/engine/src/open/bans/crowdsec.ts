import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '@sallyport/core'
import { alertOf, placeOf } from './crowdsec-alert.ts'
import type { CrowdsecApi } from './crowdsec-api.ts'
import type { ExportedBan } from './exported-ban.ts'
import type { Standing } from './standing.ts'

/** Bans that wait while CrowdSec is away; the oldest makes room. */
const MAX_WAITING = 10_000
/** Alerts of one request. */
const BATCH = 100
const PAUSES_MS: readonly number[] = [1_000, 5_000, 15_000, 60_000]

/** Bans as decisions at CrowdSec. */
export interface CrowdsecExport {
  /** A ban was made here. */
  put(ban: ExportedBan): void
  /** These are in force now: those that are not any more before their end were lifted. */
  follow(bans: ReadonlyMap<string, ExportedBan>): void
  /** Waits some seconds for what is being sent. */
  close(): Promise<void>
}

export interface CrowdsecPorts {
  readonly api: CrowdsecApi
  readonly clock: Clock
  readonly standing: Standing
  /** Pauses after failures, the last again and again; default: 1 second to a minute. */
  readonly pausesMs?: readonly number[] | undefined
}

type Task = { readonly what: 'ban' | 'lift'; readonly exported: ExportedBan }

/** The tasks that are sent next: one that lifts, or bans in a row. */
function nextOf(waiting: readonly Task[]): readonly Task[] {
  const lift = waiting.findIndex(({ what }) => what === 'lift')
  const bans = lift === -1 ? waiting.length : lift
  return waiting.slice(0, Math.max(1, Math.min(bans, BATCH)))
}

/**
 * Tells CrowdSec of bans, each once: by the process that made it. One that is lifted is taken back by every process that saw
 * it, which changes nothing the second time.
 */
export function createCrowdsecExport({ api, clock, standing, pausesMs = PAUSES_MS }: CrowdsecPorts): CrowdsecExport {
  const waiting: Task[] = []
  const closing = new AbortController()
  let seen: ReadonlyMap<string, ExportedBan> = new Map()
  /** Bans that were made since: the list that comes next may have been read before. */
  let made = new Map<string, ExportedBan>()
  let working: Promise<void> | undefined

  async function send(tasks: readonly Task[]): Promise<void> {
    const now = clock.now()
    const [first] = tasks
    const inForce = tasks.filter(({ exported }) => exported.ban.until > now)
    if (first === undefined || inForce.length === 0) return remove(tasks)
    const asked =
      first.what === 'lift'
        ? await api.ask({
            method: 'DELETE',
            path: `/v1/decisions?${new URLSearchParams({ ...placeOf(first.exported), type: 'ban' })}`,
          })
        : await api.ask({ path: '/v1/alerts', body: inForce.map(({ exported }) => alertOf(exported, now)) })
    if (closing.signal.aborted) return
    if (asked.state === 'done') standing.sent(inForce.length)
    else standing.failed(inForce.length, asked.reason)
    if (asked.state === 'failed' && asked.again) throw new Error(asked.reason)
    remove(tasks)
  }

  /** Some may have made room meanwhile. */
  function remove(tasks: readonly Task[]): void {
    const done = new Set(tasks)
    waiting.splice(0, waiting.length, ...waiting.filter((task) => !done.has(task)))
  }

  async function work(): Promise<void> {
    const { signal } = closing
    for (let failures = 0; waiting.length > 0 && !signal.aborted; ) {
      try {
        await send(nextOf(waiting))
        failures = 0
      } catch {
        const pause = pausesMs[Math.min(failures++, pausesMs.length - 1)] as number
        await delay(pause, undefined, { signal, ref: false }).catch(() => {})
      }
    }
    working = undefined
  }

  function add(task: Task): void {
    if (closing.signal.aborted) return
    waiting.push(task)
    if (waiting.length > MAX_WAITING) {
      waiting.shift()
      standing.dropped(1)
    }
    working ??= work()
  }

  return {
    put(exported) {
      made.set(exported.target, exported)
      add({ what: 'ban', exported })
    },
    follow(bans) {
      const now = clock.now()
      for (const [target, exported] of seen) {
        if (!bans.has(target) && exported.ban.until > now) add({ what: 'lift', exported })
      }
      seen = new Map([...bans, ...made])
      made = new Map()
    },
    async close() {
      closing.abort()
      const late = new AbortController()
      await Promise.race([working, delay(CLOSE_MS, undefined, { signal: late.signal, ref: false }).catch(() => {})])
      late.abort()
    },
  }
}

const CLOSE_MS = 3_000
