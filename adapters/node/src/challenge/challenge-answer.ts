import type { ChallengeStep, Challenges, Decision, IssuedChallenge, Redeemed, RedeemFault } from '@sallyport/core'
import { challengedClient, isNamed, refuses, SOLUTION_FIELD } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { refusal, rendered } from '../answer/refusal.ts'
import { signatureWish } from '../answer/signature-wish.ts'
import { isHttp2 } from '../request/head-fields.ts'
import type { ReceivedHead } from '../request/node-head.ts'
import type { RequestHost } from '../request/request-host.ts'
import { bringsChallenge, challengeCookie, clearedCookie, isPartitioned, passCookie, siteOf } from './cookies.ts'
import { type AskedAs, askedAs } from './navigation.ts'
import { challengePage, type PageParts } from './page.ts'
import { findPlace, formPath, PAGE, scriptAnswer, wantedPath } from './places.ts'
import { clean, isAgain } from './targets.ts'

/** Never kept, never found by a search engine, and another one for who brings a cookie. */
const HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  vary: 'Cookie',
}

/** Refusals after which nobody can answer that challenge any more: its client needs another one. */
const USELESS: readonly RedeemFault[] = ['spent', 'expired', 'other_browser', 'forged']

/**
 * The answer to a request that is asked, or that brings a solution: whatever that asks for, it is answered here, unless its
 * client is refused for another reason. The same for who comes back and is not asked any more, so that the origin never
 * sees our parameter. `undefined` for any other request. `note` is called once, with what came of it.
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
  if (place === 'script') return scriptAnswer(host, head)
  const solution = solutionOf(head)
  if (solution !== undefined) return solutionAnswer(challenges, host, head, { solution, decision, note })
  const isAsked = decision.enforced && decision.action === 'challenge'
  if (isAsked) return challengeAnswer(challenges, host, head, { decision, note })
  return place === 'page' ? pageAnswer(challenges, host, head, { decision, note }) : opened(head)
}

/**
 * Whether a request has an answer of ours: it is asked, brings a solution, or comes back with our parameter, and its client
 * is not refused for another reason. Monitor mode answers nothing of a challenge.
 */
export function isAsking(host: RequestHost, head: ReceivedHead, { action, enforced, mode }: Decision): boolean {
  if (host.challenges === undefined || mode === 'monitor') return false
  if (enforced && refuses(action)) return action === 'challenge'
  return solutionOf(head) !== undefined || (isAgain(head.target) && isRead(head)) || findPlace(host, head) !== undefined
}

/** Takes down the part of the request in a challenge. */
type Note = (step: ChallengeStep) => void

interface Noted {
  readonly decision: Decision
  readonly note: Note
}

/**
 * The page that asks, where somebody looks at it; the wanted URL once more, with a pass, for who waited; else 403 in JSON
 * that says where the question is.
 */
function challengeAnswer(
  challenges: Challenges,
  host: RequestHost,
  head: ReceivedHead,
  { decision, note }: Noted,
): ApiResponse | Promise<ApiResponse> {
  const { challenge: terms, inspection } = decision
  const rule = ruleOf(decision)
  const { pass } = inspection
  const client = challengedClient(inspection, head.fields)
  const as = shownAs(host, head)
  if (terms === undefined || as === 'program') {
    note({ outcome: 'program', rule, level: terms?.level })
    const issued = terms && challenges.issue(head, { terms, rule, pass, client }, true)
    return forProgram(host, head, decision, issued)
  }
  if (!challenges.admits(client)) {
    note({ outcome: 'too_many', rule, level: terms.level })
    return tooMany(host, head)
  }
  const asked = { terms, rule, pass, client }
  const form = as === 'form' ? formPath(host, head) : undefined
  const ask = (fresh: boolean, refused?: RedeemFault) => {
    const challenge = challenges.issue(head, asked, fresh)
    note({ outcome: challenge.again ? 'waiting' : 'asked', rule, level: challenge.level, refused })
    return challenge
  }
  if (!challenges.hasWaited(head, asked)) {
    const challenge = ask(false)
    // A question that comes back was kept, be it too early or too late.
    const isRefused = challenge.wait > 0 && isAgain(head.target) && !bringsChallenge(host, head)
    return page(host, head, { challenge, form, stuck: isRefused ? 'cookies' : undefined })
  }
  return challenges.redeemWaited(head, asked, client).then((redeemed) => {
    if (!('refused' in redeemed)) {
      note(stepOf('waited', redeemed))
      const cookie = { 'set-cookie': cookieOf(host, head, redeemed) }
      return form === undefined ? opened(head, cookie) : page(host, head, { form }, cookie)
    }
    const { refused } = redeemed
    // Another tab has had the pass for it, and may have brought it by now.
    if (refused === 'spent' && isAgain(head.target)) {
      note({ outcome: 'waiting', rule, level: terms.level, refused })
      return opened(head, clearedCookie(host, head))
    }
    // There was a pass for it, which does not hold: the page would come back without end.
    return page(host, head, { challenge: ask(true, refused), form, stuck: 'failed' })
  })
}

