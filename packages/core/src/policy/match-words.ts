import { CRAWLER_WORDS, type CrawlerMatch } from './match-crawler.ts'
import { NETWORK_WORDS, type NetworkMatch } from './match-network.ts'
import { REQUEST_WORDS, type RequestMatch } from './match-request.ts'
import { USER_WORDS, type UserMatch } from './match-user.ts'
import { VERDICT_WORDS, type VerdictMatch } from './match-verdict.ts'
import type { MatchWord, WordsOf } from './match-word.ts'

/**
 * The conditions of a rule. Members are joined by "and", the values of one member by "or"; an absent member matches all.
 * `crawler`, `operator`, `vendor` and `purpose` are what a request says of itself: a rule that allows matches them only
 * where that is proven, one that flags or blocks matches the bare claim.
 */
export interface Match extends NetworkMatch, RequestMatch, VerdictMatch, CrawlerMatch, UserMatch {}

/** Every word of a match, in the order of options.md (D336). */
export const MATCH_WORDS = {
  ...NETWORK_WORDS,
  ...REQUEST_WORDS,
  ...VERDICT_WORDS,
  ...CRAWLER_WORDS,
  ...USER_WORDS,
} satisfies WordsOf<Match>

/** A word that a match has. */
interface GivenWord {
  readonly name: string
  readonly value: unknown
  readonly word: MatchWord<unknown>
}

/** The words that a match has, as they are written. */
export function givenWords(match: Match): readonly GivenWord[] {
  return Object.entries(match).flatMap(([name, value]) => {
    if (value === undefined || !Object.hasOwn(MATCH_WORDS, name)) return []
    return [{ name, value, word: MATCH_WORDS[name as keyof Match] }]
  })
}
