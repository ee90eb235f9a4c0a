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
import type { InspectedPass } from '../values/challenge.ts'
import type { McpRequest } from '../values/mcp.ts'
import type { InspectionRequest } from '../values/request.ts'
import { type AgentResult, createRequestFingerprints, type Visitor } from './visits.ts'

/** Describes a request that a caller saw elsewhere. Absent members are unknown, which is evidence of nothing. */
export interface DescribedRequest {
  /** The caller's name for the request becomes the decision's `id`. */
  readonly id?: string | undefined
  /** Raw fields are names and values by turns, with the user agent where it is known. */
  readonly fields: readonly string[]
  /** True where the headers are known, rather than at most the user agent. */
  readonly headersKnown: boolean
  /** Policies read a missing method and target as a GET of `/`. */
  readonly method?: string | undefined
  readonly target?: string | undefined
  readonly ja4?: string | undefined
  /** The request was sent then, in milliseconds since the epoch; default now. Only rules about hours read it: data and keys are today's. */
  readonly at?: number | undefined
  readonly pass?: InspectedPass | undefined
  readonly mcp?: McpRequest | undefined
  /** The caller saw these headless traits in the browser. */
  readonly headlessFlags?: readonly string[] | undefined
  /** Overrides what rules read of the request; the decision then names the rules that these parts leave open. */
  readonly asked?: AskedParts | undefined
}

export interface AgentInspectorOptions {
  readonly policy: CompiledPolicy
  readonly trust: ClientTrust
  readonly crawlers?: CrawlerVerifier | undefined
  readonly signatures?: SignatureVerifier | undefined
}

const CONNECTION_UNKNOWN = { httpVersion: '', http2Window: undefined, https: false, direct: false } as const

export function createAgentInspector({ policy, trust, crawlers, signatures }: AgentInspectorOptions) {
  const userAgents = createUserAgentReader(crawlers?.catalogue ?? createCatalogue())
  const { judge, withBehaviour } = createAgentJudge()
  const fingerprints = createRequestFingerprints()
  const readSignature = createSignatureReader(signatures)

  return {
    /** Inspects a request from memory. It makes a fingerprint only on demand. */
    look(request: InspectionRequest, visitor: Visitor, snapshot: Snapshot, withFingerprint: boolean): AgentResult {
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
        allowlisted: isAllowlisted(visitor, policy),
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
        signature: signed ? readSignature(request, trusted, named) : undefined,
      })
      // A claim is proven or disproved from one request to the next. Only the target shows what Android's own player and download manager
      // fetch.
      const byTarget = userAgent?.platform === 'android' && fields.accept === undefined
      const lasting = claimed === undefined && !signed && !byTarget
      const kept = lasting && withFingerprint ? fingerprints.of(request, fields.userAgent ?? '') : undefined
      return { agent, crawler, fingerprint: kept }
    },
    /** Adds the signs of a client's behaviour to a verdict. */
    withBehaviour,
    /** Reports whether the user agent begins as a browser's: people's applications and devices begin otherwise. */
    namesBrowser: ({ fields }: InspectionRequest) =>
      userAgents.read(readAgentFields(fields).userAgent)?.family !== undefined,
    async check(described: DescribedRequest, visitor: Visitor, snapshot: Snapshot): Promise<AgentResult> {
      const { fields: raw, headersKnown, method = '', target, ja4, headlessFlags } = described
      const fields = readAgentFields(raw)
      const userAgent = userAgents.read(fields.userAgent)
      const inside = isInside(visitor, fields, raw)
      const claimed = crawlers && (inside ? undefined : userAgent?.crawler)
      const { address, client, network } = visitor
      const verification =
        claimed && address && (await crawlers.verify(claimed, { address, finding: network, snapshot }))
      const crawler = verification && inspectedCrawler(verification)
      const agent = judge({
        ...CONNECTION_UNKNOWN,
        address: client.address,
        network,
        allowlisted: isAllowlisted(visitor, policy),
        inside,
        fields,
        userAgent,
        raw,
        method,
        target,
        ja4: ja4 === undefined ? undefined : parseJa4(ja4),
        headersKnown,
        crawler,
        signature: fields.signature || fields.signatureInput ? signatures?.lookAtDescribed(raw) : undefined,
        headlessFlags,
      })
      return { agent, crawler, fingerprint: undefined }
    },
  }
}

function isAllowlisted({ address }: Visitor, { allowlist }: CompiledPolicy): boolean {
  return address !== undefined && allowlist?.has(address) === true
}

/** Reads findings of signatures. Several policies may decide one request, and its nonce is good for one look. */
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
 * Reports whether a client is at an internal address of its own. A peer there that forwards is a proxy that the configuration does not
 * name, and an unreadable header of a trusted proxy names no client.
 */
function isInside({ client, network }: Visitor, { forwarded }: AgentFields, raw: readonly string[]): boolean {
  if (!isInternal(network.reserved) || client.malformed) return false
  return client.via === 'header' || !(forwarded || carriesForwarding(raw))
}

type NamedScheme = ReturnType<typeof namedScheme>

/** Reports whether the visitor came over https: by a trusted proxy's word, else by the socket where no proxy stands in front. */
function isHttps(
  { scheme }: InspectionRequest,
  { forwarded }: AgentFields,
  named: NamedScheme,
  trusted: boolean,
): boolean {
  if (named !== undefined || trusted) return named === 'https'
  return scheme === 'https' && !forwarded
}
