import type { ClientTrust } from '../address/client.ts'
import { namedScheme } from '../address/client-scheme.ts'
import { carriesForwarding } from '../address/forwarding.ts'
import { type AgentFields, readAgentFields } from '../agent/fields.ts'
import { parseJa4 } from '../agent/ja4.ts'
import { createAgentJudge } from '../agent/judge.ts'
import type { SignatureFinding } from '../agent/signature/finding.ts'
import type { SignatureVerifier } from '../agent/signature/verifier.ts'
import { createUserAgentReader } from '../agent/user-agent.ts'
import { createCatalogue } from '../crawler/catalogue.ts'
import { inspectedClaim, inspectedCrawler } from '../crawler/inspected-crawler.ts'
import type { CrawlerVerifier } from '../crawler/verifier.ts'
import { isInternal } from '../network/inside.ts'
import type { CompiledPolicy } from '../policy/compile/compile-policy.ts'
import type { AskedParts } from '../policy/language/asked.ts'
import type { Snapshot } from '../ports/index.ts'
import type { AgentVerdict } from '../values/agent-verdict.ts'
import type { InspectedPass } from '../values/challenge.ts'
import type { InspectedCrawler } from '../values/inspection.ts'
import type { InspectionRequest } from '../values/request.ts'
import { createRequestFingerprints, type RequestFingerprint } from './request-fingerprint.ts'
import type { Visitor } from './visitor.ts'

/** A request that did not come here, as a caller describes it: what is absent is not known, which is no sign of anything. */
export interface DescribedRequest {
  /** The caller's name for it; the decision's `id`. */
  readonly id?: string | undefined
  /** Raw fields, name and value by turns; the user agent among them where it is known. */
  readonly fields: readonly string[]
  /** Whether the headers are known, rather than at most the user agent. */
  readonly headersKnown: boolean
  /** Default GET of `/`, as far as the policy goes. */
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly ja4?: string | undefined
  /** When it was, in milliseconds since the epoch; absent: now. For rules about hours: data and keys are today's. */
  readonly at?: number | undefined
  readonly pass?: InspectedPass | undefined
  /** Headless traits that the caller saw in the browser. */
  readonly headlessFlags?: readonly string[] | undefined
  /** As rules read it, where that is more than the rest says; the decision then names those that it leaves open. */
  readonly asked?: AskedParts | undefined
}

/** The agent, and the crawler that was claimed. */
export interface AgentResult {
  readonly agent: AgentVerdict
  readonly crawler: InspectedCrawler | undefined
  /** A request of the same visitor with this fingerprint has the same result; absent where each must be looked at. */
  readonly fingerprint: RequestFingerprint | undefined
}

export interface AgentInspector {
  /** From memory alone. The fingerprint is made where it is asked for. */
  look(request: InspectionRequest, visitor: Visitor, snapshot: Snapshot, withFingerprint: boolean): AgentResult
  /** Whether the user agent begins as one of a browser: the applications and devices of people begin otherwise. */
  namesBrowser(request: InspectionRequest): boolean
  check(described: DescribedRequest, visitor: Visitor, snapshot: Snapshot): Promise<AgentResult>
}

export interface AgentInspectorOptions {
  readonly policy: CompiledPolicy
  readonly trust: ClientTrust
  readonly crawlers?: CrawlerVerifier | undefined
  readonly signatures?: SignatureVerifier | undefined
}

