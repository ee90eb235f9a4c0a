import { type AgentFields, readAgentFields } from '../agent/fields.ts'
import { parseJa4 } from '../agent/ja4.ts'
import { type AgentEvidence, createAgentJudge } from '../agent/judge.ts'
import type { SignatureVerifier } from '../agent/signature/verifier.ts'
import { createUserAgentReader } from '../agent/user-agent.ts'
import { createCatalogue } from '../crawler/catalogue.ts'
import { claimedCrawlerOf, inspectedCrawler } from '../crawler/claimed-crawler.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import type { CompiledPolicy } from '../policy/compile.ts'
import type { Snapshot } from '../ports.ts'
import type { InspectionRequest } from '../values/request.ts'
import { type Asks, asksAgain, createShownRequests, keepLook } from './last-look.ts'
import type { Visitor } from './visitors.ts'

/** A request as somebody tells of it: what it lacks was not told, which is no sign of anything. */
export interface ToldOf {
  /** Raw fields, name and value by turns; the user agent among them where it is known. */
  readonly fields: readonly string[]
  /** Whether the headers were told, rather than at most the user agent. */
  readonly headersKnown: boolean
  /** Default GET of `/`, as far as the policy goes. */
  readonly method?: string
  readonly target?: string
  readonly ja4?: string
  /** When it was, in milliseconds since the epoch; absent: now. For rules about hours: data and keys are today's. */
  readonly at?: number
  /** Headless traits that the caller saw in the browser. */
  readonly headlessFlags?: readonly string[]
}

export interface AgentInspector {
  /** From memory alone. */
  look(request: InspectionRequest, visitor: Visitor, snapshot: Snapshot): Asks
  check(told: ToldOf, visitor: Visitor, snapshot: Snapshot): Promise<Asks>
}

export interface AgentInspectorOptions {
  readonly policy: CompiledPolicy
  readonly crawlers?: CrawlerVerifier
  readonly signatures?: SignatureVerifier
}

export function createAgentInspector({ policy, crawlers, signatures }: AgentInspectorOptions): AgentInspector {
  const userAgents = createUserAgentReader(crawlers?.catalogue ?? createCatalogue())
  const { judge } = createAgentJudge()
  const requests = createShownRequests()

  function isAllowlisted({ address }: Visitor): boolean {
    return address !== undefined && policy.allowlist?.has(address) === true
  }

  function asks(evidence: AgentEvidence): Asks {
    const agent = judge(evidence)
    return evidence.crawler === undefined ? { agent } : { agent, crawler: evidence.crawler }
  }

  return {
    look(request, visitor, snapshot) {
      const again = asksAgain(visitor, request)
      if (again !== undefined) return again
      const fields = readAgentFields(request.fields)
      const userAgent = userAgents.read(fields.userAgent)
      const claimed = crawlers && userAgent?.crawler
      const { address, client, network } = visitor
      const trusted = client.via === 'header'
      const signed = fields.signature || fields.signatureInput
      // One object, written out: this runs for every request.
      const looked = asks({
        address: client.address,
        network,
        allowlisted: isAllowlisted(visitor),
        fields,
        userAgent,
        raw: request.fields,
        method: request.method,
        httpVersion: request.httpVersion,
        ja4: request.ja4 === undefined ? undefined : parseJa4(request.ja4),
        headersKnown: true,
        https: isHttps(request, fields, trusted),
        direct: !fields.forwarded,
        crawler: claimed && claimedCrawlerOf(crawlers, claimed, address, network, snapshot),
        signature: signed ? signatures?.look({ ...request, trusted }) : undefined,
        headlessFlags: undefined,
      })
      // What is proven or disproved of a claim changes from one request to the next.
      if (visitor.remembered) {
        const proves = claimed !== undefined || signed
        keepLook(visitor, proves ? undefined : requests.of(request, fields.userAgent ?? ''), looked)
      }
      return looked
    },
    async check({ fields: raw, headersKnown, method = '', ja4, headlessFlags }, visitor, snapshot) {
      const fields = readAgentFields(raw)
      const userAgent = userAgents.read(fields.userAgent)
      const claimed = crawlers && userAgent?.crawler
      const { address, client, network } = visitor
      const verification =
        claimed && address && (await crawlers.verify(claimed, { address, finding: network, snapshot }))
      const signed = fields.signature || fields.signatureInput
      return asks({
        address: client.address,
        network,
        allowlisted: isAllowlisted(visitor),
        fields,
        userAgent,
        raw,
        method,
        httpVersion: '',
        ja4: ja4 === undefined ? undefined : parseJa4(ja4),
        headersKnown,
        https: false,
        direct: false,
        crawler: verification && inspectedCrawler(verification),
        signature: signed ? signatures?.told(raw) : undefined,
        headlessFlags,
      })
    },
  }
}

/** Whether the visitor came over https: a trusted proxy says so, else the socket where nothing stands before it. */
function isHttps({ scheme }: InspectionRequest, { forwarded, forwardedProto }: AgentFields, trusted: boolean): boolean {
  if (trusted) return forwardedProto === 'https'
  return scheme === 'https' && !forwarded
}