function shownAs(host: RequestHost, head: ReceivedHead): AskedAs {
  return askedAs(head, () => host.isBrowser?.(head) === true, isPartitioned(host, head))
}

/** Terms that any challenge which was waited for meets. */
const LEAST = { level: 1, passMs: 0, script: false } as const

/**
 * Leads back to the wanted path where that is not challenged: the page that has a form is mostly none that challenges. A client that
 * waits for the challenge of its form earns the pass here.
 */
function pageAnswer(
  challenges: Challenges,
  host: RequestHost,
  head: ReceivedHead,
  { decision, note }: Noted,
): ApiResponse | Promise<ApiResponse> {
  const { pass } = decision.inspection
  const headers = { ...HEADERS, 'sallyport-pass': pass === undefined ? 'none' : `${pass.level}` }
  if (shownAs(host, head) !== 'page') return { status: 204, headers, body: '' }
  const back = { status: 303, headers: { ...headers, location: wantedPath(host, head) }, body: '' }
  const client = challengedClient(decision.inspection, head.fields)
  const asked = { terms: LEAST, rule: ruleOf(decision), pass, client }
  if (!bringsChallenge(host, head) || !challenges.admits(client)) return back
  if (!challenges.hasWaited(head, asked)) {
    const challenge = challenges.issue(head, asked)
    if (!challenge.again) return back
    note({ outcome: 'waiting', level: challenge.level })
    return page(host, head, { challenge })
  }
  return challenges.redeemWaited(head, asked, client).then((redeemed) => {
    if ('refused' in redeemed) return { ...back, headers: { ...back.headers, ...clearedCookie(host, head) } }
    note(stepOf('waited', redeemed))
    return { ...back, headers: { ...back.headers, 'set-cookie': cookieOf(host, head, redeemed) } }
  })
}

/** The id of the rule that decided. */
function ruleOf({ reasons: [reason] }: Decision): string {
  return (reason?.id ?? '').replace(/^policy:/, '')
}

type Given = Exclude<Redeemed, { refused: unknown }>

function stepOf(outcome: 'solved' | 'waited', { rule, level, seconds, degraded }: Given): ChallengeStep {
  return { outcome, rule, level, seconds, degraded }
}

function isRead({ method }: ReceivedHead): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Sends a client that came back to the wanted URL. */
function opened(head: ReceivedHead, cookie: Readonly<Record<string, string>> = {}): ApiResponse {
  return { status: 303, headers: { ...HEADERS, location: clean(head.target), ...cookie }, body: '' }
}

function solutionOf({ fields }: Pick<ReceivedHead, 'fields'>): string | undefined {
  for (let at = 0; at + 1 < fields.length; at += 2) {
    if (isNamed(fields[at] as string, SOLUTION_FIELD)) return fields[at + 1] as string
  }
  return undefined
}

