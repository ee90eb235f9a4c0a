import { CLAIM_WORDS, type ClaimMatch } from './claims.ts'
import { CRAWLER_WORDS, type CrawlerMatch } from './crawler.ts'
import type { MatchWord, WordsOf } from './match-word.ts'
import { NETWORK_WORDS, type NetworkMatch } from './network.ts'
import { negation } from './not.ts'
import { REQUEST_WORDS, type RequestMatch } from './request.ts'
import { STATE_WORDS, type StateMatch } from './state.ts'
import { USER_WORDS, type UserMatch } from './user.ts'
import { VERDICT_WORDS, type VerdictMatch } from './verdict.ts'
import type { GivenWord } from './word-test.ts'

/** The conditions of a rule but for a negation. */
export interface PlainMatch
  extends NetworkMatch,
    RequestMatch,
    ClaimMatch,
    VerdictMatch,
    CrawlerMatch,
    UserMatch,
    StateMatch {}

/**
 * The conditions of a rule. Members are joined by "and", the values of one member by "or"; an absent member matches all.
 * `crawler`, `operator`, `vendor` and `purpose` are what a request says of itself: a rule that allows matches them only
 * where that is proven, one that flags or blocks matches the bare claim.
 */
export interface Match extends PlainMatch {
  /** Conditions that must not hold, all together. */
  readonly not?: PlainMatch | undefined
}

/** Every word that a negation can have, in the order of options.md. */
export const PLAIN_WORDS = {
  ...NETWORK_WORDS,
  ...REQUEST_WORDS,
  ...CLAIM_WORDS,
  ...VERDICT_WORDS,
  ...CRAWLER_WORDS,
  ...USER_WORDS,
  ...STATE_WORDS,
} satisfies WordsOf<PlainMatch>

/** Has every word of a match as one row, so that type, test, schema and robots.txt cannot differ. */
export const MATCH_WORDS = {
  ...PLAIN_WORDS,
  not: negation<PlainMatch>((match) => listWords(match, PLAIN_WORDS), { path: ['/health'] }),
} satisfies WordsOf<Match>

/** The words that a match has, as they are written. */
export function givenWords(match: Match): readonly GivenWord[] {
  return listWords(match, MATCH_WORDS)
}

function listWords(match: object, rows: Readonly<Record<string, MatchWord<unknown>>>): readonly GivenWord[] {
  return Object.entries(match).flatMap(([name, value]) => {
    const word = Object.hasOwn(rows, name) ? rows[name] : undefined
    return value === undefined || word === undefined ? [] : [{ name, value, word }]
  })
}
