import type { ChallengeStep, Challenges, Decision, IssuedChallenge, Redeemed, RedeemFault } from '@sallyport/core'
import { challengedClient, describeChallenge, isNamed, readRule, refuses, SOLUTION_FIELD } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { refusal, rendered } from '../answer/refusal.ts'
import { signatureWish } from '../answer/signature-wish.ts'
import { isHttp2 } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { RequestHost } from '../request/request-host.ts'
import {
  bringsChallenge,
  challengeCookie,
  clearedCookie,
  cookieAttributes,
  isPartitioned,
  passCookie,
} from './cookies.ts'
import { fieldAnswer } from './field.ts'
import { type AskedAs, askedAs } from './navigation.ts'
import { challengePage, type PageParts } from './page.ts'
import { findPlace, formPath, isOfForms, PAGE, scriptAnswer, wantedPath } from './places.ts'
import { clean, isAgain } from './targets.ts'

/** Headers of every answer: no cache keeps it, no search engine lists it, and the cookie changes it. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  vary: 'Cookie',
}

/** Refusals after which no client can answer the challenge any more: the client needs a new one. */
const USELESS: readonly RedeemFault[] = ['spent', 'expired', 'other_browser', 'forged']

/**
 * Answers a request that `isAsking`; `undefined` for any other. A client that returns and is no longer challenged is answered too, so that
 * the origin never sees our parameter. Calls `note` once, with the outcome.
 */
export function askingAnswer(
  host: RequestHost,
  head: ReceivedHead,
  decision: Decision,
  note: Note,
): ApiResponse | Promise<ApiResponse> | undefined {
  const { challenges } = host
  if (challenges === undefined || !isAsking(host, head, decision)) return undefined
  const place = findPlace(host, head)
  if (place === 'script' || place === 'field script') return scriptAnswer(host, head, place)
  const client = challengedClient(decision.inspection, head.fields)
  const asking = { challenges, host, head, decision, client, note }
  if (place === 'field') {
    return challenges.admits(client) ? fieldAnswer(challenges, head, decision) : refuseTooMany(asking)
  }
  const solution = readSolution(head)
  if (solution !== undefined) return solutionAnswer(asking, solution)
  const isAsked = decision.enforced && decision.action === 'challenge'
  if (isAsked) return challengeAnswer(asking)
  return place === 'page' ? pageAnswer(asking) : redirectBack(head)
}

/** Reports whether a request is challenged, brings a solution or returns with our parameter. In monitor mode no request is challenged. */
export function isAsking(host: RequestHost, head: ReceivedHead, { action, enforced, mode }: Decision): boolean {
  if (host.challenges === undefined) return false
  if (mode === 'monitor') return isOfForms(findPlace(host, head))
  if (enforced && refuses(action)) return action === 'challenge'
  return (
    readSolution(head) !== undefined || (isAgain(head.target) && isRead(head)) || findPlace(host, head) !== undefined
  )
}

/** Records the part of the request in a challenge. */
type Note = (step: ChallengeStep) => void

/** A request with what its answer needs. */
interface Asking {
  readonly challenges: Challenges
  readonly host: RequestHost
  readonly head: ReceivedHead
  readonly decision: Decision
  readonly client: ReturnType<typeof challengedClient>
  readonly note: Note
}

