import { type Address, formatAddress } from '../address/address.ts'
import { SallyportError } from '../errors.ts'
import { findCountry } from '../geo/find-country.ts'
import { classify } from '../network/classify.ts'
import type { Clock, Snapshots } from '../ports/index.ts'
import type { NetworkClass } from '../vocabulary.ts'
import type { Catalogue, Crawler } from './catalogue.ts'
import { CHECK_NAMES, type Check, findMethod, type Spoofed, type Unverifiable, type Verified } from './outcome.ts'
import { summarise } from './summary.ts'
import type { CrawlerVerifier, Verification } from './verifier.ts'

/** A caller claims a crawler by the catalogue's slug, by the user agent of a log line, or by both. */
export interface Claim {
  readonly bot?: string | undefined
  readonly userAgent?: string | undefined
}

/** Pairs the outcome with its checks: an accusation has no room for a check that could not run here either. */
export type CrawlerRuling = Pick<Spoofed, 'outcome' | 'checks'> | Pick<Verified | Unverifiable, 'outcome' | 'checks'>

/** Answers a verification (specification: CrawlerVerifyResponse). Unknown members are left out. */
export type CrawlerAnswer = CrawlerFacts & CrawlerRuling

interface CrawlerFacts {
  readonly ip: string
  readonly slug?: string | undefined
  readonly crawler?: string | undefined
  readonly userAgent?: string | undefined
  /** Names the checks that decided; left out when none did. */
  readonly method?: string | undefined
  readonly summary: string
  readonly networkOrigin: NetworkClass
  readonly anonymized: boolean
  readonly asn?: string | undefined
  readonly asnName?: string | undefined
  readonly country?: string | undefined
  readonly hostname?: string | undefined
  readonly docs?: string | undefined
  readonly checkedAt: string
}

export type CrawlerAnswers = ReturnType<typeof createCrawlerAnswers>

const NO_CLAIM: readonly Check[] = CHECK_NAMES.map((name) => ({
  name,
  status: 'not-applicable',
  detail: 'The user agent names no crawler.',
}))

/** Verifies claims for `POST /v1/crawlers/verify` and `POST /v1/agentscan/verify`. */
export function createCrawlerAnswers(
  verifier: CrawlerVerifier,
  { clock, snapshots }: { readonly clock: Clock; readonly snapshots: Snapshots },
) {
  return {
    /** Throws `unknown_crawler` or `claim_mismatch` for a claim that cannot be verified; it sends no request. */
    check(claim: Claim): void {
      claimedCrawler(claim, verifier.catalogue)
    },
    /** Rejects as `check` throws; a check that could not run is in the answer. `asker` is the requesting client. */
    async verify(address: Address, claim: Claim, asker?: string): Promise<CrawlerAnswer> {
      const crawler = claimedCrawler(claim, verifier.catalogue)
      const snapshot = snapshots.current()
      const finding = classify(address, snapshot)
      const { classification, anonymized } = finding.verdict
      const country = findCountry(address, finding, snapshot)?.code
      const verification =
        crawler === undefined ? undefined : await verifier.verify(crawler, { address, finding, snapshot }, asker)
      return {
        ip: formatAddress(address),
        ...(crawler !== undefined && { slug: crawler.slug, crawler: crawler.name }),
        userAgent: claim.userAgent,
        ...(verification === undefined ? UNCLAIMED : describeOutcome(verification)),
        networkOrigin: classification,
        anonymized,
        ...(finding.asn !== undefined && { asn: `AS${finding.asn}` }),
        ...(finding.asName !== undefined && { asnName: finding.asName }),
        ...(country !== undefined && { country }),
        ...(verification?.hostname !== undefined && { hostname: verification.hostname }),
        ...(crawler?.docs !== undefined && { docs: crawler.docs }),
        checkedAt: new Date(clock.now()).toISOString(),
      }
    },
  }
}

const UNCLAIMED = {
  outcome: 'unverifiable',
  summary: 'The user agent names no crawler of the catalogue, so there is no claim to check.',
  checks: NO_CLAIM,
} as const

function describeOutcome(verification: Verification) {
  const { judgement } = verification
  const method = findMethod(judgement)
  const reason = { method, summary: summarise(verification) }
  // Both branches are alike: the compiler has to see which outcome the checks belong to.
  return judgement.outcome === 'spoofed'
    ? { outcome: judgement.outcome, ...reason, checks: judgement.checks }
    : { outcome: judgement.outcome, ...reason, checks: judgement.checks }
}

/**
 * Returns the claimed crawler; `undefined` when only a user agent is given and it names none. Such a user agent does not contradict `bot`:
 * some agents send a browser's. Throws `unknown_crawler` and `claim_mismatch`.
 */
export function claimedCrawler({ bot, userAgent }: Claim, catalogue: Catalogue): Crawler | undefined {
  const named = userAgent === undefined ? undefined : catalogue.findClaim(userAgent)
  if (bot === undefined) return named
  const crawler = catalogue.find(bot)
  if (crawler === undefined) throw new SallyportError('unknown_crawler', `No crawler "${bot.slice(0, 100)}".`)
  if (named !== undefined && named !== crawler) {
    throw new SallyportError('claim_mismatch', `The user agent names "${named.slug}", \`bot\` says "${crawler.slug}".`)
  }
  return crawler
}
