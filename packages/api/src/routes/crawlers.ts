import { CLIENT_LIMITS } from '@sallyport/accounts'
import type { Access } from '../access.ts'
import { defineRoute } from '../route.ts'
import { CrawlerVerifyRequest, CrawlerVerifyResponse } from '../schemas/crawler-verify.ts'
import { addressOf } from './address.ts'

const RULE =
  'The answer lists every check. `spoofed` is said only where every check that could run did run and all refuted; an ' +
  'operator’s file that cannot be had makes it impossible. `unverifiable` is not a weaker form of it.'

export const crawlersVerify = verifyRoute({
  path: '/v1/crawlers/verify',
  access: { kind: 'client', limit: CLIENT_LIMITS.crawlerVerify },
  operationId: 'verifyCrawler',
  summary: 'Whether an address is the crawler it says it is, without a key.',
  errors: [400, 429, 500],
})

export const agentscanVerify = verifyRoute({
  path: '/v1/agentscan/verify',
  access: { kind: 'key', metered: true },
  operationId: 'agentscanVerify',
  summary: 'The same answer as `POST /v1/crawlers/verify`, counted against the account.',
  errors: [400, 401, 429, 500],
})

/** Two routes of one request and one response: they differ in who may ask and how often. */
function verifyRoute(row: {
  readonly path: string
  readonly access: Access
  readonly operationId: string
  readonly summary: string
  readonly errors: readonly number[]
}) {
  return defineRoute({
    ...row,
    method: 'POST',
    tag: 'Crawlers',
    description: RULE,
    body: CrawlerVerifyRequest,
    response: CrawlerVerifyResponse,
    answer: 'The outcome and the checks behind it.',
    handle({ body: { ip, bot, user_agent } }, { services }) {
      return services.crawlers.verify(addressOf(ip), {
        ...(bot !== undefined && { bot }),
        ...(user_agent !== undefined && { userAgent: user_agent }),
      })
    },
  })
}
