import { describeAsker, readAskerParts } from './asker.ts'
import { DEGRADED_PASS_SECONDS } from './giver.ts'
import type { Asking } from './provider.ts'
import type { ChallengeReader } from './reader.ts'
import type { RuleTags } from './rule-tags.ts'
import type { ChallengeSecret } from './secrets.ts'
import type { ChallengesOptions, IssuedChallenge, Issuer } from './terms.ts'
import { CHALLENGE_MS, type Challenge, RANDOM_BYTES, sealChallenge } from './token.ts'
import { WIDGET_WORK, WORK } from './work.ts'

export interface ChallengeParts {
  readonly reader: ChallengeReader
  readonly asking: Asking
  readonly tags: RuleTags
}

/** A younger challenge is issued again: at least a minute is left to solve it. */
const REISSUE_MS = CHALLENGE_MS - 60_000

export function createIssuer(
  { secrets, clock, random }: ChallengesOptions,
  { reader, asking, tags }: ChallengeParts,
): Issuer {
  const [maker] = secrets as readonly [ChallengeSecret, ...ChallengeSecret[]]
  return (request, asked, fresh = false) => {
    const now = clock.now()
    const brought = fresh ? undefined : reader.broughtBy(request, asked, now)[0]
    if (brought !== undefined && now - brought.challenge.issuedAt < REISSUE_MS) {
      return describeIssued(brought.text, brought.challenge, Math.max(1, Math.ceil(brought.left / 1000)), true)
    }
    const { level, passMs, script } = asked.terms
    const { host, browser, tls } = describeAsker(readAskerParts(request))
    const widget = asking.widgetAt(level, now, asked.client)
    const { puzzles, bits, wait } = widget === undefined ? WORK[level] : WIDGET_WORK
    const isInstead = widget === undefined && asking.isProvided(level)
    const challenge = {
      issuedAt: now,
      level,
      puzzles,
      bits,
      // Where waiting could replace a provider, the provider would challenge no client.
      wait: script || isInstead ? 0 : wait,
      passSeconds: Math.min(Math.ceil(passMs / 1000), isInstead ? DEGRADED_PASS_SECONDS : Number.POSITIVE_INFINITY),
      browser,
      tls,
      rule: tags.tagOf(asked.rule),
      random: random(RANDOM_BYTES),
    }
    return { ...describeIssued(sealChallenge(challenge, maker, host), challenge, challenge.wait, false), widget }
  }
}

function describeIssued(
  text: string,
  { level, puzzles, bits }: Pick<Challenge, 'level' | 'puzzles' | 'bits'>,
  wait: number,
  again: boolean,
): IssuedChallenge {
  return { text, level, puzzles, bits, wait, again }
}
