import type { ChallengeLevel } from '../values/challenge.ts'

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

/** How long our own work challenges after a provider gave no answer. */
const AWAY_MS = 60_000

/** Tokens that are looked at by the provider at one time. */
const MAX_VERIFIED = 64

/** The printable characters of ASCII, which a field of a request can hold. */
const TOKEN = /^[!-~]{0,6000}$/

/** The provider of one process, and whether it answers. */
export interface Asking {
  /** Whether a provider challenges at a level, even while it is away. */
  isProvided(level: ChallengeLevel): boolean
  /** The widget that challenges at a level; `undefined`: our work does. */
  widgetAt(level: ChallengeLevel, now: number): ChallengeWidget | undefined
  check(token: string, address: string, now: number): Promise<TokenAnswer | 'malformed' | 'too_many'>
}

/** A provider that gave no answer is away for a minute, in which our own work challenges: an unknown is no refusal, and opens no door (D454). */
export function createAsking(provider: ChallengeProvider | undefined): Asking {
  let awayUntil = 0
  let verified = 0
  return {
    isProvided: (level) => provider !== undefined && level === 3,
    widgetAt: (level, now) => (level === 3 && now >= awayUntil ? provider?.widget : undefined),
    async check(token, address, now) {
      if (!TOKEN.test(token)) return 'malformed'
      // The configuration had one when the challenge was issued.
      if (provider === undefined) return 'unanswered'
      if (verified >= MAX_VERIFIED) return 'too_many'
      verified++
      try {
        const answer = await provider.verify(token, address)
        if (answer === 'unanswered') awayUntil = now + AWAY_MS
        // A browser that the provider did not reach says so with no token; that is no attempt to get through.
        return token === '' ? 'unanswered' : answer
      } finally {
        verified--
      }
    },
  }
}
