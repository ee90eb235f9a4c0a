import type { Address } from '../address/address.ts'
import type { Snapshot } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { InspectedCrawler } from '../values/inspection.ts'
import type { Crawler } from './catalogue.ts'
import { findMethod } from './outcome.ts'
import { summarise } from './summary.ts'
import { type CrawlerVerifier, type Verification, withoutAddress } from './verifier.ts'

/** Verifies a claim from memory. */
export function inspectedClaim(
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

/** Describes the outcome of a claim, as inspections show it. */
export function inspectedCrawler(verification: Verification): InspectedCrawler {
  const { slug, name, operator, purpose } = verification.crawler
  const method = findMethod(verification.judgement)
  const listed = verification.judgement.outcome === 'verified' ? verification.judgement.decidedBy.listed : undefined
  return Object.freeze({
    slug,
    name,
    operator,
    purpose,
    outcome: verification.judgement.outcome,
    ...(method !== undefined && { method }),
    ...listed,
    ...(verification.foreign && { forged: true }),
    pending: verification.pending,
    summary: summarise(verification),
  })
}
