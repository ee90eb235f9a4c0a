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
import type { Coming } from './populations.ts'

const AMERICA = { code: 'US', source: 'made', basis: 'city' } as const

/** Returns what comes of a population under a preset, in whole per cent: passed, slowed and refused; `busy`: while the server is. */
export async function decideFate(
  snapshot: Snapshot,
  preset: PresetName,
  coming: readonly Coming[],
  busy = false,
): Promise<readonly number[]> {
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
    const type = request.fields.includes('script') ? 'text/javascript' : 'text/html'
    ended?.(isAnswered ? 200 : undefined, undefined, type)
    sums[decision.action]++
  }
  const counts = [sums.allow + sums.flag + sums.redirect, sums.throttle + sums.challenge, sums.block]
  return counts.map((count) => Math.round((100 * count) / coming.length))
}
