import type { Decision, MountPolicy, RuleChallenge } from '@sallyport/core'
import { SallyportError } from '@sallyport/core/host'
import type { ApiResponse } from '@sallyport/engine'
import { settledDecision } from './decide-head.ts'
import { carriedOut, type Decider, requireDecider } from './decide-request.ts'
import { noteDecision } from './observation.ts'
import type { Receiver } from './received.ts'

/** Options of a challenge by the application, as of a rule with the action `challenge`. */
export type ChallengeOptions = RuleChallenge

/** The one rule by which an application asks: it asks all but those who are never asked. */
export function stepUpPolicy(challenge: ChallengeOptions): MountPolicy {
  return { preset: 'observe', rules: [{ id: 'step-up', match: {}, action: 'challenge', challenge }] }
}

/** Asks for a pass at a place of the application; `undefined`: the request may go on. */
export type StepUp<Place> = (place: Place) => ApiResponse | undefined | Promise<ApiResponse | undefined>

/**
 * The question of an application to the visitors of a place of its own, as every host asks it (D451). Monitor mode asks nobody.
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
  return (place) => {
    const received = receiver.receive(sallyport, place)
    const carry = (decision: Decision): ReturnType<StepUp<Place>> => {
      if (decision.restsOnPass) received.keepPrivate()
      if (!decision.enforced || !(decision.action === 'challenge' || decision.unready)) return undefined
      noteDecision(received.observation, decision)
      const outcome = carriedOut(sallyport, received, decision)
      return outcome instanceof Promise ? outcome.then(({ refusal }) => refusal) : outcome.refusal
    }
    const settled = settledDecision(sallyport, () => decider.decide(received.reception.head))
    return settled instanceof Promise ? settled.then(carry) : carry(settled)
  }
}
