import type { Decision, MountPolicy, Rule, RuleChallenge } from '@sallyport/core'
import { isFormAction, SallyportError, TOKEN_FIELD } from '@sallyport/core/host'
import { type Decider, requireDecider } from '../decider.ts'
import type { Exchange, Receiver } from '../exchange.ts'
import { answer, decide, inspect } from '../host-phases.ts'
import type { Answered } from '../phases.ts'
import { readSite } from '../request/head-fields.ts'

/** Options of a challenge that the application makes, as in a rule with the action `challenge`. */
export interface ChallengeOptions extends RuleChallenge {
  /**
   * Names the action of a form whose page has the field of Sallyport. A request with a token goes on; a request without gets the challenge,
   * at level 2, and again after every three forms. The host must have parsed the body.
   */
  readonly form?: string | undefined
}

/** Returns the policy by which an application challenges: it challenges all visitors but those who are never challenged. */
export function stepUpPolicy(challenge: RuleChallenge): MountPolicy {
  return { preset: 'observe', rules: [{ id: 'step-up', match: {}, action: 'challenge', challenge }] }
}

/** Limits a pass that replaces the token of a form where no script runs: it serves three forms, and not a whole visit. */
const FORM_PASS = '10m'
const FORMS_OF_PASS = 3

function formPolicy(challenge: RuleChallenge): MountPolicy {
  const terms = { level: 2, pass: FORM_PASS, ...challenge } as const
  const rule = { match: {}, action: 'challenge', challenge: terms } as const
  const rules: readonly Rule[] = [
    { id: 'form', ...rule },
    { id: 'form-again', ...rule, limit: { key: 'pass', max: FORMS_OF_PASS, window: FORM_PASS } },
  ]
  return { preset: 'observe', rules }
}

/**
 * Creates the challenge by which an application protects one place; `undefined` lets the request go on. `body` is the body that the host
 * parsed. Monitor mode has no challenge. Throws `invalid_config` and `invalid_policy` at start-up.
 */
export function createStepUp<Place>(
  receiver: Receiver<Place>,
  sallyport: Decider,
  { form, ...options }: ChallengeOptions = {},
): (place: Place, body?: unknown) => Answered | Promise<Answered> {
  requireDecider(sallyport)
  if (typeof sallyport.decider !== 'function') {
    throw new SallyportError('invalid_config', 'challenge() takes what open() resolves to.')
  }
  if (form !== undefined && !isFormAction(form)) {
    throw new SallyportError('invalid_config', 'challenge(): form has 1 to 64 characters of A-Z a-z 0-9 . _ : / -.')
  }
  const decider = sallyport.decider({ policy: form === undefined ? stepUpPolicy(options) : formPolicy(options) })
  const services = { host: sallyport }

  function conclude(exchange: Exchange): Answered | Promise<Answered> {
    const decision = exchange.decision as Decision
    if (decision.restsOnPass) exchange.keepPrivate()
    if (!decision.enforced || !(decision.action === 'challenge' || decision.unready)) return undefined
    exchange.observation.decide(decision)
    return answer(exchange, services)
  }

  async function askForm(exchange: Exchange, action: string, body: unknown): Promise<Answered> {
    const { facts } = exchange
    const sender = { host: readSite(facts) ?? '', userAgent: facts.userAgent ?? '' }
    const checked = await sallyport.challenges?.forms.check(sender, tokenIn(body), action)
    if (checked?.ok) return undefined
    await inspect(exchange, services)
    await decide(exchange, services)
    return conclude(exchange)
  }

  return (place, body) => {
    const exchange = receiver.receive(sallyport, place)
    exchange.decider = decider
    if (form !== undefined) return askForm(exchange, form, body)
    const inspected = inspect(exchange, services)
    return inspected instanceof Promise ? inspected.then(() => conclude(exchange)) : conclude(exchange)
  }
}

/** Reads the token from a body: an object of a parser, or the form data of the web. */
function tokenIn(body: unknown): unknown {
  if (body instanceof FormData || body instanceof URLSearchParams) return body.get(TOKEN_FIELD)
  return typeof body === 'object' && body !== null
    ? (body as Readonly<Record<string, unknown>>)[TOKEN_FIELD]
    : undefined
}
