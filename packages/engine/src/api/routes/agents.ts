import { type AgentVerdict, type Decision, type DescribedRequest, plainAction } from '@sallyport/core'
import { CLIENT_LIMITS } from '../client-limits.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  AgentscanCheckRequest,
  AgentscanCheckResponse,
  CrawlerVerifyRequest,
  CrawlerVerifyResponse,
} from '../schemas/agents.ts'
import { readAddress } from './address.ts'
import { nameAsker } from './asker.ts'

const RULE =
  'The response lists every check. `spoofed` means that every check that could run refuted the claim; while the file ' +
  'of an operator is missing, no claim to be its crawler is `spoofed`. `unverifiable` accuses nobody.'

export const crawlersVerify = verifyRoute('/v1/crawlers/verify', {
  access: { kind: 'client', limit: CLIENT_LIMITS.crawlerVerify, badRequests: CLIENT_LIMITS.crawlerVerifyBad },
  operationId: 'verifyCrawler',
  summary: 'Verify a crawler without a key.',
  description:
    `${RULE} Calls that fail with 400 or 413 have a limit of their own, ${CLIENT_LIMITS.crawlerVerifyBad.max} an ` +
    'hour; calls above it fail with 429. The headers of a response describe the limit that the call counts against.',
  errors: [400, 429, 500],
})

export const agentscanVerify = verifyRoute('/v1/agentscan/verify', {
  access: { kind: 'key', metered: true },
  operationId: 'agentscanVerify',
  summary: 'Verify a crawler; the call counts against the quota of the account.',
  description: RULE,
  errors: [400, 401, 429, 500],
})

/** Makes both routes, which have one request and one response; they differ in access and limit. */
function verifyRoute(path: string, row: Pick<Route, 'access' | 'operationId' | 'summary' | 'description' | 'errors'>) {
  return defineRoute('POST', path, {
    ...row,
    example: { path, body: { ip: '66.249.66.1', bot: 'googlebot' } },
    tag: 'Crawlers',
    body: CrawlerVerifyRequest,
    response: CrawlerVerifyResponse,
    answer: 'The result, and the checks that it rests on.',
    check({ body }, { services }) {
      readAddress(body.ip)
      services.crawlers.check(readClaim(body))
    },
    handle: ({ body }, context) =>
      context.services.crawlers.verify(readAddress(body.ip), readClaim(body), nameAsker(context)),
  })
}

function readClaim({ bot, user_agent }: CrawlerVerifyRequest) {
  return { bot, userAgent: user_agent }
}

export const agentscanCheck = defineRoute('POST', '/v1/agentscan/check', {
  example: { path: '/v1/agentscan/check', body: { ip: '5.9.10.20', user_agent: 'curl/8.5.0', request_id: 'order-7' } },
  access: { kind: 'key', metered: true },
  operationId: 'agentscanCheck',
  tag: 'Agents',
  summary: 'Classify the sender of a request, and decide by the policy.',
  description:
    '`class` is `human`, `ai_agent`, `verified_crawler`, `impostor`, or `unverified_bot` for a program without a claim ' +
    'that can be verified. `action` is what the configured policy decides for a GET of `/`, also in monitor mode. ' +
    'The service keeps nothing of the request except its line in the decision log, which has the `request_id`.',
  errors: [400, 401, 429, 500],
  body: AgentscanCheckRequest,
  response: AgentscanCheckResponse,
  answer: 'The verdict, and the signals that it rests on.',
  async handle({ body }, { services }) {
    const decision = await services.check(readAddress(body.ip), buildRequest(body))
    services.onChecked?.(decision)
    return buildResponse(decision, body)
  },
})

function buildRequest({
  request_id,
  user_agent,
  headers,
  ja4,
  headless_flags,
}: AgentscanCheckRequest): DescribedRequest {
  const sent = Object.entries(headers ?? {})
  // `user_agent` wins over the header of that name.
  const fields = user_agent === undefined ? sent : [['User-Agent', user_agent], ...sent.filter(isNotUserAgent)]
  return {
    fields: fields.flat(),
    headersKnown: headers !== undefined,
    id: request_id,
    ja4,
    ...(headless_flags !== undefined && { headlessFlags: listNames(headless_flags) }),
  }
}

function isNotUserAgent([name]: readonly [string, string]): boolean {
  return name.toLowerCase() !== 'user-agent'
}

function listNames(flags: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.entries(flags).flatMap(([name, seen]) => (seen ? [name] : []))
}

function buildResponse({ action, inspection }: Decision, body: AgentscanCheckRequest): AgentscanCheckResponse {
  const { agent, network } = inspection
  const { identity } = agent
  return {
    class: agent.class,
    confidence: agent.confidence,
    action: plainAction(action),
    signals: {
      network_origin: network.verdict.classification,
      anonymized: network.verdict.anonymized,
      headless: agent.headless,
      headless_flags: body.headless_flags ?? null,
      header_consistency: agent.headerConsistency ?? null,
      ai_crawler: agent.ai !== undefined,
      ai_ident: agent.ai?.name ?? null,
      ai_vendor: agent.ai?.vendor ?? null,
      allowlist_type: identity?.type ?? null,
      allowlist_verified: identity?.verified ?? false,
      ja4: body.ja4 ?? null,
      reasons: listReasons(agent),
    },
  }
}

function listReasons({ reasons }: AgentVerdict) {
  return reasons.map(({ id, weight, text }) => ({ id, weight, text }))
}