export function createAgentInspector({ policy, trust, crawlers, signatures }: AgentInspectorOptions): AgentInspector {
  const userAgents = createUserAgentReader(crawlers?.catalogue ?? createCatalogue())
  const { judge } = createAgentJudge()
  const fingerprints = createRequestFingerprints()
  const signatureOf = createSignatureReader(signatures)

  function isAllowlisted({ address }: Visitor): boolean {
    return address !== undefined && policy.allowlist?.has(address) === true
  }

  return {
    look(request, visitor, snapshot, withFingerprint) {
      const fields = readAgentFields(request.fields)
      const userAgent = userAgents.read(fields.userAgent)
      const inside = isInside(visitor, fields, request.fields)
      const claimed = crawlers && (inside ? undefined : userAgent?.crawler)
      const { address, client, network } = visitor
      const trusted = client.via === 'header'
      const named = namedScheme(request, trust)
      const signed = fields.signature || fields.signatureInput
      const crawler = claimed && inspectedClaim(crawlers, claimed, address, network, snapshot)
      const agent = judge({
        address: client.address,
        network,
        allowlisted: isAllowlisted(visitor),
        inside,
        fields,
        userAgent,
        raw: request.fields,
        method: request.method,
        target: request.target,
        httpVersion: request.httpVersion,
        ja4: request.ja4 === undefined ? undefined : parseJa4(request.ja4),
        http2Window: request.http2Window,
        headersKnown: true,
        https: isHttps(request, fields, named, trusted),
        direct: !fields.forwarded,
        crawler,
        signature: signed ? signatureOf(request, trusted, named) : undefined,
        headlessFlags: undefined,
      })
      // The proof or disproof of a claim changes from one request to the next.
      // Only the target tells what Android's own player and download manager fetch.
      const byTarget = userAgent?.platform === 'android' && fields.accept === undefined
      const lasting = claimed === undefined && !signed && !byTarget
      const kept = lasting && withFingerprint ? fingerprints.of(request, fields.userAgent ?? '') : undefined
      return { agent, crawler, fingerprint: kept }
    },
    namesBrowser: ({ fields }) => userAgents.read(readAgentFields(fields).userAgent)?.family !== undefined,
    async check({ fields: raw, headersKnown, method = '', target, ja4, headlessFlags }, visitor, snapshot) {
      const fields = readAgentFields(raw)
      const userAgent = userAgents.read(fields.userAgent)
      const inside = isInside(visitor, fields, raw)
      const claimed = crawlers && (inside ? undefined : userAgent?.crawler)
      const { address, client, network } = visitor
      const verification =
        claimed && address && (await crawlers.verify(claimed, { address, finding: network, snapshot }))
      const crawler = verification && inspectedCrawler(verification)
      const signed = fields.signature || fields.signatureInput
      const agent = judge({
        address: client.address,
        network,
        allowlisted: isAllowlisted(visitor),
        inside,
        fields,
        userAgent,
        raw,
        method,
        target,
        httpVersion: '',
        ja4: ja4 === undefined ? undefined : parseJa4(ja4),
        http2Window: undefined,
        headersKnown,
        https: false,
        direct: false,
        crawler,
        signature: signed ? signatures?.lookAtDescribed(raw) : undefined,
        headlessFlags,
      })
      return { agent, crawler, fingerprint: undefined }
    },
  }
}

/** Findings of signatures. Several policies may decide about one request, and its nonce is good for one look. */
function createSignatureReader(signatures: SignatureVerifier | undefined) {
  const verified = new WeakMap<InspectionRequest, SignatureFinding>()
  return (request: InspectionRequest, trusted: boolean, named: NamedScheme): SignatureFinding | undefined => {
    const scheme = named ?? request.scheme
    const finding = verified.get(request) ?? signatures?.look({ ...request, trusted, scheme })
    if (finding?.outcome === 'verified') verified.set(request, finding)
    return finding
  }
}

/**
 * Whether a client is at an internal address of its own. A peer there that passes on what others sent is a proxy that
 * nobody named, and a header of a trusted proxy that cannot be read names nobody.
 */
function isInside({ client, network }: Visitor, { forwarded }: AgentFields, raw: readonly string[]): boolean {
  if (!isInternal(network.reserved) || client.malformed) return false
  return client.via === 'header' || !(forwarded || carriesForwarding(raw))
}

type NamedScheme = ReturnType<typeof namedScheme>

/** Whether the visitor came over https: a trusted proxy says so, else the socket where no proxy is in front. */
function isHttps(
  { scheme }: InspectionRequest,
  { forwarded }: AgentFields,
  named: NamedScheme,
  trusted: boolean,
): boolean {
  if (named !== undefined || trusted) return named === 'https'
  return scheme === 'https' && !forwarded
}
