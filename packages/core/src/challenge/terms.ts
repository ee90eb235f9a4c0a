import type { Counts } from '../counting/ports.ts'
import type { Clock } from '../ports/index.ts'
import type {
  ChallengeLevel,
  ChallengeTerms,
  FormFault,
  InspectedPass,
  Redeemer,
  RedeemFault,
} from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import type { ChallengeProvider, ChallengeWidget } from './provider.ts'
import type { ChallengeSecrets } from './secrets.ts'
import type { Challenge } from './token.ts'

/** A challenge to a client, as its page or another program shows it. */
export interface IssuedChallenge extends Pick<Challenge, 'level' | 'puzzles' | 'bits' | 'wait'> {
  readonly text: string
  /** The challenge was issued before, and the request waits for it. */
  readonly again: boolean
  /** The widget whose token is the solution, in place of work. */
  readonly widget?: ChallengeWidget | undefined
}

/** Describes a challenge to a program; `pass` is the path that accepts its solution. A provider's widget needs a page. */
export function describeChallenge({ text, puzzles, bits, wait, level, widget }: IssuedChallenge, pass: string): object {
  if (widget !== undefined) return { level, provider: widget.name, pass }
  return { challenge: text, puzzles, bits, wait, level, pass }
}

export type Redeemed =
  | {
      /** The value goes into the pass's cookie. */
      readonly pass: string
      readonly level: ChallengeLevel
      /** The pass expires after this time, in seconds. */
      readonly maxAge: number
      /** Measures the seconds from the challenge to its solution. */
      readonly seconds: number
      /** The rule that challenged; absent where it is gone. */
      readonly rule: string | undefined
      /** The shared counts did not answer, so another machine may have spent the challenge. */
      readonly degraded: boolean
    }
  | {
      readonly refused: RedeemFault
      /** Level of the challenge, and its rule, where we issued it. */
      readonly level?: ChallengeLevel | undefined
      readonly rule?: string | undefined
    }

/** Describes a challenge to a request: its terms, the rule, and the pass that the request already has. */
export interface AskedFor {
  readonly terms: ChallengeTerms
  /** This rule has challenged. */
  readonly rule: string
  readonly pass: InspectedPass | undefined
  /** The challenged client; absent where it is not known. */
  readonly client?: Redeemer | undefined
}

export interface ChallengesOptions {
  /** The first secret makes tokens, all verify. */
  readonly secrets: ChallengeSecrets
  readonly counts: Counts
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  /** Challenges at level 3 in place of our work; by default our work does. */
  readonly provider?: ChallengeProvider | undefined
  /** Lists ids of the rules that other processes may challenge by; default none. */
  readonly rules?: (() => Iterable<string>) | undefined
  /** Challenges from before this time are refused, because their spent counts are forgotten. Milliseconds since the epoch. */
  readonly since?: number | undefined
  /** Reports whether the test token of forms is accepted; by default it is not. */
  readonly isTesting?: (() => boolean) | undefined
  /** Receives the outcome of each token of a form: `ok`, or its fault. */
  readonly onFormChecked?: ((action: string, outcome: 'ok' | FormFault) => void) | undefined
  readonly onFault?: ((error: unknown) => void) | undefined
  /** Reports whether a request came over https, where only cookies with `__Host-` names count; by default both names count. */
  readonly isSecure?: ((request: InspectionRequest) => boolean) | undefined
}
