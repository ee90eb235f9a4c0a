import type { Decision, PaymentStep } from '@sallyport/core'
import { type Refusal, refusal } from './refusal.ts'
import { signatureWish } from './signature-wish.ts'

/** Limits how long a payment by x402 may take, in seconds. */
const X402_SECONDS = 60

/** Returns the refusal of a request without an accepted receipt, with the offer for people, for pay per crawl and for x402 v2. */
export function offerRefusal(
  decision: Decision,
  fields: readonly string[],
  url: string,
  { offer, outcome, reason }: PaymentStep,
): Refusal {
  const { price, licence, x402 } = offer
  const why = reason === undefined ? '' : ` The receipt was rejected: ${reason}.`
  const message = `This site charges ${price} for this response.${why}`
  const required = x402 && {
    x402Version: 2,
    error: message,
    resource: { url },
    accepts: x402.map((terms) => ({ scheme: 'exact', ...terms, maxTimeoutSeconds: X402_SECONDS })),
  }
  return {
    ...refusal('payment_required', 402, message),
    headers: {
      ...signatureWish(decision, fields),
      'crawler-price': price,
      ...(licence !== undefined && { link: `<${licence}>; rel="license"` }),
      ...(required && { 'payment-required': encodeJson(required) }),
      ...(outcome === 'bounded' && { 'retry-after': '60' }),
    },
    note: price,
    body: { price, licence, ...required },
  }
}

/** Encodes a value as the fields of x402 carry it: JSON in base64. */
export function encodeJson(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64')
}
