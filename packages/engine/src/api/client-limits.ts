import { type ClientKey, type CountTask, DAY_MS, HOUR_MS, WIDE_FACTOR } from '@sallyport/core'

/** A limit on how often one client may call: `max` requests in a window that begins with the first. Limits use the counter of rules. */
export interface ClientLimit {
  /** Routes with the same name share one count. */
  readonly name: string
  readonly max: number
  readonly windowMs: number
}

/** The per-client limits (specification: Limits). */
export const CLIENT_LIMITS = {
  demo: { name: 'DEMO_LIMIT', max: 100, windowMs: DAY_MS },
  myip: { name: 'MYIP_LIMIT', max: 60, windowMs: HOUR_MS },
  crawlerVerify: { name: 'CRAWLER_VERIFY_LIMIT', max: 5, windowMs: HOUR_MS },
  /** Not in the specification: calls of that route that cannot be read, which cost nothing but their reading. */
  crawlerVerifyBad: { name: 'CRAWLER_VERIFY_BAD_LIMIT', max: 60, windowMs: HOUR_MS },
  asnDirectory: { name: 'ASN_DIR_LIMIT', max: 600, windowMs: HOUR_MS },
  /** Not in the specification: the public keys of evidence, read by offline verifiers. */
  ledgerKeys: { name: 'LEDGER_KEYS_LIMIT', max: 600, windowMs: HOUR_MS },
  /** Not in the specification: calls without a valid key. */
  unauthorized: { name: 'UNAUTHORIZED_LIMIT', max: 60, windowMs: 60_000 },
} as const satisfies Record<string, ClientLimit>

/** The counts of a client under a limit, narrowest first, each of which must have room. A `cost` of 0 looks at all of them. */
export function clientTasks(
  { name, max, windowMs }: ClientLimit,
  { narrow, wide }: ClientKey,
  cost: 0 | 1,
): readonly CountTask[] {
  const makeTask = (client: string, max: number): CountTask => {
    const limit = { kind: 'fixed', max, windowMs, refill: max } as const
    return { key: `${name} ${client}`, cost, max, limit, binding: cost > 0 }
  }
  return wide === undefined ? [makeTask(narrow, max)] : [makeTask(narrow, max), makeTask(wide, max * WIDE_FACTOR)]
}
