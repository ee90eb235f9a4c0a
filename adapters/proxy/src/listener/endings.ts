import { answerFault, answerWith, limitRefusal } from '../exchange/answers.ts'
import type { ExchangeOptions } from '../exchange/exchange.ts'
import type { Refusals } from '../exchange/refusals.ts'

/** Ends exchanges that fail with an answer where none has begun, else with a cut, and counts them. `tell` receives the error. */
export function createEndings(
  refusals: Refusals,
  tell: (error: unknown) => void,
): Pick<ExchangeOptions, 'onSlow' | 'onFault'> {
  return {
    onSlow(exchange, side) {
      const cause = side === 'body' ? 'slow_body' : 'slow_reader'
      const answered = side === 'body' && !exchange.response.headersSent
      refusals[answered ? 'count' : 'cut'](cause)
      if (answered) answerWith(exchange, limitRefusal(cause), cause)
      else exchange.cut()
    },
    onFault(exchange, error) {
      tell(error)
      const answered = exchange.isUnanswered
      refusals[answered ? 'count' : 'cut']('fault')
      if (answered) answerFault(exchange)
      else exchange.cut()
    },
  }
}
