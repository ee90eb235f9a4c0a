import type { RedeemFault } from '../values/challenge.ts'
import type { Asking } from './provider.ts'
import type { OpenedChallenge } from './token.ts'
import { isOfWidget, isSolved } from './work.ts'

/** A solution, and the address that brings it. */
export interface Solution {
  readonly text: string
  readonly address: string
}

/** Why a solution does not solve its challenge; `undefined`: it does. */
export async function solutionFault(
  asking: Pick<Asking, 'check'>,
  challenge: OpenedChallenge,
  { text, address }: Solution,
  now: number,
): Promise<RedeemFault | undefined> {
  if (!isOfWidget(challenge)) return numbersFault(challenge, text)
  const checked = await asking.check(text, address, now)
  return checked === 'right' ? undefined : checked
}

/** Characters of the numbers of a solution. */
const MAX_NUMBERS = 2_048

const NUMBERS = /^\d{1,10}(?:,\d{1,10}){0,63}$/

function numbersFault(challenge: OpenedChallenge, text: string): 'malformed' | 'wrong' | undefined {
  if (text.length > MAX_NUMBERS || !NUMBERS.test(text)) return 'malformed'
  return isSolved(challenge, text.split(',').map(Number)) ? undefined : 'wrong'
}
