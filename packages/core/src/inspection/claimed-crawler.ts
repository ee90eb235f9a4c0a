import type { Address } from '../address/address.ts'
import type { Crawler } from '../crawler/catalogue.ts'
import { type CrawlerOutcome, methodOf } from '../crawler/outcome.ts'
import { summaryOf } from '../crawler/summary.ts'
import { type CrawlerVerifier, type Verification, withoutAddress } from '../crawler/verifier.ts'
import type { NetworkFinding } from '../network/finding.ts'
import type { Snapshot } from '../ports.ts'

/** The crawler that a request's user agent claims to be, and what came of the claim. */
export interface InspectedCrawler {
  readonly slug: string
  readonly name: string
  readonly operator: string
  readonly purpose: Crawler['purpose']
  readonly outcome: CrawlerOutcome
  /** The checks that decided, by their names; absent when none did. */
  readonly method?: string
  /** True at the first sight of an address: DNS is asked in the background, and the next request has the outcome. */
  readonly pending: boolean
  /** One sentence for a person. */
  readonly summary: string
}

/** A claim and its outcome, from memory. */
export function claimedCrawlerOf(
  verifier: CrawlerVerifier,
  crawler: Crawler,
  address: Address | undefined,
  finding: NetworkFinding,
  snapshot: Snapshot,
): InspectedCrawler {
  return inspectedCrawler(
    address === undefined ? withoutAddress(crawler) : verifier.look(crawler, { address, finding, snapshot }),
  )
}

/** What came of a claim, as an inspection tells it. */
export function inspectedCrawler(verification: Verification): InspectedCrawler {
  const { slug, name, operator, purpose } = verification.crawler
  const method = methodOf(verification.judgement)
  return Object.freeze({
    slug,
    name,
    operator,
    purpose,
    outcome: verification.judgement.outcome,
    ...(method !== undefined && { method }),
    pending: verification.pending,
    summary: summaryOf(verification),
  })
}
