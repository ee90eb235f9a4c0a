import type { Decision, MountPolicy, RuleChallenge } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { type Decider, requireDecider } from '../decider.ts'
import type { Receiver } from '../exchange.ts'
import { answer, inspect } from '../host-phases.ts'

/** Options of a challenge by the application, as of a rule with the action `challenge`. */
export type ChallengeOptions = RuleChallenge

/** The one rule by which an application asks: it asks all but those who are never asked. */
export function stepUpPolicy(challenge: ChallengeOptions): MountPolicy {
  return { preset: 'observe', rules: [{ id: 'step-up', match: {}, action: 'challenge', challenge }] }
}

/** Asks for a pass at a place of the application; `undefined`: the request may go on. */
export type StepUp<Place> = (place: Place) => ApiResponse | undefined | Promise<ApiResponse | undefined>

/**
 * The question of an application to the visitors of a place of its own, as every host asks it. Monitor mode asks nobody.
 * Throws `invalid_config` and `invalid_policy` at start-up.
 */
export function createStepUp<Place>(
  receiver: Receiver<Place>,
  sallyport: Decider,
  options: ChallengeOptions = {},
): StepUp<Place> {
  requireDecider(sallyport)
  if (typeof sallyport.decider !== 'function') {
    throw new SallyportError('invalid_config', 'challenge() takes what open() resolves to.')
  }
  const decider = sallyport.decider({ policy: stepUpPolicy(options) })
  const services = { host: sallyport }
  return (place) => {
    const exchange = receiver.receive(sallyport, place)
    exchange.decider = decider
    const ask = (): ReturnType<StepUp<Place>> => {
      const decision = exchange.decision as Decision
      if (decision.restsOnPass) exchange.keepPrivate()
      if (!decision.enforced || !(decision.action === 'challenge' || decision.unready)) return undefined
      exchange.observation.decide(decision)
      return answer(exchange, services)
    }
    const inspected = inspect(exchange, services)
    return inspected instanceof Promise ? inspected.then(ask) : ask()
  }
}
