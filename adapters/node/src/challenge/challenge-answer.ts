import type { AskedFor, Challenges, Decision, Redeemed } from '@sallyport/core'
import { isNamed, refuses, SOLUTION_FIELD } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { refusal, refusedRequest, rendered } from '../answer/refusal.ts'
import type { ReceivedHead } from '../request/inspection-request.ts'
import type { ChallengePage, RequestHost } from '../request/request-host.ts'
import { challengeCookie, passCookie } from './cookies.ts'
import { askedAs } from './navigation.ts'
import { challengePage, isAgain, relative, withoutAgain } from './page.ts'

const PAGE: ChallengePage = { path: '/.sallyport', status: 403 }

/** Never kept, never found by a search engine, and another one for who brings a cookie. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'x-robots-tag': 'noindex' }

/** How long the cookie of a challenge is kept: as long as it can be answered. */
const CHALLENGE_SECONDS = 300

/**
 * The answer to a request that is asked, or that brings a solution: whatever that asks for, it is answered here, unless its
 * client is refused for another reason. `undefined` for any other request. D430
 */
export function askingAnswer(
  host: RequestHost,
  head: ReceivedHead,
  decision: Decision,
): ApiResponse | Promise<ApiResponse> | undefined {
  if (!isAsking(host, head, decision)) return undefined
  const solution = host.challenges && solutionOf(head)
  return solution === undefined ? challengeAnswer(host, head, decision) : solutionAnswer(host, head, solution, decision)
}

/** Whether a request has an answer of ours: it is asked, or brings a solution, and its client is not refused for another reason. */
export function isAsking(host: RequestHost, head: ReceivedHead, { action, enforced }: Decision): boolean {
  if (enforced && refuses(action)) return action === 'challenge'
  return host.challenges !== undefined && solutionOf(head) !== undefined
}

/**
 * The page that asks, where somebody looks at it; the wanted URL once more, with a pass, for who waited; else 403 in JSON
 * that says where the question is.
 */
function challengeAnswer(
  host: RequestHost,
  head: ReceivedHead,
  decision: Decision,
): ApiResponse | Promise<ApiResponse> {
  const { challenges } = host
  const { challenge: terms, inspection } = decision
  const as = askedAs(head, () => host.isBrowser?.(head) === true)
  if (challenges === undefined || terms === undefined || as === 'program') return forProgram(host, head)
  const asked = { terms, pass: inspection.pass }
  if (as === 'form') return page(host, head, undefined)
  if (!challenges.hasWaited(head, asked)) return ask(host, challenges, head, asked)
  return challenges.redeemWaited(head, asked, clientOf(decision)).then((redeemed) => {
    if ('refused' in redeemed) return ask(host, challenges, head, asked, true)
    const location = relative(withoutAgain(head.target))
    return { status: 303, headers: { ...HEADERS, location, 'set-cookie': cookieOf(host, head, redeemed) }, body: '' }
  })
}

function solutionOf({ fields }: Pick<ReceivedHead, 'fields'>): string | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, SOLUTION_FIELD)) return fields[at + 1] as string
  }
  return undefined
}

/** The answer to a solution: 204 and a pass, or why there is none. */
async function solutionAnswer(
  host: RequestHost,
  head: ReceivedHead,
  solution: string,
  decision: Decision,
): Promise<ApiResponse> {
  const { challenges } = host
  const redeemed: Redeemed =
    challenges === undefined || !isSameOrigin(head)
      ? { refused: 'failed' }
      : await challenges.redeem(head, solution, clientOf(decision))
  if (!('refused' in redeemed)) {
    const headers = {
      ...HEADERS,
      'set-cookie': cookieOf(host, head, redeemed),
      'sallyport-pass': String(redeemed.level),
    }
    return { status: 204, headers, body: '' }
  }
  const { refused } = redeemed
  const { code, status, message } = refusal(refused === 'too_many' ? 'rate_limit_exceeded' : 'challenge_required')
  const body = JSON.stringify({ error: code, message, details: { requestId: head.id, reason: refused } })
  const type = 'application/json; charset=utf-8'
  return { status, headers: { ...HEADERS, 'content-type': type, 'sallyport-pass': 'refused' }, body }
}

/** A page of another site cannot set our field without being allowed to; a browser that says so is believed at once. */
function isSameOrigin({ fields }: ReceivedHead): boolean {
  return !fields.some((name, at) => at % 2 === 0 && isNamed(name, 'sec-fetch-site') && fields[at + 1] !== 'same-origin')
}

function clientOf({ inspection: { client, network } }: Decision) {
  return { address: client.address, network: network.verdict.classification }
}

function cookieOf(host: RequestHost, head: ReceivedHead, given: Exclude<Redeemed, { refused: unknown }>): string {
  return passCookie(host, head, given.pass, given.maxAge)
}

function ask(
  host: RequestHost,
  challenges: Challenges,
  head: ReceivedHead,
  asked: AskedFor,
  fresh = false,
): ApiResponse {
  const issued = challenges.issue(head, asked, fresh)
  const answer = page(host, head, issued)
  if (issued.wait === 0) return answer
  const cookie = challengeCookie(host, head, issued.text, CHALLENGE_SECONDS)
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } }
}

function page(
  host: RequestHost,
  head: ReceivedHead,
  challenge: ReturnType<Challenges['issue']> | undefined,
): ApiResponse {
  const { challenge: configured = PAGE } = host.config ?? {}
  const cookiesRefused = challenge !== undefined && isAgain(head.target)
  const made = challengePage({ head, page: configured, refusal: host.refusalPage ?? {}, challenge, cookiesRefused })
  const headers = { ...HEADERS, ...made.headers, vary: 'Accept, Accept-Language, Cookie' }
  return { status: configured.status, headers, body: made.body }
}

/** Programs learn where an answer is taken, and are never shown a page. */
function forProgram(host: RequestHost, head: ReceivedHead): ApiResponse {
  const { path } = host.config?.challenge ?? PAGE
  const refused = refusal('challenge_required')
  const { id } = refusedRequest(host, head)
  const answer = rendered(refused, { id })
  return {
    ...answer,
    headers: { ...answer.headers, ...HEADERS, vary: 'Cookie', 'sallyport-challenge': `${path}/pass` },
  }
}
