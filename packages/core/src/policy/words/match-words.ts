import { ACCOUNT_WORDS } from './account.ts'
import { BEHAVIOUR_WORDS } from './behaviour.ts'
import { CLAIM_WORDS } from './claims.ts'
import { CRAWLER_WORDS } from './crawler.ts'
import type { MatchFields, MatchWord } from './match-word.ts'
import { MCP_WORDS } from './mcp.ts'
import { NETWORK_WORDS } from './network.ts'
import { negation } from './not.ts'
import { REGION_WORDS } from './region.ts'
import { REQUEST_WORDS } from './request.ts'
import { STATE_WORDS } from './state.ts'
import { USER_WORDS } from './user.ts'
import { VERDICT_WORDS } from './verdict.ts'
import type { GivenWord } from './word-test.ts'

/** Lists every word that a negation can have, in the order of options.md. */
export const PLAIN_WORDS = {
  ...NETWORK_WORDS,
  ...REGION_WORDS,
  ...REQUEST_WORDS,
  ...CLAIM_WORDS,
  ...MCP_WORDS,
  ...VERDICT_WORDS,
  ...BEHAVIOUR_WORDS,
  ...CRAWLER_WORDS,
  ...USER_WORDS,
  ...STATE_WORDS,
  ...ACCOUNT_WORDS,
}

/** Holds the conditions of a rule but for a negation. */
export interface PlainMatch
  extends MatchFields<typeof NETWORK_WORDS>,
    MatchFields<typeof REGION_WORDS>,
    MatchFields<typeof REQUEST_WORDS>,
    MatchFields<typeof CLAIM_WORDS>,
    MatchFields<typeof MCP_WORDS>,
    MatchFields<typeof VERDICT_WORDS>,
    MatchFields<typeof BEHAVIOUR_WORDS>,
    MatchFields<typeof CRAWLER_WORDS>,
    MatchFields<typeof USER_WORDS>,
    MatchFields<typeof STATE_WORDS>,
    MatchFields<typeof ACCOUNT_WORDS> {}

/** Has every word of a match as one row, so that type, test, schema and robots.txt cannot differ. */
export const MATCH_WORDS = {
  ...PLAIN_WORDS,
  not: negation<PlainMatch>((match) => listWords(match, PLAIN_WORDS), { path: ['/health'] }),
}

/**
 * Holds the conditions of a rule. Members are joined by "and", the values of one member by "or"; an absent member matches all. Requests
 * claim `crawler`, `operator`, `vendor` and `purpose` themselves: a rule that allows matches only proven ones, a rule that flags or blocks
 * matches the bare claim.
 */
export interface Match extends PlainMatch {
  /** Holds conditions that must not hold, all together. */
  readonly not?: PlainMatch | undefined
}

export function isAboutEvents({ event, mail, account }: Match): boolean {
  return event !== undefined || mail !== undefined || account !== undefined
}

/** Lists the words that a match has, as they are written. */
export function givenWords(match: Match): readonly GivenWord[] {
  return listWords(match, MATCH_WORDS)
}

function listWords(match: object, rows: Readonly<Record<string, MatchWord<unknown>>>): readonly GivenWord[] {
  return Object.entries(match).flatMap(([name, value]) => {
    const word = Object.hasOwn(rows, name) ? rows[name] : undefined
    return value === undefined || word === undefined ? [] : [{ name, value, word }]
  })
}
