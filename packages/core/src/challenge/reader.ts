import type { RedeemFault } from '../values/challenge.ts'
import type { InspectionRequest } from '../values/request.ts'
import { type Asker, describeAsker, readAskerParts } from './asker.ts'
import { findCookies } from './cookies.ts'
import { CHALLENGE_COOKIES } from './names.ts'
import { isOfAsker } from './pass.ts'
import type { AskedFor, ChallengesOptions } from './terms.ts'
import { type OpenedChallenge, openChallenge } from './token.ts'

export interface Brought {
  readonly text: string
  readonly challenge: OpenedChallenge
  /** Milliseconds until the wait ends; 0 or less once it has ended. */
  readonly left: number
}

export function createChallengeReader({ secrets, since = 0, isSecure = () => false }: ChallengesOptions) {
  /** Opens the challenge of a text if it is the asker's and can still be solved. */
  function read(text: string, asker: Asker, now: number): OpenedChallenge | RedeemFault {
    const challenge = openChallenge(text, secrets, asker, now)
    if (typeof challenge === 'string') return challenge
    if (challenge.issuedAt < since) return 'expired'
    return isOfAsker(challenge, asker) ? challenge : 'other_browser'
  }

  return {
    read,
    /** Returns the challenges that a request waits for, for this asker and these terms, the newest first. */
    broughtBy(request: InspectionRequest, { terms, pass }: AskedFor, now: number): readonly Brought[] {
      if (terms.script) return []
      const texts = findCookies(request.fields, CHALLENGE_COOKIES, 2, () => isSecure(request))
      if (texts.length === 0) return []
      const asker = describeAsker(readAskerParts(request))
      // A challenge from before the pass was spent for that pass.
      const earliest = pass === undefined ? 0 : now - (pass.age + 1) * 1000
      const brought = texts.flatMap((text): readonly Brought[] => {
        const challenge = read(text, asker, now)
        if (typeof challenge === 'string' || challenge.wait === 0 || challenge.level < terms.level) return []
        const left = challenge.issuedAt + challenge.wait * 1000 - now
        return challenge.issuedAt < earliest ? [] : [{ text, challenge, left }]
      })
      return brought.toSorted((one, other) => other.challenge.issuedAt - one.challenge.issuedAt)
    },
  }
}
