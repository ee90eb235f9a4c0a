import type { Counts } from '../counting/ports.ts'
import type { Clock } from '../ports/index.ts'
import type { ChallengeLevel, ChallengeTerms, InspectedPass, Redeemer, RedeemFault } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { ChallengeProvider, ChallengeWidget } from './provider.ts'
import type { ChallengeSecret } from './secrets.ts'

/** A challenge to a client, as its page or another program shows it. */
export interface IssuedChallenge {
  readonly text: string
  readonly level: ChallengeLevel
  readonly puzzles: number
  readonly bits: number
  /** Seconds until it is taken as a cookie; 0: it is not. */
  readonly wait: number
  /** It was issued before, and the request waits for it. */
  readonly again: boolean
  /** The widget whose token is the solution, in place of work. */
  readonly widget?: ChallengeWidget | undefined
}

export type Redeemed =
  | {
      /** Value of the pass's cookie. */
      readonly pass: string
      readonly level: ChallengeLevel
      /** Seconds that it holds. */
      readonly maxAge: number
      /** Seconds from the challenge to its solution. */
      readonly seconds: number
      /** The rule that challenged; absent where it is gone. */
      readonly rule: string | undefined
      /** The shared counts did not answer: nobody knows whether it was spent on another machine. */
      readonly degraded: boolean
    }
  | {
      readonly refused: RedeemFault
      /** Level of the challenge, and its rule, where it is ours. */
      readonly level?: ChallengeLevel | undefined
      readonly rule?: string | undefined
    }

/** Terms of a challenge to a request, the rule, and the pass that the request brings all the same. */
export interface AskedFor {
  readonly terms: ChallengeTerms
  /** Id of the rule that challenges. */
  readonly rule: string
  readonly pass: InspectedPass | undefined
  /** The client that is challenged; absent: that is not known. */
  readonly client?: Redeemer | undefined
}

/** Issues a challenge to the sender of a request: the one that it waits for already, if it brings that; else, or if `fresh`, a new one. */
export type Issuer = (request: InspectionRequest, asked: AskedFor, fresh?: boolean) => IssuedChallenge

/** Takes solutions. */
export interface Redeeming {
  /** Gives a pass for the challenge that a request waited for. Never rejects. */
  redeemWaited(request: InspectionRequest, asked: AskedFor, client: Redeemer): Promise<Redeemed>
  /**
   * Gives a pass for the solution in `SOLUTION_FIELD`: the challenge, a dot, and its numbers with commas between, or the token of
   * the provider, or nothing once the challenge was waited for. Never rejects.
   */
  redeem(request: InspectionRequest, solution: string, client: Redeemer): Promise<Redeemed>
}

export interface ChallengesOptions {
  /** The first makes, all are taken. At least one. */
  readonly secrets: readonly ChallengeSecret[]
  readonly counts: Counts
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  readonly ipv6Prefix: number
  /** Challenges at level 3 in place of our work; absent: nobody does. */
  readonly provider?: ChallengeProvider | undefined
  /** Ids of the rules that other processes may challenge by; absent: none. */
  readonly rules?: (() => Iterable<string>) | undefined
  /** Challenges from before this time are refused: what was spent then is forgotten. Milliseconds since the epoch. */
  readonly since?: number | undefined
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Whether a request came over https, where cookies count by their `__Host-` names alone; absent: both names count. */
  readonly isSecure?: ((request: InspectionRequest) => boolean) | undefined
}
