import type { Counted, Decision } from '@sallyport/core'
import { type McpBody, readMcpRequest } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { limitFields } from './answer/limit-fields.ts'
import { decisionRefusal, headRefusal, refusal } from './answer/refusal.ts'
import { answerOffer } from './answer-offer.ts'
import { askingAnswer } from './challenge/challenge-answer.ts'
import { renewedCookie } from './challenge/cookies.ts'
import { findPlace, PAGE, wantedRequest } from './challenge/places.ts'
import type { CountingHost, Decider } from './decider.ts'
import type { Exchange } from './exchange.ts'
import type { Answered } from './phases.ts'
import { addVerdict } from './request/verdict-headers.ts'

/* These phases belong to every host and run between `receive` and the application. */

export interface Services {
  readonly host: Decider
}

/** Reads `head`, `facts`; returns 400, 431 or 505 for a head that two servers could read differently, or that cannot be judged. */
export function precheck(exchange: Exchange, { host }: Services): Answered {
  const fault = exchange.fault(host)
  return fault && exchange.refuse(headRefusal(fault, exchange.head.fields), 'head')
}

/**
 * Reads `subject`; writes `challengePlace`, `wanted` and `counts`: the place of a challenge, and the request to decide about. Returns the
 * directory of our keys.
 */
export function route(exchange: Exchange, { host }: Services): Answered {
  const { config, subject } = exchange
  const { challenges } = host
  const directory = answerKeyDirectory(exchange, host)
  if (directory !== undefined) return directory
  exchange.wanted = subject
  if (challenges === undefined || !subject.target.includes((config?.challenge ?? PAGE).path)) return undefined
  exchange.challengePlace = findPlace(host, subject)
  if (exchange.challengePlace !== 'page') return undefined
  const { head, counts } = wantedRequest(host, subject)
  exchange.wanted = head
  exchange.counts = counts
  return undefined
}

/**
 * Answers GET and HEAD for the directory of our keys at its origin, without a decision: verifiers fetch it to learn who signed, and cannot
 * prove anything themselves. Throws what the host throws.
 */
export function answerKeyDirectory(exchange: Exchange, host: Decider): Answered {
  const directory = host.keyDirectory?.(exchange.head)
  if (directory === undefined) return undefined
  const { method } = exchange.head
  if (method === 'GET' || method === 'HEAD') return exchange.closing({ status: 200, ...directory })
  const refused = refusal('method_not_allowed')
  return exchange.refuse({ ...refused, headers: { ...refused.headers, allow: 'GET, HEAD' } }, 'head')
}

/**
 * Reads `wanted`, `decider`; writes `decision` from memory, and the calls of an MCP client where rules read them. Waits for the body with
 * these calls, for the check of a crawler, and for the data that the rules read to open.
 */
export function inspect(exchange: Exchange, services: Services): Answered | Promise<Answered> {
  const { host } = services
  const { wanted, decider = host } = exchange
  if (decider.opening !== undefined) return decider.opening.then(() => inspect(exchange, services))
  // MCP clients send calls by POST alone.
  const mayCall = wanted.method === 'POST' && wanted === exchange.subject && !exchange.hasReadCalls
  if (mayCall && decider.readsCalls?.(wanted)) {
    return readCalls(exchange).then(() => inspect(exchange, services))
  }
  const decided = host.settle === undefined ? decider.decide(wanted) : host.settle(() => decider.decide(wanted))
  if (decided instanceof Promise) {
    return decided.then((later) => {
      exchange.decision = later
      return undefined
    })
  }
  exchange.decision = decided
  return undefined
}

/** Writes the calls in the body into `head`, `subject` and `wanted`. */
async function readCalls(exchange: Exchange): Promise<void> {
  exchange.hasReadCalls = true
  const { head, subject } = exchange
  // A request must not pass because its body cannot be read.
  const body = await exchange.readBody().catch((): McpBody => ({ missing: 'unseen' }))
  const mcp = readMcpRequest(subject.fields, body)
  if (mcp === undefined) return
  exchange.head = { ...head, mcp }
  exchange.subject = { ...subject, mcp }
  exchange.wanted = exchange.subject
}

