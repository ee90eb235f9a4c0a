import type { ChallengeLevel, FormFault } from '../values/challenge.ts'
import { type AskerParts, describeAsker } from './asker.ts'
import { spendTask } from './giver.ts'
import type { ChallengeParts } from './issuer.ts'
import { TEST_TOKEN } from './names.ts'
import type { ChallengesOptions } from './terms.ts'
import { CHALLENGE_MS, type Challenge, RANDOM_BYTES, sealChallenge } from './token.ts'
import { areNumbers, isSolved } from './work.ts'

/** Holds the puzzles of a form, as its script receives them. */
export interface FormPuzzles extends Pick<Challenge, 'level' | 'puzzles' | 'bits'> {
  readonly challenge: string
  /** The token expires after this time, in seconds. */
  readonly seconds: number
}

/** Says whether a token is good; `degraded`: the shared counts did not answer whether another machine accepted it. */
export type FormCheck =
  | { readonly ok: true; readonly level: ChallengeLevel; readonly degraded?: true }
  | { readonly ok: false; readonly reason: FormFault }

export type FormSender = Pick<AskerParts, 'host' | 'userAgent'>

/** Half a minute on a slow phone is too long for a form. A page's level 1 is a wait; here it is a few hashes. */
const PUZZLES = 32
const BITS: Readonly<Record<ChallengeLevel, number>> = { 1: 8, 2: 10, 3: 12 }

/** A solved challenge with 32 numbers has at most 450 characters. */
const MAX_TOKEN = 1_024

/** Issues the puzzles of forms, and checks the tokens, which are their solutions. */
export function createFormTokens(options: ChallengesOptions, reader: Pick<ChallengeParts['reader'], 'read'>) {
  const { secrets, counts, clock, random, onFault, onFormChecked, isTesting } = options

  /** No field of a request has a line break, so a form's token is never a page's challenge, nor the reverse. */
  function bind(sender: FormSender, action: string) {
    const asker = describeAsker({ ...sender, ja4: undefined })
    return { ...asker, host: `${asker.host}\nform ${action}` }
  }

  async function checkToken(sender: FormSender, token: unknown, action: string): Promise<FormCheck> {
    if (token === undefined || token === null || token === '') return { ok: false, reason: 'missing' }
    if (token === TEST_TOKEN && isTesting?.() === true) return { ok: true, level: 1 }
    if (typeof token !== 'string' || token.length > MAX_TOKEN) return { ok: false, reason: 'malformed' }
    const [sealed = '', text = ''] = token.split('.', 2)
    const challenge = reader.read(sealed, bind(sender, action), clock.now())
    if (typeof challenge === 'string') return { ok: false, reason: challenge }
    if (!areNumbers(text)) return { ok: false, reason: 'malformed' }
    // A wrong solution uses up its challenge too, so no client can try numbers here.
    const { states, share } = await counts.take([spendTask('form', challenge.random)], '')
    if (states[0]?.allowed !== true) return { ok: false, reason: 'spent' }
    if (!isSolved(challenge, text.split(',').map(Number))) return { ok: false, reason: 'wrong' }
    return { ok: true, level: challenge.level, ...(share !== undefined && { degraded: true }) }
  }

  return {
    issue(sender: FormSender, action: string, level: ChallengeLevel): FormPuzzles {
      const { host, browser } = bind(sender, action)
      const work = { puzzles: PUZZLES, bits: BITS[level], level }
      const terms = { issuedAt: clock.now(), wait: 0, passSeconds: 0, rule: 0, browser, tls: 0 }
      const challenge = sealChallenge({ ...terms, ...work, random: random(RANDOM_BYTES) }, secrets[0], host)
      return { challenge, ...work, seconds: CHALLENGE_MS / 1_000 }
    },
    /** Accepts a token once, on all machines that share counts. Never rejects. */
    async check(sender: FormSender, token: unknown, action: string): Promise<FormCheck> {
      const checked = await checkToken(sender, token, action).catch((error: unknown): FormCheck => {
        onFault?.(error)
        return { ok: false, reason: 'failed' }
      })
      onFormChecked?.(action, checked.ok ? 'ok' : checked.reason)
      return checked
    },
  }
}
