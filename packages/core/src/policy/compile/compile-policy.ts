import { parseHostOrPrefix } from '../../address/prefix.ts'
import { createPrefixSet, type PrefixSet } from '../../address/prefix-set.ts'
import { type CompiledStrikes, SCANNER_RULE, STRIKES_RULE } from '../../counting/strikes.ts'
import type { Trap } from '../../counting/trap.ts'
import { toMilliseconds } from '../../duration.ts'
import { SallyportError } from '../../errors.ts'
import type { Inspection } from '../../values/inspection.ts'
import { type Action, type PlainAction, refuses } from '../../vocabulary.ts'
import { asksEvents } from '../check/event-faults.ts'
import { policyFaults } from '../check/faults.ts'
import { readsCalls } from '../check/mcp-warnings.ts'
import { readsRegion } from '../check/region-faults.ts'
import type { PolicyFault } from '../language/fault.ts'
import type { Surroundings } from '../language/surroundings.ts'
import { compilePaths, createPathTable, splitPaths } from '../paths/path-test.ts'
import { findProbe } from '../paths/probes.ts'
import type { Policy, Rule, Strikes } from '../policy.ts'
import { SCANNER_GUARD } from '../presets/limit-presets.ts'
import { PRESETS, rulesInForce } from '../presets/presets.ts'
import { createOnce, type WithinRule } from '../words/match-word.ts'
import { givenWords } from '../words/match-words.ts'
import { BAN_CHALLENGE, compileChallenge } from './challenge-terms.ts'
import { type CountingParts, compileCounting } from './compile-counting.ts'
import { compileMatch } from './compile-match.ts'
import { compileRedirect } from './compile-redirect.ts'
import type { CompiledRule, MatchedRule } from './evaluate.ts'

export interface CompiledPolicy {
  /** Addresses that are allowed before any rule; absent when there are none. */
  readonly allowlist?: PrefixSet | undefined
  readonly onError: PlainAction
  readonly rules: readonly CompiledRule[]
  /** Holds the rules about events of accounts, which requests never reach. */
  readonly events: readonly CompiledRule[]
  readonly fallback: MatchedRule
  /** True where a rule reads the region of the client, for which the places of city files must be open. */
  readonly readsRegions: boolean
  /** Reports whether rules read the calls of a request by its paths, so that its body is needed; absent where none does. */
  readonly readsCalls?: ((request: Pick<Inspection, 'request'>) => boolean) | undefined
  /** Facts about mail that rules read, for which a list must be loaded or a name server asked. */
  readonly mailFacts: ReadonlySet<string>
  readonly strikes: readonly CompiledStrikes[]
}

/** Checks every word of a policy and compiles it; throws `invalid_policy` that names the rule and the member. */
export function compilePolicy(policy: Policy, surroundings: Surroundings = {}): CompiledPolicy {
  const [fault] = policyFaults(policy, new Set(surroundings.lists?.keys()))
  if (fault !== undefined) throw new SallyportError('invalid_policy', faultText(fault))
  const { allowlist = [] } = policy
  const shared = {
    once: createOnce(),
    surroundings,
    nameCount: createCountNames(),
    failures: policy.failures,
  }
  const own = PRESETS[policy.preset]
  const inForce = rulesInForce(policy)
  const compiled = inForce.map((rule) => compileRule(rule, shared, own.includes(rule)))
  const isOfEvents = inForce.map(asksEvents)
  return {
    ...(allowlist.length > 0 && {
      allowlist: createPrefixSet(allowlist.flatMap((entry) => parseHostOrPrefix(entry) ?? [])),
    }),
    onError: policy.onError ?? 'allow',
    rules: compiled.filter((_, at) => !isOfEvents[at]),
    events: compiled.filter((_, at) => isOfEvents[at]),
    fallback: defaultRule(policy.default ?? 'allow'),
    readsRegions: policy.rules.some(readsRegion),
    readsCalls: compileCallReader(inForce),
    mailFacts: new Set(inForce.flatMap(({ match }) => Object.keys({ ...match.mail, ...match.not?.mail }))),
    strikes: strikesInForce(policy, surroundings.decoys),
  }
}

/** Compiles the paths of the rules that read calls; a rule without paths reads the calls of any. */
function compileCallReader(rules: readonly Rule[]): CompiledPolicy['readsCalls'] {
  const reading = rules.filter(readsCalls)
  if (reading.length === 0) return undefined
  if (reading.some(({ match }) => match.path === undefined)) return () => true
  const matches = compilePaths(
    reading.flatMap(({ match }) => match.path ?? []),
    false,
  )
  return (request) => matches(splitPaths(undefined, request))
}

/** Returns the part of a policy that judges events of accounts. It allows events that no rule matches, whatever the default. */
export function eventPolicy(policy: CompiledPolicy): CompiledPolicy {
  return { ...policy, rules: policy.events, fallback: defaultRule('allow') }
}

