import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { answerFault, answerWith, limitRefusal } from '../exchange/answers.ts'
import type { Exchange, ExchangeOptions } from '../exchange/exchange.ts'
import type { Refusals } from '../exchange/refusals.ts'

type Handler<Rest extends readonly unknown[]> = (request: IncomingMessage, ...rest: Rest) => void

/** How exchanges end that do not end well, counted. */
export interface Endings extends Required<Pick<ExchangeOptions, 'onSlow' | 'onFault'>> {
  /** A handler of requests that does not throw: where there is no exchange yet, the connection is cut. */
  guarded<Rest extends readonly unknown[]>(handle: Handler<Rest>): Handler<Rest>
}

/** With an answer where there is none yet, else with a cut. `tell` gets what was thrown. */
export function createEndings(refusals: Refusals, tell: (error: unknown) => void): Endings {
  return {
    onSlow(exchange, side) {
      const cause = side === 'body' ? 'slow_body' : 'slow_reader'
      const answered = side === 'body' && !exchange.response.headersSent
      refusals[answered ? 'count' : 'cut'](cause)
      if (answered) answerWith(exchange, limitRefusal(cause), cause)
      else exchange.request.socket.destroy()
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
          // HTTP/2 hides the socket of a stream that is already gone.
          ;(request.socket as Socket | undefined)?.destroy()
        }
      },
  }
}
