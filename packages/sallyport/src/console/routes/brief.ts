import { describeOutcome, type ObservedRequest, readRule } from '@sallyport/core'
import { type AddressForm, shownAddress } from './shown-address.ts'

/** Writes a request as a line of the stream. */
export function toBrief(observed: ObservedRequest, form: AddressForm) {
  const { id, at, decision, client, method, host, path, status, milliseconds, refusedFor, answeredBy } = observed
  const { network, agent, country } = decision?.inspection ?? {}
  return {
    id,
    at,
    method,
    host,
    path,
    status,
    answeredBy,
    milliseconds: Math.round(milliseconds * 10) / 10,
    outcome: describeOutcome(observed),
    client: shownAddress(client, form),
    enforced: decision?.enforced,
    rule: decision && readRule(decision),
    trial: decision?.trial && { ...decision.trial },
    class: agent?.class,
    network: network?.verdict.classification,
    asn: network?.asn,
    operator: network?.asName,
    country,
    refusedFor,
    userAgent: observed.userAgent,
  }
}

export type Brief = ReturnType<typeof toBrief>

/** Names of the filters that a query may have. */
export const FILTERS = ['outcome', 'class', 'network', 'trial', 'text'] as const
export type Filtered = (typeof FILTERS)[number]
/** An absent or empty filter lets all requests through. */
export type Filters = Readonly<Partial<Record<Filtered, string>>>

/** Creates a filter that reports whether a reader wants to see a request. */
export function createFilter({ outcome, class: who, network, trial, text = '' }: Filters) {
  const wanted = text.toLowerCase()
  return (one: ObservedRequest, form: AddressForm): boolean => {
    const { decision } = one
    const { agent, network: found } = decision?.inspection ?? {}
    if (outcome && describeOutcome(one) !== outcome) return false
    if (who && agent?.class !== who) return false
    if (network && found?.verdict.classification !== network) return false
    if (trial === '1' && decision?.trial === undefined) return false
    return wanted === '' || joinText(one, form).includes(wanted)
  }
}

function joinText(one: ObservedRequest, form: AddressForm): string {
  const { client, host, path, rule, trial, operator = '', asn, country = '', userAgent = '', id } = toBrief(one, form)
  return [client, host, path, rule, trial?.rule, operator, `as${asn}`, country, userAgent, id].join('\n').toLowerCase()
}
