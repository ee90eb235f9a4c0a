/** A limit on how often one client may call: `max` requests in each window of `windowSeconds`. */
export interface ClientLimit {
  /** Routes with the same name share one count. */
  readonly name: string
  readonly max: number
  readonly windowSeconds: number
}

const HOUR = 3600

/** The per-client limits (specification: Limits). */
export const CLIENT_LIMITS = {
  demo: { name: 'DEMO_LIMIT', max: 100, windowSeconds: 24 * HOUR },
  myip: { name: 'MYIP_LIMIT', max: 60, windowSeconds: HOUR },
  crawlerVerify: { name: 'CRAWLER_VERIFY_LIMIT', max: 5, windowSeconds: HOUR },
  /** Not in the specification: calls of that route that are answered 400, which cost nothing but their reading. */
  crawlerVerifyBad: { name: 'CRAWLER_VERIFY_BAD_LIMIT', max: 60, windowSeconds: HOUR },
  asnDirectory: { name: 'ASN_DIR_LIMIT', max: 600, windowSeconds: HOUR },
  /** Not in the specification: the public keys of evidence, read by offline verifiers. */
  ledgerKeys: { name: 'LEDGER_KEYS_LIMIT', max: 600, windowSeconds: HOUR },
  /** Not in the specification: calls without a valid key. */
  unauthorized: { name: 'UNAUTHORIZED_LIMIT', max: 60, windowSeconds: 60 },
} as const satisfies Record<string, ClientLimit>

/** The state of a client's limit. */
export interface LimitState {
  /** Whether the request was counted; of a look, whether one would be. */
  readonly allowed: boolean
  readonly limit: number
  /** 0 or more. */
  readonly remaining: number
  /** Unix seconds at which the window ends and the count starts again. */
  readonly resetAt: number
}

/** Counts requests by client. Rejects when it cannot count; that is never an answer. */
export interface Limits {
  /** Counts one request of `key` against `limit`, atomically. */
  take(limit: ClientLimit, key: string): Promise<LimitState>
  /**
   * The state without counting; a window that has not begun is as if it began now. What is allowed by a look may be taken
   * by others before it is counted, so only `take` allows a request.
   */
  look(limit: ClientLimit, key: string): Promise<LimitState>
}

/** An IP address as 32-bit words, most significant first; IPv4 is in `d` and IPv4-mapped IPv6 is IPv4. */
export interface ClientAddress {
  readonly family: 4 | 6
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
}

/** Default bits of an IPv6 address that count as one client: a subscriber line is given a whole /64. */
const DEFAULT_IPV6_PREFIX = 64

/** The one bucket of all requests whose client address is not known: such clients cannot be distinguished. */
export const NO_ADDRESS_KEY = 'no-address'

/** The key that a request is counted under, and how many times the limit's `max` fits in. */
export interface Bucket {
  /** Never empty. */
  readonly key: string
  readonly factor: number
}

/**
 * Bits of the wider bucket of IPv6: a site is commonly given a /48 or a part of one, and has 65,536 networks of /64 to
 * call from. All of them together have 16 times the limit of one.
 */
const WIDE_IPV6_PREFIX = 48
const WIDE_FACTOR = 16

/**
 * The buckets of a client, narrowest first, each of which must allow a request: the whole address for IPv4; for IPv6 the
 * first `ipv6Prefix` bits (1 to 128) and, where that is narrower, the /48 around it; one shared bucket where there is no
 * address.
 */
export function clientBuckets(
  address: ClientAddress | undefined,
  ipv6Prefix: number = DEFAULT_IPV6_PREFIX,
): readonly Bucket[] {
  if (address === undefined) return [{ key: NO_ADDRESS_KEY, factor: 1 }]
  if (address.family === 4) return [{ key: `4:${hex(address.d)}`, factor: 1 }]
  const narrow = { key: prefixKey(address, ipv6Prefix), factor: 1 }
  if (ipv6Prefix <= WIDE_IPV6_PREFIX) return [narrow]
  return [narrow, { key: prefixKey(address, WIDE_IPV6_PREFIX), factor: WIDE_FACTOR }]
}

function prefixKey({ a, b, c, d }: ClientAddress, prefix: number): string {
  const kept = [a, b, c, d].map((word, index) => hex(word & mask(prefix - 32 * index)))
  return `6:${kept.join('')}/${prefix}`
}

/** A 32-bit mask of the first `bits` bits; all of a word from 32 on, none of it up to 0. */
function mask(bits: number): number {
  if (bits <= 0) return 0
  return bits >= 32 ? -1 : -1 << (32 - bits)
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
