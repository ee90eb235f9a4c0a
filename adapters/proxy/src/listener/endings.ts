import { type ClientRequest, cut } from '../edge/client-messages.ts'
import { answerFault, answerWith, limitRefusal } from '../exchange/answers.ts'
import type { Exchange, ExchangeOptions } from '../exchange/exchange.ts'
import type { Refusals } from '../exchange/refusals.ts'

type Handler<Request extends ClientRequest, Rest extends readonly unknown[]> = (request: Request, ...rest: Rest) => void

/** Ends exchanges that fail, and counts them. */
export interface Endings extends Required<Pick<ExchangeOptions, 'onSlow' | 'onFault'>> {
  /** Wraps a handler of requests so that it never throws: where there is no exchange yet, the connection is cut. */
  guarded<Request extends ClientRequest, Rest extends readonly unknown[]>(
    handle: Handler<Request, Rest>,
  ): Handler<Request, Rest>
}

/** Ends an exchange with an answer where none has begun, else with a cut. `tell` receives the error. */
export function createEndings(refusals: Refusals, tell: (error: unknown) => void): Endings {
  return {
    onSlow(exchange, side) {
      const cause = side === 'body' ? 'slow_body' : 'slow_reader'
      const answered = side === 'body' && !exchange.response.headersSent
      refusals[answered ? 'count' : 'cut'](cause)
      if (answered) answerWith(exchange, limitRefusal(cause), cause)
      else exchange.cut()
    },
    onFault(exchange: Exchange, error) {
      tell(error)
      const answered = exchange.isUnanswered
      refusals[answered ? 'count' : 'cut']('fault')
      if (answered) answerFault(exchange)
      else exchange.cut()
    },
    guarded:
      (handle) =>
      (request, ...rest) => {
        try {
          handle(request, ...rest)
        } catch (error) {
          tell(error)
          refusals.cut('fault')
          cut(request)
        }
      },
  }
}
