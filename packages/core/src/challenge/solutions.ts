import type { BoundClient, RedeemFault } from '../values/challenge.ts'
import { type Asking, isTokenText } from './provider.ts'
import type { OpenedChallenge } from './token.ts'
import { isOfWidget, isSolved } from './work.ts'

/** A solution, and the client that brings it. */
export interface Solution {
  readonly text: string
  readonly client: BoundClient
  /** Counts a try of the challenge; false where it has had all. */
  mayTry(): Promise<boolean>
}

/** Why a solution does not solve its challenge; `undefined`: it does. One that cannot be read is no try. */
export async function solutionFault(
  asking: Pick<Asking, 'check'>,
  challenge: OpenedChallenge,
  { text, client, mayTry }: Solution,
  now: number,
): Promise<RedeemFault | undefined> {
  const isToken = isOfWidget(challenge)
  if (!(isToken ? isTokenText(text) : text.length <= MAX_NUMBERS && NUMBERS.test(text))) return 'malformed'
  if (!(await mayTry())) return 'spent'
  if (!isToken) return isSolved(challenge, text.split(',').map(Number)) ? undefined : 'wrong'
  const checked = await asking.check(text, client, now)
  return checked === 'right' ? undefined : checked
}

/** Characters of the numbers of a solution. */
const MAX_NUMBERS = 2_048

const NUMBERS = /^\d{1,10}(?:,\d{1,10}){0,63}$/
