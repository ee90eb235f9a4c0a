import { parseAddress } from '../../address/address.ts'
import { parsePrefix } from '../../address/prefix.ts'
import { ACTIONS, PLAIN_ACTIONS } from '../../vocabulary.ts'
import { type Fault, type PolicyFault, unknown } from '../language/fault.ts'
import { LIMIT_PRESET_NAMES, type Policy, PRESET_NAMES, type Rule } from '../policy.ts'
import { givenWords } from '../words/match-words.ts'
import { challengeFaults } from './challenge-faults.ts'
import { countingFaults, failureFaults, strikesFaults } from './counting-faults.ts'
import { eventFaults } from './event-faults.ts'
import { offerFaults } from './offer-faults.ts'
import { redirectFaults } from './redirect-faults.ts'
import { regionFaults } from './region-faults.ts'
import { claimFaults, listFaults, weightFaults } from './rule-faults.ts'

const NO_LISTS: ReadonlySet<string> = new Set()

/** Returns every fault of a policy, in the order of its text. `lists` has the names of the configured lists. */
export function policyFaults(policy: Policy, lists: ReadonlySet<string> = NO_LISTS): readonly PolicyFault[] {
  const { preset, rules, allowlist = [], limits = [], strikes } = policy
  const faults: PolicyFault[] = []
  if (!PRESET_NAMES.includes(preset)) {
    faults.push({ path: ['preset'], message: `there is no preset "${preset}". Use one of ${PRESET_NAMES.join(', ')}` })
  }
  const ids = new Set<string>()
  for (const [index, rule] of rules.entries()) {
    if (ids.has(rule.id)) faults.push({ path: ['rules', index, 'id'], message: `the id "${rule.id}" is used twice` })
    ids.add(rule.id)
    for (const { path, message } of ruleFaults(rule, lists)) {
      faults.push({ path: ['rules', index, ...path], rule: rule.id, message })
    }
  }
  for (const member of ['default', 'onError'] as const) {
    const action = policy[member]
    if (action === undefined || PLAIN_ACTIONS.includes(action)) continue
    faults.push({ path: [member], message: unknown(action, PLAIN_ACTIONS) })
  }
  for (const [index, name] of limits.entries()) {
    if (!LIMIT_PRESET_NAMES.includes(name))
      faults.push({ path: ['limits', index], message: unknown(name, LIMIT_PRESET_NAMES) })
  }
  faults.push(...failureFaults(policy.failures))
  for (const fault of strikes === undefined ? [] : strikesFaults(strikes)) {
    faults.push({ ...fault, path: ['strikes', ...fault.path] })
  }
  for (const [index, entry] of allowlist.entries()) {
    if (parseAddress(entry) !== undefined || parsePrefix(entry) !== undefined) continue
    faults.push({ path: ['allowlist', index], message: `"${entry}" is not an address or a CIDR range` })
  }
  return faults
}

function ruleFaults(rule: Rule, lists: ReadonlySet<string>): readonly Fault[] {
  const { match, action, onError } = rule
  const given = givenWords(match)
  const faults: Fault[] = [
    ...countingFaults(rule),
    ...weightFaults(rule),
    ...claimFaults(rule, given),
    ...challengeFaults(rule),
    ...eventFaults(rule),
    ...redirectFaults(rule),
    ...offerFaults(rule),
    ...regionFaults(rule),
  ]
  if (!ACTIONS.includes(action)) faults.push({ path: ['action'], message: unknown(action, ACTIONS) })
  if (onError !== undefined && !PLAIN_ACTIONS.includes(onError))
    faults.push({ path: ['onError'], message: unknown(onError, PLAIN_ACTIONS) })
  faults.push(...listFaults(given, lists))
  for (const { name, word, value } of given) {
    for (const { path, message } of word.values.faults(value)) faults.push({ path: ['match', name, ...path], message })
  }
  return faults
}
