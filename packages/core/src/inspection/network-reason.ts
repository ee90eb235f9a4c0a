import { DOUBTING_SIGNS } from '../network/classify.ts'
import { type NetworkFinding, RULE_TEXTS } from '../values/finding.ts'
import type { Writable } from '../values/members.ts'
import type { Reason } from '../values/reason.ts'

/** Writes the sentence that names the grounds of the network verdict. */
export function networkReason(network: NetworkFinding): Reason {
  const { classification, method } = network.verdict
  const owner = network.asn === undefined ? '' : `: AS${network.asn} ${network.asName ?? ''}`
  const brand = network.provider === '' ? '' : ` (${network.provider})`
  const near = network.near === undefined ? '' : '; listed proxies are nearby'
  const doubt = (network.machineSigns ?? 0) < DOUBTING_SIGNS ? '' : '; some signs point to a server'
  const reason: Writable<Reason> = {
    id: `network:${classification}`,
    text: network.reserved.reserved
      ? `The client's address is reserved: ${network.reserved.label ?? ''}.`
      : `${classification} by ${method} (${RULE_TEXTS[network.rule]})${owner}${brand}${near}${doubt}`,
  }
  if (network.source !== undefined) reason.source = network.source
  if (network.sourceDate !== undefined) reason.date = network.sourceDate
  return Object.freeze(reason)
}
