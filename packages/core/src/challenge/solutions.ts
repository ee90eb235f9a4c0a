import type { BoundClient, RedeemFault } from '../values/challenge.ts'
import { type Asking, isTokenText } from './provider.ts'
import type { OpenedChallenge } from './token.ts'
import { isOfWidget, isSolved } from './work.ts'

export interface Solution {
  readonly text: string
  readonly client: BoundClient
  /** Counts a try of the challenge; false where all tries are used up. */
  mayTry(): Promise<boolean>
}

/** Returns why a solution does not solve its challenge, or `undefined`. An unreadable solution is not counted as a try. */
export async function solutionFault(
  asking: Pick<Asking, 'check'>,
  challenge: OpenedChallenge,
  { text, client, mayTry }: Solution,
  now: number,
): Promise<RedeemFault | undefined> {
  const isToken = isOfWidget(challenge)
  if (!(isToken ? isTokenText(text) : areNumbers(text))) return 'malformed'
  if (!(await mayTry())) return 'spent'
  if (!isToken) return isSolved(challenge, text.split(',').map(Number)) ? undefined : 'wrong'
  const checked = await asking.check(text, client, now)
  return checked === 'right' ? undefined : checked
}

/** Limits the characters of a solution's numbers. */
const MAX_NUMBERS = 2_048

const NUMBERS = /^\d{1,10}(?:,\d{1,10}){0,63}$/

/** Reports whether a text has the form of the numbers that solve puzzles. */
export function areNumbers(text: string): boolean {
  return text.length <= MAX_NUMBERS && NUMBERS.test(text)
}
