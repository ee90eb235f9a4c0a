import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { type Address, formatAddress } from '../address/address.ts'
import type { Clock, Dns, KeptReverseCheck } from '../ports.ts'
import type { NamePattern } from './name-pattern.ts'
import { checkReverseDns, type ReverseFinding } from './reverse-dns.ts'

/** How long an answer stands, in milliseconds: a name confirmed, a name refused, no answer at all. */
export const STANDS_FOR = { passed: 24 * 3_600_000, refuted: 10 * 60_000, 'could-not-run': 60_000 } as const

/** Checks that ask DNS at one time, those that wait behind them, and those that are remembered. */
export const MOST_AT_ONCE = 50
export const MOST_WAITING = 1000
export const MOST_KEPT = 50_000

/** Questions begun in a second for requests that do not wait: a flood of claims must not slow those who claim nothing. */
export const MOST_BEHIND = 200

/**
 * Reverse-DNS checks, remembered. The key is all that an answer depends on, the address and the names it is held
 * against, so crawlers of one operator share it and no other input can reach it.
 */
export interface ReverseChecks {
  /** What is remembered; `undefined` where nothing is, or no longer. */
  known(address: Address, patterns: readonly NamePattern[]): ReverseFinding | undefined
  /** Asks; one question for all who ask the same at one time. Never rejects; `undefined` where too many wait already. */
  ask(address: Address, patterns: readonly NamePattern[]): Promise<ReverseFinding> | undefined
  /** Asks where nobody waits for the answer, which is remembered; false where too much is being asked already. */
  askBehind(address: Address, patterns: readonly NamePattern[]): boolean
  /** Takes up what was kept before a restart; what no longer stands is passed over. */
  remember(kept: readonly KeptReverseCheck[]): void
}

export interface ReverseChecksOptions {
  readonly clock: Clock
  readonly dns: Dns
  /** Told of every finished check. Must not throw. */
  readonly onFinished?: (check: KeptReverseCheck) => void
}

export function createReverseChecks({ clock, dns, onFinished }: ReverseChecksOptions): ReverseChecks {
  const kept = new LRUCache<string, KeptReverseCheck>({ max: MOST_KEPT })
  const underWay = new Map<string, Promise<ReverseFinding>>()
  const limit = pLimit(MOST_AT_ONCE)

  function standing(key: string): KeptReverseCheck | undefined {
    const found = kept.get(key)
    if (found === undefined || found.until > clock.now()) return found
    kept.delete(key)
    return undefined
  }

  async function run(key: string, address: Address, patterns: readonly NamePattern[]): Promise<ReverseFinding> {
    try {
      const finding = await limit(checkReverseDns, dns, address, patterns)
      const check = { key, ...finding, until: clock.now() + STANDS_FOR[finding.status] }
      kept.set(key, check)
      onFinished?.(check)
      return check
    } finally {
      underWay.delete(key)
    }
  }

  function ask(address: Address, patterns: readonly NamePattern[]): Promise<ReverseFinding> | undefined {
    const key = keyOf(address, patterns)
    const same = underWay.get(key)
    if (same !== undefined || limit.pendingCount >= MOST_WAITING) return same
    const asking = run(key, address, patterns)
    underWay.set(key, asking)
    return asking
  }

  let second = 0
  let begun = 0
  function mayBegin(): boolean {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) begun = 0
    second = now
    begun++
    return begun <= MOST_BEHIND
  }

  return {
    known: (address, patterns) => standing(keyOf(address, patterns)),
    ask,
    askBehind(address, patterns) {
      if (underWay.has(keyOf(address, patterns))) return true
      // It never rejects, so nothing is left floating.
      return mayBegin() && ask(address, patterns) !== undefined
    },
    remember(checks) {
      const now = clock.now()
      for (const check of checks) if (check.until > now) kept.set(check.key, check)
    },
  }
}

function keyOf(address: Address, patterns: readonly NamePattern[]): string {
  let key = formatAddress(address)
  for (const { text } of patterns) key += ` ${text}`
  return key
}
