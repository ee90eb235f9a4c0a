import { LRUCache } from 'lru-cache'
import { parseAddress } from '../address/address.ts'
import { clientKey, WIDE_FACTOR } from '../counting/keys.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import type { Clock, Snapshots } from '../ports/index.ts'
import type { Decision } from '../values/decision.ts'
import { refuses } from '../vocabulary.ts'

/** Limits requests in a minute while the check of the claimed crawler runs: of one client, and of all. */
const MAX_OF_CLIENT = 5
const MAX_OF_ALL = 500
const WINDOW_MS = 60_000

/** Limits how many requests wait for a check at one time: of one client, and of all. */
const MAX_WAITING_OF_CLIENT = 64
const MAX_WAITING = 1_024

const MAX_KEPT = 16_384

/** A decision about a client whose check is not over has this rule id. */
export const PENDING_RULE = 'pending-crawler'

export type PendingCrawlers = ReturnType<typeof createPendingCrawlers>

export interface PendingCrawlersOptions {
  readonly clock: Clock
  readonly snapshots: Snapshots
  readonly crawlers: CrawlerVerifier
  /** Resolves when a client has waited long enough. */
  readonly patience: () => Promise<unknown>
}

/** Counts the requests of a client, a /48 of clients, or all of them since a time. */
interface Had {
  readonly since: number
  used: number
  /** Absent while the client has not waited yet. */
  wait?: Wait | undefined
}

interface Wait {
  readonly ended: Promise<unknown>
  isOver: boolean
  waiting: number
}

/** Bounds what clients get under the name of a crawler before its check has answered. */
export function createPendingCrawlers({ clock, snapshots, crawlers, patience }: PendingCrawlersOptions) {
  const kept = new LRUCache<string, Had>({ max: MAX_KEPT })
  let all: Had = { since: 0, used: 0 }
  let waiting = 0

  function current(had: Had | undefined, now: number): Had {
    return had !== undefined && had.since <= now && now - had.since < WINDOW_MS ? had : { since: now, used: 0 }
  }

  function hadBy(key: string, now: number): Had {
    const known = kept.get(key)
    const had = current(known, now)
    if (had !== known) kept.set(key, had)
    return had
  }

  /** Waits for the running check, up to `patience`. */
  function wait({ inspection: { client, crawler, network } }: Decision): Wait {
    const address = parseAddress(client.address)
    const claimed = crawlers.catalogue.find(crawler?.slug ?? '')
    const from = address && { address, finding: network, snapshot: snapshots.current() }
    const check = claimed && from ? crawlers.verify(claimed, from) : undefined
    const begun: Wait = { ended: Promise.race([check, patience()]), isOver: false, waiting: 0 }
    void begun.ended.then(() => (begun.isOver = true))
    return begun
  }

  /** Takes one of the few requests, of the client, its /48 and all; the decision tells where none is left. */
  function boundRequests(decision: Decision, now: number): Decision {
    if (!isPending(decision) || (decision.enforced && refuses(decision.action))) return decision
    const { narrow, wide } = clientKey(decision.inspection.client.address)
    all = current(all, now)
    const own = hadBy(narrow, now)
    const around = wide === undefined ? undefined : hadBy(wide, now)
    const isFull = own.used >= MAX_OF_CLIENT || (around?.used ?? 0) >= MAX_OF_CLIENT * WIDE_FACTOR
    if (isFull || all.used >= MAX_OF_ALL) return unready(decision)
    for (const had of [own, around, all]) if (had !== undefined) had.used++
    return decision
  }

  return {
    /**
     * Decides. While the check of the claimed crawler runs, the requests of a client wait together, once and for 300 ms at most, and are
     * decided again; after that a few pass, and the others are `unready`. Monitor mode waits for nothing.
     */
    settle(decide: () => Decision): Decision | Promise<Decision> {
      const first = decide()
      if (!isPending(first)) return first
      const now = clock.now()
      const had = hadBy(clientKey(first.inspection.client.address).narrow, now)
      if (had.wait === undefined && waiting < MAX_WAITING) had.wait = wait(first)
      const begun = had.wait
      if (begun === undefined || begun.isOver || begun.waiting >= MAX_WAITING_OF_CLIENT || waiting >= MAX_WAITING) {
        return boundRequests(first, now)
      }
      begun.waiting++
      waiting++
      return begun.ended.then(() => {
        waiting--
        return boundRequests(decide(), clock.now())
      })
    },
  }
}

/** Reports whether a decision rests on a running check, and takes effect. */
function isPending({ inspection: { agent, crawler }, mode }: Decision): boolean {
  return crawler?.pending === true && agent.identity?.verified !== true && mode !== 'monitor'
}

function unready(decision: Decision): Decision {
  const { counting: _, challenge: __, location: ___, offer: ____, ...rest } = decision
  const text =
    'The check of the claimed crawler has not finished, and the client has used the few requests it may send until then.'
  const reason = Object.freeze({ id: `policy:${PENDING_RULE}`, text })
  const reasons = Object.freeze([reason, ...decision.reasons.slice(1)])
  return Object.freeze({ ...rest, action: 'throttle', enforced: true, unready: true, reasons })
}
