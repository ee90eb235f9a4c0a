import { LRUCache } from 'lru-cache'
import { type Address, formatAddress } from '../address/address.ts'
import { DAY_MS } from '../duration.ts'
import { createNameTurns, type NameTurns, nameClient } from '../name-turns.ts'
import { createPlaces } from '../places.ts'
import type { Clock, Dns, KeptReverseCheck } from '../ports/index.ts'
import type { NamePattern } from './name-pattern.ts'
import { checkReverseDns, type ReverseFinding } from './reverse-dns.ts'

/** An answer is cached for this time: a name confirmed, a name refuted, no answer. */
export const TTL_MS = { passed: DAY_MS, refuted: 10 * 60_000, 'could-not-run': 60_000 } as const

/** Limits the checks that run, that wait, and that are cached. */
export const MAX_CONCURRENT = 50
export const MAX_QUEUED = 1000
export const MAX_REVERSE_CHECKS = 50_000

/** Limits the background checks that start in a second: a flood of claims must not slow other requests. */
export const MAX_STARTED_PER_SECOND = 200

export type ReverseChecks = ReturnType<typeof createReverseChecks>

export interface ReverseChecksOptions {
  readonly clock: Clock
  readonly dns: Dns
  /** Other lookups of names may share these turns; default its own. */
  readonly turns?: NameTurns | undefined
  /** Called with every finished check. Must not throw. */
  readonly onFinished?: ((check: KeptReverseCheck) => void) | undefined
}

/** Caches reverse-DNS checks by the address and the patterns of names, so that crawlers of one operator share them. */
export function createReverseChecks({ clock, dns, turns = createNameTurns(), onFinished }: ReverseChecksOptions) {
  // The cache allocates the memory for all of its entries at once, so only the first entry creates it.
  let kept: LRUCache<string, KeptReverseCheck> | undefined
  const underWay = new Map<string, Promise<ReverseFinding | undefined>>()
  const places = createPlaces(MAX_CONCURRENT)
  const mayBegin = createStartBound(clock)

  function keep(check: KeptReverseCheck): void {
    kept ??= new LRUCache({ max: MAX_REVERSE_CHECKS })
    kept.set(check.key, check)
  }

  function findCached(key: string): KeptReverseCheck | undefined {
    const found = kept?.get(key)
    if (found === undefined || found.until > clock.now()) return found
    kept?.delete(key)
    return undefined
  }

  async function run(key: string, address: Address, patterns: readonly NamePattern[]): Promise<ReverseFinding> {
    const finding = await places.run(() => checkReverseDns(dns, address, patterns))
    const check = { key, ...finding, until: clock.now() + TTL_MS[finding.status] }
    keep(check)
    onFinished?.(check)
    return check
  }

  /** Keeps a check in `underWay` until it has ended. */
  function trackCheck<T extends ReverseFinding | undefined>(key: string, asking: Promise<T>): Promise<T> {
    const ending = asking.finally(() => underWay.delete(key))
    underWay.set(key, ending)
    return ending
  }

  /**
   * Asks DNS; concurrent checks of one key are one. `asker` is the requesting client; default the client at the address. Never rejects;
   * `undefined` where the queue is full, or too many checks of the client wait.
   */
  function ask(
    address: Address,
    patterns: readonly NamePattern[],
    asker = nameClient(address),
  ): Promise<ReverseFinding | undefined> | undefined {
    const key = checkKey(address, patterns)
    const same = underWay.get(key)
    if (same !== undefined || places.waiting >= MAX_QUEUED) return same
    return trackCheck(
      key,
      // A check that finds too many waiting could not run.
      turns.run(asker, () => run(key, address, patterns)).catch(() => undefined),
    )
  }

  return {
    /** Returns the cached answer, if there is one. */
    known: (address: Address, patterns: readonly NamePattern[]): ReverseFinding | undefined =>
      findCached(checkKey(address, patterns)),
    ask,
    /** Asks DNS in the background, for the cache; false where too many checks run already, in all or for this client. */
    start(address: Address, patterns: readonly NamePattern[]): boolean {
      const key = checkKey(address, patterns)
      if (underWay.has(key)) return true
      const done = turns.take(nameClient(address))
      if (done === undefined) return false
      if (!mayBegin() || places.waiting >= MAX_QUEUED) {
        done()
        return false
      }
      // The promise never rejects, so nothing is left floating.
      void trackCheck(key, run(key, address, patterns).finally(done))
      return true
    },
    /** Fills the cache with the checks that were kept before a restart; skips expired ones. */
    remember(checks: readonly KeptReverseCheck[]): void {
      const now = clock.now()
      for (const check of checks) if (check.until > now) keep(check)
    },
  }
}

function createStartBound(clock: Clock): () => boolean {
  let second = 0
  let begun = 0
  return () => {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) begun = 0
    second = now
    begun++
    return begun <= MAX_STARTED_PER_SECOND
  }
}

function checkKey(address: Address, patterns: readonly NamePattern[]): string {
  let key = formatAddress(address)
  for (const { text } of patterns) key += ` ${text}`
  return key
}
