import type { NetworkClass } from '../vocabulary.ts'

/** Levels of a challenge, and of the pass that is given for it: a higher one covers those below. */
export const CHALLENGE_LEVELS = [1, 2, 3] as const
export type ChallengeLevel = (typeof CHALLENGE_LEVELS)[number]

/** Terms of a rule's challenge, checked. */
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
  /** Seconds since it was given, or renewed. */
  readonly age: number
  /** Seconds for which it was given; absent where a pass is only described. */
  readonly maxAge?: number | undefined
  /** It was renewed: when it was earned is not known. */
  readonly renewed?: true | undefined
  /** It was waited for, in place of work. */
  readonly waited?: true | undefined
}

/** A client that is challenged, or brings a solution, as the inspection found it. */
export interface Redeemer {
  readonly address: string
  readonly network: NetworkClass
  /** The key of its browser, where many share the address. */
  readonly browser?: string | undefined
}

/** A client as bounds of challenges know it. */
export type BoundClient = Pick<Redeemer, 'address' | 'browser'>

/** Why a solution, or waiting, earned no pass. */
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

/**
 * The outcomes of a request that is challenged, or that brings a solution. `asked`: its page has a new challenge; `waiting`: the
 * one that it waits for already; `program`: its sender is shown none; `form`: a form was, before its page earned a pass; `solved` and `waited`: a pass was given.
 */
export const CHALLENGE_OUTCOMES = ['asked', 'waiting', 'form', 'program', 'solved', 'waited', ...REDEEM_FAULTS] as const
export type ChallengeOutcome = (typeof CHALLENGE_OUTCOMES)[number]

/** The part of a request in a challenge: one row of what metrics, log, history and report count. */
export interface ChallengeStep {
  readonly outcome: ChallengeOutcome
  /** Id of the rule that challenged; absent where that is not known, as of a forged solution. */
  readonly rule?: string | undefined
  /** Level of the challenge, or of the pass; absent where that is not known. */
  readonly level?: ChallengeLevel | undefined
  /** Seconds from the challenge to its solution, where that earned a pass. */
  readonly seconds?: number | undefined
  /** A pass was given, and the counts that all machines share did not answer: nobody knows whether it is the only one of its challenge. */
  readonly degraded?: boolean | undefined
  /** Reason why waiting earned no pass, where a new challenge followed at once. */
  readonly refused?: RedeemFault | undefined
}

/** Whether an outcome earned a pass. */
export function earnedPass(outcome: string): boolean {
  return outcome === 'solved' || outcome === 'waited'
}

/** Whether an outcome is a solution, or a wait, that earned no pass. */
export function failedPass(outcome: string): boolean {
  return (REDEEM_FAULTS as readonly string[]).includes(outcome)
}
