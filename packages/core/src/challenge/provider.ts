import { LRUCache } from 'lru-cache'
import { clientKey } from '../counting/keys.ts'
import type { BoundClient, ChallengeLevel } from '../values/challenge.ts'
import { challengeBuckets } from './asking-bound.ts'

/** Describes the widget of a provider, as the page shows it. */
export interface ChallengeWidget {
  /** The provider has this name on the page. */
  readonly name: string
  /** The script at this URL makes the widget. */
  readonly script: string
  /** A Content-Security-Policy needs these sources beside the script's origin. */
  readonly origins: readonly string[]
  /** The script fills the HTML element of this name, which has these attributes. */
  readonly element: string
  readonly attributes: Readonly<Record<string, string>>
  /** The script writes the token into the form's field of this name. */
  readonly field: string
}

/** The provider's verdict on a token; `unanswered`: the provider did not answer. */
export type TokenAnswer = 'right' | 'wrong' | 'unanswered'

/** Challenges at level 3 in place of our work: a third party gives a token to the visitor, and checks it. */
export interface ChallengeProvider {
  readonly widget: ChallengeWidget
  /** `token` is what a visitor sent, up to 6,000 characters, and is accepted once. Must not reject, and must end without a timeout. */
  verify(token: string, address: string): Promise<TokenAnswer>
}

/** Our own work challenges for this time where a provider gave no answer. */
const AWAY_MS = 60_000

/** A provider is away when the tokens of this many clients got no answer, and no token in between got one. */
const AWAY_CLIENTS = 3

const MAX_KEPT = 4_096

/** Limits the tokens that the provider checks at one time: in all, and of one client. */
const MAX_VERIFIED = 64
const MAX_OF_CLIENT = 8

/** A token consists of printable ASCII, which a field of a request can hold. */
const TOKEN = /^[!-~]{0,6000}$/

export function isTokenText(text: string): boolean {
  return TOKEN.test(text)
}

/**
 * Knows the provider of one process, and whether it answers. An unanswered token is at fault where the provider answers others. Several clients without an answer, and no answer in between, show that
 * the provider is away: for a minute our own work challenges. Where no client had an answer for a minute, our work challenges only the
 * client whose token got none. A missing answer neither refuses nor admits.
 */
export function createAsking(provider: ChallengeProvider | undefined) {
  const failed = new LRUCache<string, number>({ max: MAX_KEPT })
  const unheard = new Map<string, number>()
  const verifying = new Map<string, number>()
  let awayUntil = 0
  let answeredAt = Number.NEGATIVE_INFINITY
  let verified = 0

  function note(client: BoundClient, answer: TokenAnswer, now: number): void {
    if (answer !== 'unanswered') {
      unheard.clear()
      awayUntil = 0
      answeredAt = now
      return
    }
    const buckets = challengeBuckets(client)
    failed.set(buckets[0].key, now)
    for (const [key, since] of unheard) if (now - since >= AWAY_MS) unheard.delete(key)
    unheard.set((buckets.at(-1) ?? buckets[0]).key, now)
    if (unheard.size < AWAY_CLIENTS) return
    awayUntil = now + AWAY_MS
    unheard.clear()
  }

  /** Counts the tokens of an address that the provider is checking. */
  function hold(key: string, change: 1 | -1): void {
    const held = (verifying.get(key) ?? 0) + change
    if (held === 0) verifying.delete(key)
    else verifying.set(key, held)
    verified += change
  }

  return {
    /** Reports whether a provider challenges at a level, even while it is away. */
    isProvided: (level: ChallengeLevel) => provider !== undefined && level === 3,
    /** Returns the widget that challenges a client at a level; `undefined` where our work does. */
    widgetAt(level: ChallengeLevel, now: number, client?: BoundClient): ChallengeWidget | undefined {
      if (level !== 3 || now < awayUntil) return undefined
      const failedAt = client && failed.get(challengeBuckets(client)[0].key)
      const isFailing = failedAt !== undefined && now - failedAt < AWAY_MS && now - answeredAt >= AWAY_MS
      return isFailing ? undefined : provider?.widget
    },
    async check(token: string, client: BoundClient, now: number): Promise<TokenAnswer | 'too_many'> {
      // A provider was configured when the challenge was issued.
      if (provider === undefined) return 'unanswered'
      const { narrow } = clientKey(client.address)
      if (verified >= MAX_VERIFIED || (verifying.get(narrow) ?? 0) >= MAX_OF_CLIENT) return 'too_many'
      hold(narrow, 1)
      try {
        const answer = await provider.verify(token, client.address)
        // A browser that could not reach the provider sends no token; that is no attempt to bypass it.
        const known = token === '' ? 'unanswered' : answer
        if (known === answer) note(client, answer, now)
        return known
      } finally {
        hold(narrow, -1)
      }
    },
  }
}
