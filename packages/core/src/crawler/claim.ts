import { SallyportError } from '../errors.ts'
import type { Catalogue, Crawler } from './catalogue.ts'

/** How a claim is put to the API: by the catalogue's slug, by the user agent of a log line, or both. */
export interface Claim {
  readonly bot?: string | undefined
  readonly userAgent?: string | undefined
}

/**
 * The crawler that is claimed; `undefined` when only a user agent is given and it names none. A user agent that names
 * none does not contradict `bot`: some agents carry a browser's. Throws `unknown_crawler` and `claim_mismatch`.
 */
export function claimedCrawler({ bot, userAgent }: Claim, catalogue: Catalogue): Crawler | undefined {
  const named = userAgent === undefined ? undefined : catalogue.claimOf(userAgent)
  if (bot === undefined) return named
  const asked = catalogue.find(bot)
  if (asked === undefined) throw new SallyportError('unknown_crawler', `No crawler "${bot.slice(0, 100)}".`)
  if (named !== undefined && named !== asked) {
    throw new SallyportError('claim_mismatch', `The user agent names "${named.slug}", \`bot\` says "${asked.slug}".`)
  }
  return asked
}
