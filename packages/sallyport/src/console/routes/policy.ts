import {
  ACTIONS,
  type Action,
  type AgentClass,
  compilePolicy,
  counted,
  countUnjudged,
  rulesInForce,
  SallyportError,
  unjudgedNotes,
} from '@sallyport/core'
import { type ConfigFault, configSchema, type PolicyReader, policyText } from '@sallyport/engine'
import { KEPT_A_SECOND } from '../history/recent.ts'
import type { OwnParts, Share } from '../shares/share.ts'
import { type Brief, toBrief } from './brief.ts'
import { policyChanges, policyTag, requireTag, ruleOperator } from './policy-edit.ts'
import { type Call, type ConsoleParts, get, post } from './route.ts'
import { requireText } from './values.ts'

/** Limit the requests of a batch that is judged again, and the time for all batches. */
const BATCH = 200
const REPLAY_MS = 700
const EXAMPLES_EACH = 3
const { allowed, others } = KEPT_A_SECOND
const LIMITS = `The memory keeps at most ${allowed} allowed requests and ${others} others per second. Limits and bans are not evaluated.`

const REPLAYED: Share<{ readonly policy: CheckedPolicy }, Replayed> = { name: 'replayed', own: replay }

/** Serves the rules in force, their effects, and what another policy would have done. */
export const POLICY_ROWS = [
  get('policy', {}, ({ response }, { sallyport }) => {
    const { policy, mode } = sallyport.config
    const { fallback } = compilePolicy({ ...policy, rules: [] })
    const own = new Set(policy.rules)
    const etag = policyTag(policy)
    response.setHeader('ETag', etag)
    return {
      mode,
      text: policyText(policy),
      etag,
      rules: [
        ...rulesInForce(policy).map((rule) => ({
          id: rule.id,
          action: rule.action,
          onTrial: rule.monitor === true,
          own: own.has(rule),
          note: JSON.stringify({ ...rule.match, unknown: rule.unknown, status: rule.status }),
        })),
        { id: fallback.id, action: fallback.action, onTrial: false, own: false, note: undefined },
      ],
    }
  }),
  get(
    'policy/schema',
    {},
    () => (configSchema()['properties'] as Readonly<Record<string, unknown>> | undefined)?.['policy'] ?? {},
  ),
  post('policy/check', { role: 'read', takes: ['text'] }, async ({ asked: { text = '' } }, { policies }) => {
    const { faults, warnings } = await policies.check(text)
    return { faults: faults.map(faultLine), warnings: warnings.map(faultLine) }
  }),
  post('policy/what-if', { role: 'read', takes: ['text'], shares: [REPLAYED] }, whatIf),
  post('policy/save', { role: 'admin', takes: ['text', 'etag'] }, async ({ asked, request, audit }, parts) =>
    save(audit, parts, requireText(asked.text, 'text'), asked.etag ?? request.headers['if-match']),
  ),
  post('crawlers/rule', { role: 'admin', takes: ['operator', 'action'] }, async ({ asked, audit }, parts) => {
    const { operator = '', action = '' } = asked
    const { policy } = parts.sallyport.config
    return save(audit, parts, policyText(ruleOperator(policy, operator, action)), policyTag(policy))
  }),
]

/** Writes a policy into the configuration file, and puts it in force at once; `tag` must match the replaced policy. */
async function save(
  audit: Call['audit'],
  { hooks, sallyport, policies }: ConsoleParts,
  text: string,
  tag: string | undefined,
) {
  if (hooks.savePolicy === undefined) {
    throw new SallyportError(
      'invalid_request',
      'The service runs without a configuration file, so the policy cannot be saved.',
    )
  }
  requireTag(sallyport.config.policy, tag)
  await checkedPolicy(policies, text)
  let before = sallyport.config.policy
  await hooks.savePolicy((configuration) => {
    // Saves wait for each other: an earlier save may have changed the policy.
    before = sallyport.config.policy
    requireTag(before, tag)
    return policies.replace(configuration, text)
  })
  const { policy } = sallyport.config
  audit('policy save', policyChanges(before, policy))
  return { saved: true, text: policyText(policy), etag: policyTag(policy) }
}

function faultLine({ place, key, rule, message }: ConfigFault) {
  return { line: place?.line ?? 1, key, rule, message }
}

/** Names what the policy in force and the draft do with a request of a class. */
interface Step {
  readonly class: AgentClass
  readonly before: Action
  readonly after: Action
}

