import type { AsType, AutonomousSystem, NetworkClass, RangeHit } from '@sallyport/core'

/** The meaning of a name by the few keywords that everybody begins with. */
const KEYWORDS: readonly (readonly [pattern: RegExp, type: AsType, networkClass: NetworkClass])[] = [
  [/\bvpn\b/i, 'vpn', 'vpn'],
  [/universit|college|school|education|academ/i, 'education', 'unknown'],
  [/government|ministry|department|city of|county|state of/i, 'government', 'unknown'],
  [/host|server|cloud|data ?cent(er|re)|vps|colo/i, 'hosting', 'hosting'],
  [/mobile|cellular|wireless|gsm/i, 'mobile', 'mobile'],
  [/telecom|cable|broadband|internet|communications|fib(er|re)|isp/i, 'isp', 'residential_clean'],
]

/** Baseline: keywords in the organisation's name alone. */
export function keywordType(name: string): AsType {
  return KEYWORDS.find(([pattern]) => pattern.test(name))?.[1] ?? 'unknown'
}

export function keywordClass(system: AutonomousSystem | undefined): NetworkClass {
  if (system === undefined) return 'unknown'
  return KEYWORDS.find(([pattern]) => pattern.test(system.name))?.[2] ?? 'unknown'
}

/** Baseline: what a list says, and nothing else. */
export function listClass(range: RangeHit | undefined): NetworkClass {
  return range?.networkClass ?? 'unknown'
}
