import { askingAnswer } from '@sallyport/node/internal'
import { sendAnswered } from '../exchange/answers.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { DecidingPart } from './deciders.ts'
import type { ProxyHost } from './options.ts'

/**
 * Challenges the client of an exchange because the origin requires it; returns false where no challenge is possible: the client then gets
 * the origin's answer.
 */
export function stepUp(host: ProxyHost, exchange: Exchange, decider: DecidingPart | undefined): boolean {
  if (decider === undefined) return false
  const { head, observation } = exchange
  const decision = decider.decide(head)
  if (decision.action !== 'challenge' || !decision.enforced) return false
  const answer = askingAnswer(host, head, decision, (step) => {
    observation.challenge = step
  })
  if (answer === undefined) return false
  observation.decide(decision)
  observation.refuse()
  sendAnswered(exchange, answer)
  return true
}
