/** Levels of a challenge, and of the pass that is given for it: a higher one covers those below. */
export const CHALLENGE_LEVELS = [1, 2, 3] as const
export type ChallengeLevel = (typeof CHALLENGE_LEVELS)[number]

/** How a rule asks, checked. */
export interface ChallengeTerms {
  readonly level: ChallengeLevel
  /** How long the pass holds. */
  readonly passMs: number
  /** Clients that run no script get no pass by waiting. */
  readonly script: boolean
}

/** The pass that a request brought; absent where it brought none that holds. */
export interface InspectedPass {
  /** 11 characters of base64url; the same for as long as the pass holds. */
  readonly id: string
  readonly level: ChallengeLevel
  /** Seconds since it was given. */
  readonly age: number
}
