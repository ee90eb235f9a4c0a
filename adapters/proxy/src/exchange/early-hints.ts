import { type ClientRequest, hintsTo } from '../edge/client-messages.ts'
import { hintFields } from '../fields/response-fields.ts'
import type { Exchange } from './exchange.ts'

/** Fields of a request that another server has passed on. */
const PASSED_ON = ['via', 'forwarded', 'x-forwarded-for', 'x-real-ip']
/** Matches programs that handle a 103 correctly: browsers, and tested clients. */
const TAKING = /^(?:Mozilla\/5\.0 |curl\/|Wget\/|node$|undici$|Go-http-client\/)/

/** Passes early hints of the origin on; drops hints that cannot be sent, because the answer repeats them. */
export function passHints({ request, response }: Exchange, raw: readonly Buffer[]): void {
  if (!takesHints(request) || response.headersSent || response.closed) return
  const fields = hintFields(raw)
  if (fields.length > 0) hintsTo(response, fields)
}

/** Reports whether a client accepts an answer before the answer; over HTTP/1.1 some clients that should do not. */
function takesHints({ httpVersion, headers }: ClientRequest): boolean {
  if (httpVersion === '1.0') return false
  if (httpVersion !== '1.1') return true
  const { 'user-agent': agent } = headers
  return !PASSED_ON.some((name) => headers[name] !== undefined) && (agent === undefined || TAKING.test(agent))
}
