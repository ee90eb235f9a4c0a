import type { Decision, Offer, PaymentStep } from '@sallyport/core'
import { readRule } from '@sallyport/core/host'
import { encodeJson, offerRefusal } from './answer/offer-refusal.ts'
import { refusal } from './answer/refusal.ts'
import type { Exchange } from './exchange.ts'
import type { Answered } from './phases.ts'
import type { ReceivedHead } from './request/node-head.ts'
import type { RequestHost } from './request/request-host.ts'

/**
 * Answers a request that a rule offers for a price: 402 with the offer, or 503 where the payment port failed, so that no client pays twice.
 * A paid request goes on: writes `decision`, the fields about the payment, and Cache-Control that keeps shared caches from the answer.
 */
export function answerOffer(exchange: Exchange, host: RequestHost): Answered | Promise<Answered> {
  const { subject } = exchange
  const decision = exchange.decision as Decision
  const { id, method, fields } = subject
  const url = findUrl(host, subject)

  function conclude(step: PaymentStep): Answered {
    const { outcome, offer, settlement } = step
    exchange.observation.payment = step
    if (outcome === 'unanswered') return exchange.refuse(refusal('service_unavailable'))
    if (outcome !== 'paid') return exchange.refuse(offerRefusal(decision, fields, url, step))
    exchange.decision = markPaid(decision, step)
    exchange.observation.decision = exchange.decision
    exchange.setField('crawler-charged', offer.price)
    if (settlement !== undefined) exchange.setField('payment-response', encodeJson(settlement))
    exchange.keepPrivate()
    return undefined
  }

  const offered = { outcome: 'offered', rule: readRule(decision), offer: decision.offer as Offer } as const
  const taken = host.payments?.take(decision, { id, method, url, fields }) ?? offered
  return taken instanceof Promise ? taken.then(conclude) : conclude(taken)
}

function markPaid({ offer: _, reasons, ...decision }: Decision, { offer, receipt }: PaymentStep): Decision {
  const paid = { id: 'payment', text: `The client paid ${offer.price}, by the receipt ${receipt}.` }
  return Object.freeze({ ...decision, action: 'allow', reasons: Object.freeze([...reasons, Object.freeze(paid)]) })
}

/** Finds the URL that the client requested. The scheme is https where neither a proxy nor the socket names it. */
function findUrl(host: RequestHost, head: ReceivedHead): string {
  const scheme = host.namedScheme?.(head) ?? head.scheme
  const at = head.fields.findIndex((name, at) => at % 2 === 0 && /^(?:host|:authority)$/i.test(name))
  return `${scheme === 'http' ? 'http' : 'https'}://${head.fields[at + 1] ?? ''}${head.target}`
}