/** Returns the challenge page for a person, JSON for a program, and a pass with a redirect for a client that has waited. */
function challengeAnswer(asking: Asking): ApiResponse | Promise<ApiResponse> {
  const { challenges, host, head, decision, client, note } = asking
  const { challenge: terms, inspection } = decision
  const rule = readRule(decision)
  const { pass } = inspection
  const as = chooseView(asking)
  if (terms === undefined || as === 'program') {
    note({ outcome: 'program', rule, level: terms?.level })
    return answerProgram(asking, terms && challenges.issue(head, { terms, rule, pass, client }, true))
  }
  if (!challenges.admits(client)) {
    note({ outcome: 'too_many', rule, level: terms.level })
    return refuseTooMany(asking)
  }
  const question = { terms, rule, pass, client }
  const form = as === 'form' ? formPath(host, head) : undefined
  const ask = (fresh: boolean, refused?: RedeemFault) => {
    const challenge = challenges.issue(head, question, fresh)
    note({ outcome: challenge.again ? 'waiting' : 'asked', rule, level: challenge.level, refused })
    return challenge
  }
  if (!challenges.hasWaited(head, question)) {
    const challenge = ask(false)
    // The client kept the cookie of a challenge that comes back, be it too early or too late.
    const isRefused = challenge.wait > 0 && isAgain(head.target) && !bringsChallenge(host, head)
    return page(asking, { challenge, form, stuck: isRefused ? 'cookies' : undefined })
  }
  return challenges.redeemWaited(head, question, client).then((redeemed) => {
    if (!('refused' in redeemed)) {
      note(describeStep('waited', redeemed))
      const cookie = writePass(asking, redeemed)
      return form === undefined ? redirectBack(head, cookie) : page(asking, { form }, cookie)
    }
    const { refused } = redeemed
    // Another tab has received the pass, and may already send it.
    if (refused === 'spent' && isAgain(head.target)) {
      note({ outcome: 'waiting', rule, level: terms.level, refused })
      return redirectBack(head, clearedCookie(host, head))
    }
    // The client received a pass that does not hold. A redirect would bring the page back without end.
    return page(asking, { challenge: ask(true, refused), form, stuck: 'failed' })
  })
}

function chooseView({ host, head }: Asking): AskedAs {
  if (head.mcp !== undefined) return 'program'
  return askedAs(head, () => host.isBrowser?.(head) === true, isPartitioned(host, head))
}

/** Any challenge that the client has waited for meets these terms. */
const LEAST = { level: 1, passMs: 0, script: false } as const

/** Leads back to the wanted path where no rule challenges it. A client that waits for the challenge of its form earns the pass here. */
function pageAnswer(asking: Asking): ApiResponse | Promise<ApiResponse> {
  const { challenges, host, head, decision, client, note } = asking
  const { pass } = decision.inspection
  const headers = { ...HEADERS, 'sallyport-pass': pass === undefined ? 'none' : `${pass.level}` }
  if (chooseView(asking) !== 'page') return { status: 204, headers, body: '' }
  const leadBack = (cookie: Readonly<Record<string, string>> = {}) => {
    return { status: 303, headers: { ...headers, location: wantedPath(host, head), ...cookie }, body: '' }
  }
  const question = { terms: LEAST, rule: readRule(decision), pass, client }
  if (!bringsChallenge(host, head) || !challenges.admits(client)) return leadBack()
  if (!challenges.hasWaited(head, question)) {
    const challenge = challenges.issue(head, question)
    if (!challenge.again) return leadBack()
    note({ outcome: 'waiting', level: challenge.level })
    return page(asking, { challenge })
  }
  return challenges.redeemWaited(head, question, client).then((redeemed) => {
    if ('refused' in redeemed) return leadBack(clearedCookie(host, head))
    note(describeStep('waited', redeemed))
    return leadBack(writePass(asking, redeemed))
  })
}

type Given = Exclude<Redeemed, { refused: unknown }>

function describeStep(outcome: 'solved' | 'waited', { rule, level, seconds, degraded }: Given): ChallengeStep {
  return { outcome, rule, level, seconds, degraded }
}

function isRead({ method }: ReceivedHead): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Redirects a client that came back to the wanted URL. */
function redirectBack(head: ReceivedHead, cookie: Readonly<Record<string, string>> = {}): ApiResponse {
  return { status: 303, headers: { ...HEADERS, location: clean(head.target), ...cookie }, body: '' }
}

function readSolution({ fields }: Pick<ReceivedHead, 'fields'>): string | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, SOLUTION_FIELD)) return fields[at + 1] as string
  }
  return undefined
}

