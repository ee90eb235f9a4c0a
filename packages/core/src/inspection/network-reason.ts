import { DOUBTING_SIGNS } from '../network/classify.ts'
import type { NetworkFinding, VerdictRule } from '../values/finding.ts'
import type { Writable } from '../values/members.ts'
import type { Reason } from '../values/reason.ts'

/** Names each rule inside a sentence. */
const RULE_TEXTS: Readonly<Record<VerdictRule, string>> = {
  reserved: 'a reserved range',
  override: 'set by the operator of this site',
  reverse_name: 'its reverse name',
  address_list: 'a list of addresses',
  range_list: 'a list of ranges',
  exit_density: 'known exits nearby',
  operator_table: 'the operator table',
  mixed_system: 'a hosting company that VPN services and others use',
  organisation_name: "the organisation's name",
  system_list: 'a list of AS numbers',
  system_prefixes: 'listed prefixes of the AS',
  system_shape: 'prefixes and neighbours of the AS, as at a hosting company',
  none: 'no evidence',
}

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