export interface Example extends Brief, Omit<Step, 'class'> {
  readonly because: string | undefined
}

type Replayed = Awaited<ReturnType<typeof replay>>

/**
 * Tries the policy in force and a draft on the remembered requests, the newest first, and compares both: the decision when a request came
 * also rested on counts, bans and earlier policies, which neither policy knows here.
 */
async function replay({ policy }: { readonly policy: CheckedPolicy }, { history, sallyport, policies }: OwnParts) {
  const recent = history.recent.list().toReversed()
  const decided = recent.flatMap((one) => (one.decision ? [{ one, decision: one.decision }] : []))
  const steps = new Map<string, Step & { requests: number }>()
  const examples: Example[] = []
  const open = countUnjudged()
  const begun = performance.now()
  const inForce = sallyport.config.policy
  let requests = 0
  while (requests < decided.length && performance.now() - begun < REPLAY_MS) {
    const batch = decided.slice(requests, requests + BATCH)
    const judged = await policies.judge(
      [inForce, policy],
      batch.map(({ one: { userAgent, host, ja4 }, decision: { inspection } }) => {
        return { inspection, observed: { userAgent, host, ja4 } }
      }),
    )
    for (const [index, [now, draft]] of judged.entries()) {
      if (now === undefined || draft === undefined) continue
      const [before, { action: after, because, unjudged }] = [now.action, draft]
      open.add(unjudged)
      const { one, decision } = batch[index] as (typeof batch)[number]
      const { class: who } = decision.inspection.agent
      const name = `${who} ${before} ${after}`
      const step = steps.get(name) ?? { class: who, before, after, requests: 0 }
      steps.set(name, step)
      step.requests++
      if (before !== after && step.requests <= EXAMPLES_EACH)
        examples.push({ ...toBrief(one, sallyport.config.log.addresses), before, after, because })
    }
    requests += judged.length
  }
  // Time did not permit those that are left.
  const left = decided.length - requests
  return { steps: [...steps.values()], left, examples, unjudged: open.rules }
}

async function whatIf({ asked: { text = '' } }: Call<'text'>, { gather, policies }: ConsoleParts) {
  const policy = await checkedPolicy(policies, text)
  const { shares, silent } = await gather(REPLAYED, { policy })
  const left = shares.reduce((sum, share) => sum + share.left, 0)
  const steps = shares.flatMap((share) => share.steps)
  const examples = shares.flatMap((share) => share.examples)
  const isAlike = (one: Example) => (other: Example) =>
    one.class === other.class && one.before === other.before && one.after === other.after
  const open = countUnjudged()
  for (const { unjudged } of shares) open.merge(unjudged)
  const requests = countRequests(steps)
  return {
    requests,
    classes: [...new Set(steps.map((step) => step.class))].map((name) => {
      const own = steps.filter((step) => step.class === name)
      return {
        name,
        requests: countRequests(own),
        changed: countRequests(own.filter(({ before, after }) => before !== after)),
        before: countActions(own, 'before'),
        after: countActions(own, 'after'),
      }
    }),
    examples: examples.filter((one, at) => examples.slice(0, at).filter(isAlike(one)).length < EXAMPLES_EACH),
    notes: [
      LIMITS,
      ...unjudgedNotes(open.rules, requests, 'the memory'),
      ...(left === 0 ? [] : [`${counted(left, 'older request')} could not be evaluated in time.`]),
      ...(silent === 0 ? [] : [`${counted(silent, 'other process', 'other processes')} did not respond in time.`]),
    ],
  }
}

function countRequests(steps: Replayed['steps']): number {
  return steps.reduce((sum, { requests }) => sum + requests, 0)
}

function countActions(steps: Replayed['steps'], when: 'before' | 'after'): Readonly<Partial<Record<Action, number>>> {
  const counts = ACTIONS.map((action) => [action, countRequests(steps.filter((step) => step[when] === action))])
  return Object.fromEntries(counts)
}

async function checkedPolicy(policies: PolicyReader, text: string): Promise<CheckedPolicy> {
  const { policy, faults } = await policies.check(text)
  if (policy !== undefined) return policy
  throw new SallyportError('invalid_policy', faults[0]?.message, { faults: faults.map(faultLine) })
}

type CheckedPolicy = NonNullable<Awaited<ReturnType<PolicyReader['check']>>['policy']>
