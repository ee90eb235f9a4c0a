import type { ChallengeStep, Counted, Decision } from '@sallyport/core'
import type { ApiResponse } from '@sallyport/engine'
import { limitFields } from './answer/limit-fields.ts'
import { decisionRefusal, headRefusal } from './answer/refusal.ts'
import { addVerdict } from './answer/verdict-headers.ts'
import { askingAnswer } from './challenge/challenge-answer.ts'
import { renewedCookie } from './challenge/cookies.ts'
import { findPlace, PAGE, wantedRequest } from './challenge/places.ts'
import type { CountingHost, Decider } from './decider.ts'
import type { Exchange } from './exchange.ts'
import type { Answered } from './phases.ts'

/* The phases of every host between `receive` and the application. */

/** The parts that the phases of every host use. */
export interface Services {
  readonly host: Decider
}

/** Reads `head`, `facts`; returns 400, 431 or 505 for a head that two servers could read differently, or that cannot be judged. */
export function precheck(exchange: Exchange, { host }: Services): Answered {
  const fault = exchange.fault(host)
  return fault && exchange.refuse(headRefusal(fault, exchange.head.fields), 'head')
}

/** Reads `subject`; writes `usage`, `challengePlace`, `wanted` and `counts`: whether the request is for a place of a challenge, and what it is decided as. */
export function route(exchange: Exchange, { host }: Services): Answered {
  const { subject } = exchange
  const { challenges } = host
  const { config } = exchange
  exchange.wanted = subject
  exchange.usage = host.usage?.()
  if (challenges === undefined || !subject.target.includes((config?.challenge ?? PAGE).path)) return undefined
  exchange.challengePlace = findPlace(host, subject)
  if (exchange.challengePlace !== 'page') return undefined
  const { head, counts } = wantedRequest(host, subject)
  exchange.wanted = head
  exchange.counts = counts
  return undefined
}

/** Reads `wanted`, `decider`; writes `decision` as the rules see the request, from memory. Waits where the check of a crawler runs. */
export function inspect(exchange: Exchange, { host }: Services): Answered | Promise<undefined> {
  const { wanted, decider = host } = exchange
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

/**
 * Reads `decision`, `counts`; writes `decision` after the rules that count, and its time. Waits for a store of counts. A decision that
 * cannot be counted stands as it is, and a process warning says so.
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
 * Reads `decision`; returns the redirect, the part of a challenge or the refusal that the decision comes to. For a request that goes on
 * it writes the fields of the answer (what is left of a limit, the use of content, the renewed pass) and `verdict` for an origin.
 */
export function answer(exchange: Exchange, { host }: Services): Answered | Promise<Answered> {
  const decision = exchange.decision as Decision
  const { action, enforced, limits } = decision
  const { subject } = exchange
  if (action === 'redirect' && enforced && decision.location !== undefined) {
    exchange.observation.refuse()
    return exchange.closing(redirectTo(decision.location))
  }
  const note = (step: ChallengeStep): void => {
    exchange.observation.challenge = step
  }
  const asked = mayAsk(exchange, host) ? askingAnswer(host, subject, decision, note) : undefined
  if (asked !== undefined) {
    exchange.observation.refuse()
    return asked instanceof Promise ? asked.then((later) => exchange.closing(later)) : exchange.closing(asked)
  }
  const refused = enforced && action !== 'allow' ? decisionRefusal(decision, subject) : undefined
  if (refused !== undefined) return exchange.refuse(refused)
  if (limits !== undefined) {
    const told = limitFields(decision)
    for (const name in told) exchange.tell(name, told[name])
  }
  // A site that has such fields of its own knows better.
  if (exchange.usage !== undefined && (subject.method === 'GET' || subject.method === 'HEAD')) {
    const fields = exchange.usage.fieldsOf(decision.inspection.request.path)
    for (const name in fields) exchange.suggest(name, fields[name] as string)
  }
  const renewed = decision.inspection.pass && renewedCookie(host, subject, decision)
  if (renewed !== undefined) exchange.addCookie(renewed)
  if (decision.restsOnPass) exchange.keepPrivate()
  if (exchange.verdict !== undefined) addVerdict(decision, exchange.verdict)
  return undefined
}

/** Nobody else may be given the answer to a proven crawler that is sent to another place. */
function redirectTo(location: string): ApiResponse {
  return { status: 302, headers: { location, 'cache-control': 'no-store', vary: 'User-Agent' }, body: '' }
}

/** Whether the request can have a part in a challenge: nearly every one is allowed, and brings nothing of one. */
function mayAsk({ decision, challengePlace, facts, subject }: Exchange, { challenges }: Decider): boolean {
  if (challenges === undefined) return false
  const isAsked = decision?.action === 'challenge' || challengePlace !== undefined
  return isAsked || facts.solution !== undefined || subject.target.includes('sallyport-again')
}
