import {
  compilePolicy,
  createCatalogue,
  createCounter,
  createCrawlerVerifier,
  createInspector,
  createReverseChecks,
  type PresetName,
  parseTrust,
  type Snapshot,
} from '@sallyport/core'
import { createFakeClock, createFakeCounts, createFakeDns, makeSnapshots } from '@sallyport/core/testing'
import type { Population } from './populations.ts'

const AMERICA = { code: 'US', source: 'made', basis: 'city' } as const

/** Shares of the requests of a population, whole per cent. */
export interface Fate {
  readonly passed: number
  readonly slowed: number
  readonly refused: number
}

/** Returns what comes of a population under a preset, counted from nothing; `busy`: while the server is. */
export async function decideFate(
  snapshot: Snapshot,
  preset: PresetName,
  { coming }: Population,
  busy = false,
): Promise<Fate> {
  const clock = createFakeClock('2026-11-26T10:00:00Z')
  const load = { latch: () => () => busy, now: () => (busy ? 1 : 0) }
  const inspector = createInspector({
    clock,
    // The city databases are not asked: everybody is in one country.
    snapshots: makeSnapshots({ ...snapshot, countries: { find: () => AMERICA } }),
    trust: parseTrust([]),
    policy: compilePolicy({ preset, rules: [] }, { load }),
    mode: 'enforce',
    crawlers: createCrawlerVerifier(createCatalogue(), {
      reverse: createReverseChecks({ clock, dns: createFakeDns({}) }),
    }),
  })
  const counter = createCounter({ counts: createFakeCounts(clock), flights: 'bench' })
  const sums = { allow: 0, flag: 0, redirect: 0, challenge: 0, offer: 0, throttle: 0, block: 0 }
  let second = 0
  for (const { second: at, request } of coming) {
    clock.advance((at - second) * 1_000)
    second = at
    const { decision, ended } = await counter.count(inspector.decide(request))
    const isAnswered = decision.action === 'allow' || decision.action === 'flag'
    // Limits of pages learn from the answer what was asked for.
    ended?.(
      isAnswered ? 200 : undefined,
      undefined,
      request.fields.includes('script') ? 'text/javascript' : 'text/html',
    )
    sums[decision.action]++
  }
  const share = (count: number): number => Math.round((100 * count) / coming.length)
  return {
    passed: share(sums.allow + sums.flag + sums.redirect),
    slowed: share(sums.throttle + sums.challenge),
    refused: share(sums.block),
  }
}
