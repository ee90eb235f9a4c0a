import { type Fetch, fetchText, type PaymentAnswer, type PaymentProvider } from '@sallyport/core'

const MAX_BYTES = 65_536

/** Creates a port that posts each receipt, with the offer and the request, as JSON to a URL, and reads a `PaymentAnswer` from the answer. */
export function createEndpoint(url: string, fetch: Fetch, timeoutMs: number): PaymentProvider {
  return {
    async accept(receipt, offer, request) {
      const body = { type: 'application/json', text: JSON.stringify({ receipt, offer, request }) }
      const answer = await fetchText(fetch, { url, body, maxBytes: MAX_BYTES, timeoutMs })
      if (answer.state === 'failed') throw new Error(answer.reason)
      if (answer.status !== 200) throw new Error(`the status is ${answer.status}`)
      return JSON.parse(answer.body) as PaymentAnswer
    },
  }
}