/**
 * Reads `decision`, `counts`; writes `decision` after the rules that count, and its time. Waits for a store of counts. A decision that
 * cannot be counted stays as it is, with a process warning.
 */
export function decide(exchange: Exchange, { host }: { readonly host: CountingHost }): Answered | Promise<undefined> {
  const { counts, subject } = exchange
  const decision = exchange.decision as Decision
  if (!counts || host.count === undefined || decision.unready) {
    exchange.observation.decide(decision)
    return undefined
  }
  try {
    const counted = host.count(decision, subject.fields)
    if (!(counted instanceof Promise)) return takeCounted(exchange, counted)
    return counted.then(
      (later) => takeCounted(exchange, later),
      (error: unknown) => warnUncounted(exchange, decision, error),
    )
  } catch (error) {
    return warnUncounted(exchange, decision, error)
  }
}

function takeCounted(exchange: Exchange, { decision, ended }: Counted): undefined {
  if (ended !== undefined) {
    exchange.onEnd(() => ended(exchange.status(), exchange.observation.challenge, exchange.contentType()))
  }
  exchange.decision = decision
  exchange.observation.decide(decision)
}

function warnUncounted({ observation }: Exchange, decision: Decision, error: unknown): undefined {
  process.emitWarning(`A request passed uncounted: ${error}`, 'SallyportWarning')
  observation.decide(decision)
}

/**
 * Reads `decision`; returns the redirect, the offer, the answer of a challenge, or the refusal. For a request that goes on it writes the
 * fields of the answer (the rest of a limit, the renewed pass) and `verdict` for an origin. Waits for the port that takes a payment.
 */
export function answer(exchange: Exchange, services: Services): Answered | Promise<Answered> {
  const { action, enforced } = exchange.decision as Decision
  if (action !== 'offer' || !enforced) return answerDecided(exchange, services)
  const answered = answerOffer(exchange, services.host)
  if (answered instanceof Promise) return answered.then((later) => later ?? answerDecided(exchange, services))
  return answered ?? answerDecided(exchange, services)
}

function answerDecided(exchange: Exchange, { host }: Services): Answered | Promise<Answered> {
  const decision = exchange.decision as Decision
  const { action, enforced, limits } = decision
  const { subject } = exchange
  if (action === 'redirect' && enforced && decision.location !== undefined) {
    exchange.observation.refuse()
    return exchange.closing(redirectTo(decision.location))
  }
  const question = mayAsk(exchange, host)
    ? askingAnswer(host, subject, decision, (step) => {
        exchange.observation.challenge = step
      })
    : undefined
  if (question !== undefined) {
    exchange.observation.refuse()
    return question instanceof Promise ? question.then((later) => exchange.closing(later)) : exchange.closing(question)
  }
  const refused = enforced && action !== 'allow' ? decisionRefusal(decision, subject) : undefined
  if (refused !== undefined) return exchange.refuse(refused)
  if (limits !== undefined) {
    const fields = limitFields(decision)
    for (const name in fields) exchange.setField(name, fields[name])
  }
  const renewed = decision.inspection.pass && renewedCookie(host, subject, decision)
  if (renewed !== undefined) exchange.addCookie(renewed)
  if (decision.restsOnPass) exchange.keepPrivate()
  if (exchange.verdict !== undefined) addVerdict(decision, exchange.verdict)
  return undefined
}

/** Redirects a proven crawler. No cache may give this answer to another client. */
function redirectTo(location: string): ApiResponse {
  return { status: 302, headers: { location, 'cache-control': 'no-store', vary: 'User-Agent' }, body: '' }
}

/** Reports whether the request may take part in a challenge. Nearly every request is allowed, and carries nothing of a challenge. */
function mayAsk({ decision, challengePlace, facts, subject }: Exchange, { challenges }: Decider): boolean {
  if (challenges === undefined) return false
  const isAsked = decision?.action === 'challenge' || challengePlace !== undefined
  return isAsked || facts.solution !== undefined || subject.target.includes('sallyport-again')
}
