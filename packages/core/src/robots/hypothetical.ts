import { readAgentFields } from '../agent/fields.ts'
import { createAgentJudge } from '../agent/judge.ts'
import type { SignatureFinding } from '../agent/signature/finding.ts'
import { createUserAgentReader } from '../agent/user-agent.ts'
import { type Catalogue, type Crawler, createCatalogue } from '../crawler/catalogue.ts'
import { NOTHING_KNOWN } from '../network/classify.ts'
import type { InspectedCrawler, Inspection } from '../values/inspection.ts'

/** Returns the inspection of a crawler's GET of a path as if all its claims were true; nothing is known of its network. */
export type CrawlerInspection = (path: string) => Inspection

/** A crawler that no catalogue lists; its user agent says what it is. */
const UNKNOWN = 'UnknownBot/1.0 (+https://bot.example/about)'

/** `undefined` means a crawler that is not in the catalogue. */
export function inspectCrawler(
  crawler: Crawler | undefined,
  catalogue: Catalogue = createCatalogue(),
): CrawlerInspection {
  const claimed = crawler && claimCrawler(crawler)
  const signature = crawler && assumeSignature(crawler)
  const agent = createAgentJudge().judge({
    address: '',
    network: NOTHING_KNOWN,
    allowlisted: false,
    inside: false,
    raw: [],
    fields: readAgentFields([]),
    method: 'GET',
    httpVersion: '',
    headersKnown: false,
    https: false,
    direct: false,
    userAgent: crawler === undefined ? createUserAgentReader(catalogue).read(UNKNOWN) : undefined,
    crawler: claimed,
    signature,
  })
  return (path) => ({
    at: '',
    peer: '',
    client: { address: '', via: 'none', malformed: false },
    request: { method: 'GET', path },
    network: NOTHING_KNOWN,
    ...(claimed && { crawler: claimed }),
    agent,
    degraded: [],
  })
}

function claimCrawler({ slug, name, operator, purpose, ...checks }: Crawler): InspectedCrawler {
  const provable = checks.ranges !== undefined || checks.names.length > 0 || checks.exclusive
  const outcome = provable ? 'verified' : 'unverifiable'
  return { slug, name, operator, purpose, outcome, pending: false, summary: '' }
}

/** A signature proves a crawler that signs and that nothing else can prove. */
function assumeSignature(crawler: Crawler): SignatureFinding | undefined {
  if (crawler.agent === undefined || claimCrawler(crawler).outcome === 'verified') return undefined
  return { outcome: 'verified', agent: crawler.agent, forged: false, crawler, detail: '' }
}