/** Writes `policy rule "id": header.present: …`, without the places in lists. */
function faultText({ path, rule, message }: PolicyFault): string {
  const names = path.filter((step) => typeof step === 'string' && step !== 'match')
  if (rule === undefined) return `policy.${names.join('.')}: ${message}`
  return `policy rule "${rule}": ${names.slice(1).join('.')}: ${message}`
}

function defaultRule(action: Action): MatchedRule {
  const text =
    action === 'allow'
      ? 'No rule of the policy matches this request.'
      : 'No rule of the policy matches this request, and its default decides.'
  return matchedRule({ id: 'default' }, action, text)
}

type Shared = Pick<WithinRule, 'once'> & CountingParts

/** Names counts by the ids of their rules; the same for the same policy, in every process. */
function createCountNames(): (id: string) => string {
  const times = new Map<string, number>()
  return (id) => {
    const time = (times.get(id) ?? 0) + 1
    times.set(id, time)
    return time === 1 ? id : `${id}#${time}`
  }
}

function compileRule(rule: Rule, shared: Shared, isOfPreset: boolean): CompiledRule {
  const { id, onError, weight } = rule
  const challenge = compileChallenge(rule)
  const counting = compileCounting(rule, shared, challenge?.terms)
  const action = counting?.opens ? 'allow' : rule.action
  const redirect = compileRedirect(rule)
  const { data, needs, named, ...tests } = compileMatch(rule.match, {
    id,
    action,
    trustsClaims: rule.trustClaim,
    unknown: rule.unknown,
    ...shared,
  })
  const agent = redirect === undefined ? tests.agent : [...tests.agent, redirect.isFor]
  const request = redirect === undefined ? tests.request : [...tests.request, redirect.applies]
  const text = `The policy's rule "${rule.id}" matches.`
  const terms = action === 'challenge' ? challenge?.terms : undefined
  const matched = matchedRule(rule, action, text, {
    ...(terms && { challenge: terms }),
    ...(redirect && { redirect }),
    ...(rule.status && { status: rule.status }),
    ...(action === 'offer' && { offer: rule.offer }),
  })
  const announced = announcedPaths(rule)
  const compiled = {
    onTrial: rule.monitor === true,
    data,
    agent,
    request,
    ...(named && { named }),
    matched,
    ...(challenge && { challenge }),
    ...(counting && { counting }),
    ...(weight !== undefined && { weight }),
    ...(readsCalls(rule) && { readsCalls: true as const }),
    ...(isOfPreset && refuses(rule.action) && { sparesProxies: true as const }),
    ...(announced && { announced }),
    ...(rule.match.pass !== undefined && rule.match.pass !== 'none' && { readsPass: true as const }),
  }
  if (onError === undefined || needs.length === 0) return compiled
  const unansweredText = `The policy's rule "${rule.id}" needs data that is not loaded.`
  return { ...compiled, unanswered: { needs, matched: matchedRule(rule, onError, unansweredText) } }
}

/** Returns `undefined` where robots.txt cannot express a word of the rule. */
function announcedPaths({ match }: Rule): readonly string[] | undefined {
  return givenWords(match).every(({ word }) => word.robots) ? (match.path ?? []) : undefined
}

function matchedRule(
  { id }: Pick<Rule, 'id'>,
  action: Action,
  text: string,
  more: Pick<MatchedRule, 'challenge' | 'redirect' | 'status' | 'offer'> = {},
): MatchedRule {
  const reason = Object.freeze({ id: `policy:${id}`, text })
  return Object.freeze({ id, action, reason, ...more })
}

function strikesInForce({ strikes, limits = [] }: Policy, decoys: readonly string[] = []): readonly CompiledStrikes[] {
  const found: CompiledStrikes[] = []
  if (strikes !== undefined) {
    const trap: Trap = { on: 'decoy', findRow: createPathTable(decoys) }
    found.push({ ...compileStrikes(STRIKES_RULE, strikes), ...(strikes.on.includes(trap.on) && { trap }) })
  }
  if (limits.includes(SCANNER_RULE)) {
    const trap: Trap = { on: 'probe', findRow: (request) => findProbe(request)?.path }
    const { limit, ...rules } = compileStrikes(SCANNER_RULE, SCANNER_GUARD)
    // The count is exact, so that repeated requests for a few paths never exceed their number.
    found.push({ ...rules, limit: { ...limit, kind: 'fixed' }, trap })
  }
  return found
}

/** Every member has been checked. */
function compileStrikes(
  id: string,
  { key = 'client', count, window, on, then, for: length }: Strikes,
): CompiledStrikes {
  const statuses = on.filter((word) => word.startsWith('status:'))
  return {
    id,
    key,
    count,
    forMs: toMilliseconds(length),
    // A ban follows the strike that no longer fits.
    limit: { kind: 'sliding', max: count - 1, windowMs: toMilliseconds(window), refill: count },
    actions: new Set(on.filter((word) => !statuses.includes(word))),
    ...(then === 'challenge' && { challenge: BAN_CHALLENGE }),
    statuses: new Set(statuses.map((word) => Number(word.slice('status:'.length)))),
  }
}
