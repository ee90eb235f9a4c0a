import type { NetworkClass } from '../vocabulary.ts'

/** Lists levels of a challenge, and of the pass that is given for it: a higher one covers those below. */
export const CHALLENGE_LEVELS = [1, 2, 3] as const
export type ChallengeLevel = (typeof CHALLENGE_LEVELS)[number]

export interface ChallengeTerms {
  readonly level: ChallengeLevel
  /** The pass expires after this time, in milliseconds. */
  readonly passMs: number
  /** Clients that run no script get no pass by waiting. */
  readonly script: boolean
}

/** Describes the pass that a request brought; absent where it brought none that is valid. */
export interface InspectedPass {
  /** Consists of 11 characters of base64url, and stays the same for as long as the pass is valid. */
  readonly id: string
  readonly level: ChallengeLevel
  /** Seconds since it was given, or renewed. */
  readonly age: number
  /** The pass was given for this time, in seconds; absent where a pass is only described. */
  readonly maxAge?: number | undefined
  /** The pass was renewed: when it was earned is not known. */
  readonly renewed?: true | undefined
  /** True where waiting took the place of work. */
  readonly waited?: true | undefined
}

/** Describes a client that is challenged, or brings a solution, as the inspection found it. */
export interface Redeemer {
  readonly address: string
  readonly network: NetworkClass
  /** The key of its browser, where many share the address. */
  readonly browser?: string | undefined
}

/** Bounds of challenges know a client by these members. */
export type BoundClient = Pick<Redeemer, 'address' | 'browser'>

/** Says why a solution, or waiting, earned no pass. */
export const REDEEM_FAULTS = [
  'malformed',
  'forged',
  'expired',
  'early',
  'other_browser',
  'wrong',
  'spent',
  'too_many',
  'unanswered',
  'failed',
] as const
export type RedeemFault = (typeof REDEEM_FAULTS)[number]

/** A form's token has a fault, or is `missing` where the form brings none. */
export type FormFault = RedeemFault | 'missing'

/**
 * Lists the outcomes of a request that is challenged, or that brings a solution. `asked`: its page has a new challenge; `waiting`: the one
 * that it waits for already; `program`: its sender is shown none; `solved` and `waited`: a pass was given.
 */
export const CHALLENGE_OUTCOMES = ['asked', 'waiting', 'program', 'solved', 'waited', ...REDEEM_FAULTS] as const
export type ChallengeOutcome = (typeof CHALLENGE_OUTCOMES)[number]

/** Says what part a request has in a challenge: metrics, log, history and report count such rows. */
export interface ChallengeStep {
  readonly outcome: ChallengeOutcome
  /** The rule that challenged, by its id; absent where it is not known, as of a forged solution. */
  readonly rule?: string | undefined
  /** Level of the challenge, or of the pass; absent where it is not known. */
  readonly level?: ChallengeLevel | undefined
  /** Measures the seconds from the challenge to the solution that earned a pass. */
  readonly seconds?: number | undefined
  /** A pass was given, but the counts that all machines share did not answer, so its challenge may have earned another pass. */
  readonly degraded?: boolean | undefined
  /** Says why waiting earned no pass, where a new challenge followed at once. */
  readonly refused?: RedeemFault | undefined
}

export function earnedPass(outcome: string): boolean {
  return outcome === 'solved' || outcome === 'waited'
}

/** Reports whether an outcome is a solution, or a wait, that earned no pass. */
export function failedPass(outcome: string): boolean {
  return (REDEEM_FAULTS as readonly string[]).includes(outcome)
}
