import type { InspectionRequest } from '../values/request.ts'
import { describeAsker, readAskerParts } from './asker.ts'
import { DEGRADED_PASS_SECONDS } from './giver.ts'
import type { createAsking } from './provider.ts'
import type { createChallengeReader } from './reader.ts'
import type { createRuleTags } from './rule-tags.ts'
import type { AskedFor, ChallengesOptions, IssuedChallenge } from './terms.ts'
import { CHALLENGE_MS, RANDOM_BYTES, sealChallenge } from './token.ts'
import { WIDGET_WORK, WORK } from './work.ts'

export interface ChallengeParts {
  readonly reader: ReturnType<typeof createChallengeReader>
  readonly asking: ReturnType<typeof createAsking>
  readonly tags: ReturnType<typeof createRuleTags>
}

/** A younger challenge is issued again: at least a minute is left to solve it. */
const REISSUE_MS = CHALLENGE_MS - 60_000

export function createIssuer({ secrets, clock, random }: ChallengesOptions, { reader, asking, tags }: ChallengeParts) {
  /** Issues a challenge for a request: the one that it brings and waits for; without one, or if `fresh`, a new one. */
  return (request: InspectionRequest, asked: AskedFor, fresh = false): IssuedChallenge => {
    const now = clock.now()
    const brought = fresh ? undefined : reader.broughtBy(request, asked, now)[0]
    if (brought !== undefined && now - brought.challenge.issuedAt < REISSUE_MS) {
      const { level, puzzles, bits } = brought.challenge
      const wait = Math.max(1, Math.ceil(brought.left / 1000))
      return { text: brought.text, level, puzzles, bits, wait, again: true }
    }
    const { level, passMs, script } = asked.terms
    const { host, browser, tls } = describeAsker(readAskerParts(request))
    const widget = asking.widgetAt(level, now, asked.client)
    const work = widget === undefined ? WORK[level] : WIDGET_WORK
    const isInstead = widget === undefined && asking.isProvided(level)
    // Where waiting could replace a provider, the provider would challenge no client.
    const shown = { ...work, level, wait: script || isInstead ? 0 : work.wait }
    const challenge = {
      ...shown,
      issuedAt: now,
      passSeconds: Math.min(Math.ceil(passMs / 1000), isInstead ? DEGRADED_PASS_SECONDS : Number.POSITIVE_INFINITY),
      browser,
      tls,
      rule: tags.makeTag(asked.rule),
      random: random(RANDOM_BYTES),
    }
    return { ...shown, text: sealChallenge(challenge, secrets[0], host), again: false, widget }
  }
}
