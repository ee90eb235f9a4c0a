import { parseHostOrPrefix } from '../../address/prefix.ts'
import { ACTIONS, PLAIN_ACTIONS } from '../../vocabulary.ts'
import {
  type ClosedMember,
  closedFaults,
  type Fault,
  faultsAt,
  type PolicyFault,
  ruleFaultsAt,
} from '../language/fault.ts'
import { collectFaults } from '../language/values.ts'
import { LIMIT_PRESET_NAMES, type Policy, PRESET_NAMES, type Rule } from '../policy.ts'
import { givenWords } from '../words/match-words.ts'
import { wordFaults } from '../words/word-test.ts'
import { challengeFaults } from './challenge-faults.ts'
import { countingFaults, failureFaults, strikesFaults } from './counting-faults.ts'
import { eventFaults } from './event-faults.ts'
import { offerFaults } from './offer-faults.ts'
import { redirectFaults } from './redirect-faults.ts'
import { regionFaults } from './region-faults.ts'
import { claimFaults, listFaults, weightFaults } from './rule-faults.ts'

/** Returns every fault of a policy, in the order of its text. `lists` has the names of the configured lists. */
export function policyFaults(policy: Policy, lists: ReadonlySet<string> = new Set()): readonly PolicyFault[] {
  const { preset, rules, allowlist = [], limits = [], strikes } = policy
  const faults: PolicyFault[] = [...closedFaults([[['preset'], preset, PRESET_NAMES]])]
  const ids = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    if (ids.has(rule.id)) faults.push({ path: ['rules', index, 'id'], message: `the id "${rule.id}" is used twice` })
    ids.add(rule.id)
    faults.push(...ruleFaultsAt(index, rule, ruleFaults(rule, lists)))
  }
  const words = closedFaults([
    [['default'], policy.default, PLAIN_ACTIONS],
    [['onError'], policy.onError, PLAIN_ACTIONS],
    ...limits.map((name, index): ClosedMember => [['limits', index], name, LIMIT_PRESET_NAMES]),
  ])
  const entries = collectFaults(allowlist, (entry) =>
    parseHostOrPrefix(entry) ? undefined : `"${entry}" is not an address or a CIDR range`,
  )
  return [
    ...faults,
    ...words,
    ...failureFaults(policy.failures),
    ...(strikes === undefined ? [] : faultsAt(['strikes'], strikesFaults(strikes))),
    ...faultsAt(['allowlist'], entries),
  ]
}

function ruleFaults(rule: Rule, lists: ReadonlySet<string>): readonly Fault[] {
  const { match, action, onError } = rule
  const given = givenWords(match)
  return [
    ...countingFaults(rule),
    ...weightFaults(rule),
    ...claimFaults(rule, given),
    ...challengeFaults(rule),
    ...eventFaults(rule),
    ...redirectFaults(rule),
    ...offerFaults(rule),
    ...regionFaults(rule),
    ...closedFaults([
      [['action'], action, ACTIONS],
      [['onError'], onError, PLAIN_ACTIONS],
    ]),
    ...listFaults(match, ['match'], lists),
    ...faultsAt(['match'], wordFaults(given)),
  ]
}
