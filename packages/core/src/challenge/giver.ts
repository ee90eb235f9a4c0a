import { createHash } from 'node:crypto'
import { type CountTask, makeFixedTask } from '../counting/ports.ts'
import { HOUR_MS } from '../duration.ts'
import type { Redeemer } from '../values/challenge.ts'
import type { Asker } from './asker.ts'
import { type Pass, RENEWALS, sealPass, WAITED_PASS_SECONDS } from './pass.ts'
import type { ChallengesOptions, Redeemed } from './terms.ts'
import { CHALLENGE_MS, type OpenedChallenge } from './token.ts'

/** A pass that could not be checked on all machines expires after this time, in seconds. */
export const DEGRADED_PASS_SECONDS = 300

/** A challenge stays spent for longer than it can be solved, by any machine's clock. */
const SPENT_MS = CHALLENGE_MS + 120_000

/** A provider accepts a token for less than that, and mostly once. */
const SPENT_TOKEN_MS = HOUR_MS

/** The caller finds the rule by its tag. */
export type Given = Omit<Exclude<Redeemed, { refused: unknown }>, 'rule'> | { readonly refused: 'spent' }

/** Gives one pass for each solved challenge, and for each accepted token. `waited`: waiting took the place of work. */
export function createPassGiver({ secrets, counts, clock, random }: ChallengesOptions) {
  return async (
    challenge: OpenedChallenge,
    asker: Asker,
    { network }: Redeemer,
    { waited, token }: { readonly waited: boolean; readonly token?: string | undefined },
  ): Promise<Given> => {
    const now = clock.now()
    const tasks = [spendTask('challenge', challenge.random)]
    if (token !== undefined) tasks.push(makeSpending(`challenge token ${digestToken(token)}`, SPENT_TOKEN_MS))
    // All processes and machines share this count: the first one gets the pass.
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
    return { pass: sealPass(pass, secrets[0], asker.host), level: pass.level, maxAge, seconds, degraded }
  }
}

/** Makes the task that spends a challenge, once on all machines. */
export function spendTask(kind: 'challenge' | 'form', random: Uint8Array): CountTask {
  return makeSpending(`${kind} ${Buffer.from(random).toString('base64url')}`, SPENT_MS)
}

function makeSpending(key: string, windowMs: number): CountTask {
  return { ...makeFixedTask(key, 1, windowMs), spends: true }
}

function digestToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url')
}
