import { createHash } from 'node:crypto'
import type { CountTask } from '../counting/ports.ts'
import { HOUR_MS } from '../duration.ts'
import type { Redeemer } from '../values/challenge.ts'
import type { Asker } from './asker.ts'
import { type Pass, RENEWALS, sealPass, WAITED_PASS_SECONDS } from './pass.ts'
import type { ChallengeSecret } from './secrets.ts'
import type { ChallengesOptions, Redeemed } from './terms.ts'
import { CHALLENGE_MS, type OpenedChallenge } from './token.ts'

/** Seconds that a pass holds that nobody could check on all machines. */
export const DEGRADED_PASS_SECONDS = 300

/** A challenge is spent for longer than it can be solved, by any machine's clock. */
const SPENT = { kind: 'fixed', max: 1, windowMs: CHALLENGE_MS + 120_000, refill: 1 } as const

/** A provider takes a token for less than that, and mostly once. */
const SPENT_TOKEN = { kind: 'fixed', max: 1, windowMs: HOUR_MS, refill: 1 } as const

/** How a challenge was solved. */
export interface Solved {
  /** It was waited for, in place of its work. */
  readonly waited: boolean
  /** The token of a provider that said yes to it. */
  readonly token?: string | undefined
}

/** Gives a pass for a challenge that was solved: one alone for each, and for each token. */
export type PassGiver = (challenge: OpenedChallenge, asker: Asker, client: Redeemer, solved: Solved) => Promise<Given>

/** The caller finds the rule by its tag. */
export type Given = Omit<Exclude<Redeemed, { refused: unknown }>, 'rule'> | { readonly refused: 'spent' }

export function createPassGiver({ secrets, counts, clock, random }: ChallengesOptions): PassGiver {
  const [maker] = secrets as readonly [ChallengeSecret, ...ChallengeSecret[]]
  return async (challenge, asker, { network }, { waited, token }) => {
    const now = clock.now()
    const tasks = [spent(`challenge ${Buffer.from(challenge.random).toString('base64url')}`, SPENT)]
    if (token !== undefined) tasks.push(spent(`challenge token ${digestOf(token)}`, SPENT_TOKEN))
    // The count of all processes and machines: who is first has it.
    const { states, share } = await counts.take(tasks, '')
    if (states.length === 0 || !states.every(({ allowed }) => allowed)) return { refused: 'spent' }
    const degraded = share !== undefined
    const isInstead = waited && challenge.puzzles > 0
    const maxAge = Math.min(
      challenge.passSeconds,
      isInstead ? WAITED_PASS_SECONDS : Number.POSITIVE_INFINITY,
      degraded ? DEGRADED_PASS_SECONDS : Number.POSITIVE_INFINITY,
    )
    const issuedAt = Math.floor(now / 1000)
    const pass: Pass = {
      id: Buffer.from(random(8)).toString('base64url'),
      level: challenge.level,
      issuedAt,
      expiresAt: issuedAt + maxAge,
      browser: asker.browser,
      tls: asker.tls,
      home: network === 'residential_clean' || network === 'mobile',
      renewals: isInstead || degraded ? 0 : RENEWALS,
      renewed: false,
      waited: isInstead,
    }
    const seconds = (now - challenge.issuedAt) / 1000
    return { pass: sealPass(pass, maker, asker.host), level: pass.level, maxAge, seconds, degraded }
  }
}

function spent(key: string, limit: typeof SPENT | typeof SPENT_TOKEN): CountTask {
  return { key, cost: 1, limit, max: 1, binding: true, spends: true }
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