/** The answer to a solution: 204 and a pass, or why there is none. */
async function solutionAnswer(
  challenges: Challenges,
  host: RequestHost,
  head: ReceivedHead,
  { solution, decision, note }: Noted & { readonly solution: string },
): Promise<ApiResponse> {
  const client = challengedClient(decision.inspection, head.fields)
  if (!challenges.admits(client)) {
    note({ outcome: 'too_many' })
    return tooMany(host, head)
  }
  const redeemed: Redeemed = isSameOrigin(head)
    ? await challenges.redeem(head, solution, client)
    : { refused: 'failed' }
  if (!('refused' in redeemed)) {
    note(stepOf(solution.endsWith('.') ? 'waited' : 'solved', redeemed))
    const cookie = cookieOf(host, head, redeemed)
    return {
      status: 204,
      headers: { ...HEADERS, 'set-cookie': cookie, 'sallyport-pass': `${redeemed.level}` },
      body: '',
    }
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

/** A page of another site cannot set our field without being allowed to; a browser that says so is believed at once. */
function isSameOrigin({ fields }: ReceivedHead): boolean {
  return !fields.some((name, at) => at % 2 === 0 && isNamed(name, 'sec-fetch-site') && fields[at + 1] !== 'same-origin')
}

function cookieOf(host: RequestHost, head: ReceivedHead, given: Given): string {
  return passCookie(host, head, given.pass, given.maxAge)
}

/** The page, and the cookie of its challenge where that may be waited for. */
function page(
  host: RequestHost,
  head: ReceivedHead,
  parts: Pick<PageParts, 'challenge' | 'form' | 'stuck'>,
  cookie: Readonly<Record<string, string>> = {},
): ApiResponse {
  const { challenge: configured = PAGE } = host.config ?? {}
  const { challenge, form, stuck } = parts
  const made = challengePage({
    head,
    page: configured,
    refusal: host.refusalPage ?? {},
    challenge,
    form,
    stuck,
    cookieSite: siteOf(host, head),
    isFramed: isPartitioned(host, head),
  })
  const waits = challenge !== undefined && challenge.wait > 0
  const headers = {
    ...HEADERS,
    ...made.headers,
    vary: 'Accept, Accept-Language, Cookie',
    // Scripts on plain HTTP ask for HTML as navigations do: `pass.js` knows the page by this.
    'sallyport-challenge': `${configured.path}/pass`,
    ...(waits ? { 'set-cookie': challengeCookie(host, head, challenge.text) } : cookie),
  }
  return { status: 403, headers, body: made.body }
}

/**
 * Programs get the challenge itself and the path that takes its solution, and are never shown a page. A provider's widget needs one:
 * `provider` names it, and a GET of `pass` with `to` shows it.
 */
function forProgram(
  { config }: RequestHost,
  { id, fields }: ReceivedHead,
  decision: Decision,
  issued: IssuedChallenge | undefined,
): ApiResponse {
  const pass = `${(config?.challenge ?? PAGE).path}/pass`
  const answer = rendered(refusal('challenge_required'), { id, details: issued && detailsOf(issued, pass) })
  const headers = { ...answer.headers, ...HEADERS, ...signatureWish(decision, fields) }
  return { ...answer, headers: { ...headers, 'sallyport-challenge': pass } }
}

function detailsOf({ text, puzzles, bits, wait, level, widget }: IssuedChallenge, pass: string): object {
  if (widget !== undefined) return { level, provider: widget.name, pass }
  return { challenge: text, puzzles, bits, wait, level, pass }
}

/**
 * A few bytes for a client that has had its share, whatever it brings: others wait for what this costs. The connection of a
 * client alone ends with it, and what it sent on after it is not looked at; that of a trusted proxy is others' as well.
 */
function tooMany(host: RequestHost, { id, peer, fields }: ReceivedHead): ApiResponse {
  const answer = rendered(refusal('rate_limit_exceeded'), { id })
  const isOthers = host.isTrusted?.(peer) === true || isHttp2(fields)
  const headers = { ...answer.headers, ...HEADERS, 'retry-after': '1' }
  return { ...answer, headers: isOthers ? headers : { ...headers, connection: 'close' } }
}