/** Answers a solution: 204 and a pass, or the reason for a refusal. */
async function solutionAnswer(asking: Asking, solution: string): Promise<ApiResponse> {
  const { challenges, host, head, client, note } = asking
  if (!challenges.admits(client)) {
    note({ outcome: 'too_many' })
    return refuseTooMany(asking)
  }
  const redeemed: Redeemed = isSameOrigin(head)
    ? await challenges.redeem(head, solution, client)
    : { refused: 'failed' }
  if (!('refused' in redeemed)) {
    note(describeStep(solution.endsWith('.') ? 'waited' : 'solved', redeemed))
    const cookie = writePass(asking, redeemed)
    return { status: 204, headers: { ...HEADERS, ...cookie, 'sallyport-pass': `${redeemed.level}` }, body: '' }
  }
  const { refused, rule, level } = redeemed
  note({ outcome: refused, rule, level })
  const { code, status, message } = refusal(refused === 'too_many' ? 'rate_limit_exceeded' : 'challenge_required')
  const body = JSON.stringify({ error: code, message, details: { requestId: head.id, reason: refused } })
  const headers = {
    ...HEADERS,
    ...(USELESS.includes(refused) ? clearedCookie(host, head, solution.split('.', 1)[0]) : {}),
    'content-type': 'application/json; charset=utf-8',
    'sallyport-pass': 'refused',
  }
  return { status, headers, body }
}

/** Reports whether our own site sends a solution. Another site needs permission to set our field, and `Sec-Fetch-Site` reveals it. */
function isSameOrigin({ fields }: ReceivedHead): boolean {
  return !fields.some((name, at) => at % 2 === 0 && isNamed(name, 'sec-fetch-site') && fields[at + 1] !== 'same-origin')
}

function writePass({ host, head }: Asking, given: Given): Readonly<Record<string, string>> {
  return { 'set-cookie': passCookie(host, head, given.pass, given.maxAge) }
}

/** Returns the page, with the cookie of its challenge where waiting solves it. */
function page(
  { host, head }: Asking,
  parts: Pick<PageParts, 'challenge' | 'form' | 'stuck'>,
  cookie: Readonly<Record<string, string>> = {},
): ApiResponse {
  const { challenge: configured = PAGE } = host.config ?? {}
  const { challenge } = parts
  const made = challengePage({
    ...parts,
    head,
    page: configured,
    refusal: host.refusalPage ?? {},
    cookieSite: cookieAttributes(host, head),
    isFramed: isPartitioned(host, head),
  })
  const waits = challenge !== undefined && challenge.wait > 0
  const headers = {
    ...HEADERS,
    ...made.headers,
    vary: 'Accept, Accept-Language, Cookie',
    // Scripts on plain HTTP accept HTML like navigations. `pass.js` recognises the page by this header.
    'sallyport-challenge': `${configured.path}/pass`,
    ...(waits ? { 'set-cookie': challengeCookie(host, head, challenge.text) } : cookie),
  }
  return { status: 403, headers, body: made.body }
}

/** Returns the challenge to a program. The widget of a provider needs a page, which a GET of `pass` with `to` shows. */
function answerProgram({ host, head, decision }: Asking, issued: IssuedChallenge | undefined): ApiResponse {
  const { id, fields, mcp } = head
  const pass = `${(host.config?.challenge ?? PAGE).path}/pass`
  const details = issued && describeChallenge(issued, pass)
  const answer = rendered(refusal('challenge_required'), { id, mcp, details })
  const headers = { ...answer.headers, ...HEADERS, ...signatureWish(decision, fields) }
  return { ...answer, headers: { ...headers, 'sallyport-challenge': pass } }
}

/** Answers a client that has used its share with a few bytes, and ends its connection, unless other clients share that. */
function refuseTooMany({ host, head: { id, peer, fields, mcp } }: Asking): ApiResponse {
  const answer = rendered(refusal('rate_limit_exceeded'), { id, mcp })
  const isOthers = host.isTrusted?.(peer) === true || isHttp2(fields)
  const headers = { ...answer.headers, ...HEADERS, 'retry-after': '1' }
  return { ...answer, headers: isOthers ? headers : { ...headers, connection: 'close' } }
}
