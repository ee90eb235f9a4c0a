import { LRUCache } from 'lru-cache'
import { clientKey } from '../counting/keys.ts'
import type { BoundClient, ChallengeLevel } from '../values/challenge.ts'
import { challengeBuckets } from './asking-bound.ts'

/** The widget of a provider, as the page shows it. */
export interface ChallengeWidget {
  /** Name of the provider, shown on the page. */
  readonly name: string
  /** URL of the script that makes the widget. */
  readonly script: string
  /** Sources of its parts beside the script's origin, as a Content-Security-Policy names them. */
  readonly origins: readonly string[]
  /** Name of the HTML element that the script fills, and its attributes. */
  readonly element: string
  readonly attributes: Readonly<Record<string, string>>
  /** Name of the form's field that the script writes the token into. */
  readonly field: string
}

/** The answer about a token; `unanswered`: nobody knows, since the provider did not answer. */
export type TokenAnswer = 'right' | 'wrong' | 'unanswered'

/** A third party that challenges at level 3 in place of our work: it gives a token to the visitor, and says what that is worth. */
export interface ChallengeProvider {
  readonly widget: ChallengeWidget
  /** `token` is what a visitor sent, up to 6,000 characters, and is taken once. Must not reject, and end on its own. */
  verify(token: string, address: string): Promise<TokenAnswer>
}

/** How long our own work challenges where a provider gave no answer. */
const AWAY_MS = 60_000

/** Clients whose tokens got no answer, with no answer to another one in between, say that the provider is away. */
const AWAY_CLIENTS = 3

/** Clients that are remembered. */
const MAX_KEPT = 4_096

/** Tokens that are looked at by the provider at one time: in all, and of one client. */
const MAX_VERIFIED = 64
const MAX_OF_CLIENT = 8

/** The printable characters of ASCII, which a field of a request can hold. */
const TOKEN = /^[!-~]{0,6000}$/

export function isTokenText(text: string): boolean {
  return TOKEN.test(text)
}

/** The provider of one process, and whether it answers. */
export interface Asking {
  /** Whether a provider challenges at a level, even while it is away. */
  isProvided(level: ChallengeLevel): boolean
  /** The widget that challenges a client at a level; `undefined`: our work does. */
  widgetAt(level: ChallengeLevel, now: number, client?: BoundClient): ChallengeWidget | undefined
  check(token: string, client: BoundClient, now: number): Promise<TokenAnswer | 'too_many'>
}

/**
 * That a token got no answer is the fault of the token where the provider answers others. Several clients without an answer, and no
 * answer in between, say that the provider is away: for a minute our own work challenges. Where nobody had an answer for a minute it
 * challenges the client alone whose token got none. An unknown is no refusal, and opens no door.
 */
export function createAsking(provider: ChallengeProvider | undefined, ipv6Prefix: number): Asking {
  const failed = new LRUCache<string, number>({ max: MAX_KEPT })
  const unheard = new Map<string, number>()
  const verifying = new Map<string, number>()
  let awayUntil = 0
  let answeredAt = Number.NEGATIVE_INFINITY
  let verified = 0

  function note(client: BoundClient, answer: TokenAnswer, now: number): void {
    const buckets = challengeBuckets(client, ipv6Prefix)
    const [own, outer] = [buckets[0]?.key ?? '', buckets.at(-1)?.key ?? '']
    if (answer !== 'unanswered') {
      unheard.clear()
      awayUntil = 0
      answeredAt = now
      return
    }
    failed.set(own, now)
    for (const [key, since] of unheard) if (now - since >= AWAY_MS) unheard.delete(key)
    unheard.set(outer, now)
    if (unheard.size < AWAY_CLIENTS) return
    awayUntil = now + AWAY_MS
    unheard.clear()
  }

  /** Counts tokens of an address that are looked at. */
  function hold(key: string, change: 1 | -1): void {
    const held = (verifying.get(key) ?? 0) + change
    if (held === 0) verifying.delete(key)
    else verifying.set(key, held)
    verified += change
  }

  return {
    isProvided: (level) => provider !== undefined && level === 3,
    widgetAt(level, now, client) {
      if (level !== 3 || now < awayUntil) return undefined
      const failedAt = client && failed.get(challengeBuckets(client, ipv6Prefix)[0]?.key ?? '')
      const isFailing = failedAt !== undefined && now - failedAt < AWAY_MS && now - answeredAt >= AWAY_MS
      return isFailing ? undefined : provider?.widget
    },
    async check(token, client, now) {
      // The configuration had one when the challenge was issued.
      if (provider === undefined) return 'unanswered'
      const { narrow } = clientKey(client.address, ipv6Prefix)
      if (verified >= MAX_VERIFIED || (verifying.get(narrow) ?? 0) >= MAX_OF_CLIENT) return 'too_many'
      hold(narrow, 1)
      try {
        const answer = await provider.verify(token, client.address)
        // A browser that the provider did not reach says so with no token; that is no attempt to get through.
        const known = token === '' ? 'unanswered' : answer
        if (known === answer) note(client, answer, now)
        return known
      } finally {
        hold(narrow, -1)
      }
    },
  }
}
