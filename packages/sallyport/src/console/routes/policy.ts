import {
  ACTIONS,
  type Action,
  compilePolicy,
  counted,
  countUnjudged,
  type Decision,
  type ObservedRequest,
  rulesInForce,
  SallyportError,
  type UnjudgedRule,
  unjudgedNotes,
} from '@sallyport/core'
import { type ConfigFault, configSchema, type PolicyReader, policyText } from '@sallyport/engine'
import { KEPT_A_SECOND } from '../history/recent.ts'
import type { OwnParts, Share } from '../shares/share.ts'
import { type Brief, toBrief } from './brief.ts'
import { policyChanges, policyTag, requireTag, ruleOperator } from './policy-edit.ts'
import { type Body, type Call, type ConsoleParts, row } from './route.ts'
import { readMember } from './values.ts'

/** Limit the requests of a batch that is judged again, and the time for all batches. */
const BATCH = 200
const REPLAY_MS = 700
const EXAMPLES_EACH = 3
const PARTIAL = `The memory keeps at most ${KEPT_A_SECOND.allowed} allowed requests and ${KEPT_A_SECOND.others} others per second.`

const REPLAYED: Share<{ readonly policy: CheckedPolicy }, Replayed> = { name: 'replayed', own: replay }

/** Serves the rules in force, their effects, and what another policy would have done. */
export const POLICY_ROWS = [
  row({ method: 'GET', path: 'policy', role: 'read', answer: showInForce }),
  row({
    method: 'GET',
    path: 'policy/schema',
    role: 'read',
    answer: () => (configSchema()['properties'] as Readonly<Record<string, unknown>> | undefined)?.['policy'] ?? {},
  }),
  row({
    method: 'POST',
    path: 'policy/check',
    role: 'read',
    takes: ['text'],
    async answer(call, { policies }) {
      const { faults, warnings } = await policies.check(await textIn(call))
      return { faults: faults.map(faultLine), warnings: warnings.map(faultLine) }
    },
  }),
  row({
    method: 'POST',
    path: 'policy/what-if',
    role: 'read',
    takes: ['text'],
    shares: [REPLAYED],
    answer: whatIf,
  }),
  row({
    method: 'POST',
    path: 'policy/save',
    role: 'admin',
    takes: ['text', 'etag'],
    async answer(call, parts) {
      const body = await call.body()
      const tag = readMember(body, 'etag') ?? call.request.headers['if-match']
      return save(call, parts, textOfBody(body), tag)
    },
  }),
  row({
    method: 'POST',
    path: 'crawlers/rule',
    role: 'admin',
    takes: ['operator', 'action'],
    async answer(call, parts) {
      const body = await call.body()
      const [operator, action] = [readMember(body, 'operator') ?? '', readMember(body, 'action') ?? '']
      const { policy } = parts.sallyport.config
      return save(call, parts, policyText(ruleOperator(policy, operator, action)), policyTag(policy))
    },
  }),
]

/** Writes a policy into the configuration file, and puts it in force at once; `tag` must match the replaced policy. */
async function save(
  { audit }: Pick<Call, 'audit'>,
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

function showInForce({ response }: Call, { sallyport }: ConsoleParts) {
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
}

async function textIn({ body }: Call<'text'>): Promise<string> {
  return textOfBody(await body())
}

function textOfBody({ text }: Body<'text'>): string {
  if (typeof text !== 'string') throw new SallyportError('invalid_request', 'text: must be a text')
  return text
}

function faultLine({ place, key, rule, message }: ConfigFault) {
  return { line: place?.line ?? 1, key, rule, message }
}

interface ClassRow {
  requests: number
  changed: number
  readonly before: Partial<Record<Action, number>>
  readonly after: Partial<Record<Action, number>>
}

interface Example extends Brief {
  /** Hold the actions that the policy in force and the draft take. */
  readonly before: Action
  readonly after: Action
  readonly because: string | undefined
}

interface Replayed {
  readonly requests: number
  /** Counts requests that time did not permit. */
  readonly left: number
  /** Counts requests that the policy in force decides differently than when they came. */
  readonly moved: number
  /** Whether there were more requests than are remembered. */
  readonly isPartial: boolean
  readonly classes: Readonly<Record<string, ClassRow>>
  readonly examples: readonly Example[]
  readonly unjudged: readonly UnjudgedRule[]
}

/**
 * Tries the policy in force and a draft on the remembered requests, the newest first, and compares both: the decision when a request came
 * also rested on counts, bans and earlier policies, which neither policy knows here.
 */
async function replay(
  { policy }: { readonly policy: CheckedPolicy },
  { history, sallyport, policies }: OwnParts,
): Promise<Replayed> {
  const decided = history.recent.list().toReversed().flatMap(filterDecided)
  const classes: Record<string, ClassRow> = {}
  const examples: Example[] = []
  const open = countUnjudged()
  const isWanted = createExampleFilter()
  const begun = performance.now()
  const inForce = sallyport.config.policy
  let [requests, moved] = [0, 0]
  while (requests < decided.length && performance.now() - begun < REPLAY_MS) {
    const batch = decided.slice(requests, requests + BATCH)
    const judged = await policies.judge(
      [inForce, policy],
      batch.map(({ one, decision: { inspection } }) => ({ inspection, observed: pickKept(one) })),
    )
    for (const [index, [now, draft]] of judged.entries()) {
      if (now === undefined || draft === undefined) continue
      const [before, { action: after, because, unjudged }] = [now.action, draft]
      open.add(unjudged)
      const { one, decision } = batch[index] as Decided
      const { agent } = decision.inspection
      if (before !== decision.action) moved++
      const row = classes[agent.class] ?? { requests: 0, changed: 0, before: {}, after: {} }
      classes[agent.class] = row
      add(row, { requests: 1, changed: Number(after !== before) })
      row.before[before] = (row.before[before] ?? 0) + 1
      row.after[after] = (row.after[after] ?? 0) + 1
      if (after === before) continue
      const example = { ...toBrief(one, sallyport.config.log.addresses), before, after }
      if (isWanted(example)) examples.push({ ...example, because })
    }
    requests += judged.length
  }
  return {
    requests,
    left: decided.length - requests,
    moved,
    isPartial: history.recent.isPartial,
    classes,
    examples,
    unjudged: open.rules,
  }
}

/** Picks what is remembered of a request beside its inspection. */
function pickKept({ userAgent, host, ja4 }: ObservedRequest): Pick<ObservedRequest, 'userAgent' | 'host' | 'ja4'> {
  return { userAgent, host, ja4 }
}

interface Decided {
  readonly one: ObservedRequest
  readonly decision: Decision
}

function filterDecided(one: ObservedRequest): readonly Decided[] {
  const { decision } = one
  return decision === undefined ? [] : [{ one, decision }]
}

async function whatIf(call: Call<'text'>, { gather, policies }: ConsoleParts) {
  const policy = await checkedPolicy(policies, await textIn(call))
  const { shares, silent } = await gather(REPLAYED, { policy })
  const left = shares.reduce((sum, share) => sum + share.left, 0)
  const classes: Record<string, ClassRow> = {}
  for (const [name, row] of shares.flatMap((share) => Object.entries(share.classes))) {
    const sum = classes[name] ?? { requests: 0, changed: 0, before: {}, after: {} }
    classes[name] = sum
    add(sum, row)
    for (const action of ACTIONS) {
      sum.before[action] = (sum.before[action] ?? 0) + (row.before[action] ?? 0)
      sum.after[action] = (sum.after[action] ?? 0) + (row.after[action] ?? 0)
    }
  }
  const requests = shares.reduce((sum, share) => sum + share.requests, 0)
  const moved = shares.reduce((sum, share) => sum + share.moved, 0)
  const open = countUnjudged()
  for (const { unjudged } of shares) open.merge(unjudged)
  return {
    requests,
    classes: Object.entries(classes).map(([name, row]) => ({ name, ...row })),
    examples: shares.flatMap((share) => share.examples).filter(createExampleFilter()),
    notes: [
      ...unjudgedNotes(open.rules, requests, 'the memory'),
      ...listNotes(policy),
      ...(moved === 0 ? [] : [movedNote(moved)]),
      ...(shares.some(({ isPartial }) => isPartial) ? [PARTIAL] : []),
      ...(left === 0 ? [] : [`${counted(left, 'older request')} could not be evaluated in time.`]),
      ...(silent === 0 ? [] : [`${counted(silent, 'other process', 'other processes')} did not respond in time.`]),
    ],
  }
}

function movedNote(moved: number): string {
  return `${counted(moved, 'request')} had another action at the time, because of a limit, a ban or an earlier policy. Both columns show the policies alone.`
}

function add(row: ClassRow, { requests, changed }: Pick<ClassRow, 'requests' | 'changed'>): void {
  row.requests += requests
  row.changed += changed
}

/** Creates a filter that passes the first examples of each kind of change. */
function createExampleFilter(): (one: Omit<Example, 'because'>) => boolean {
  const shown = new Map<string, number>()
  return ({ class: who, before, after }) => {
    const kind = `${who} ${before} ${after}`
    const times = shown.get(kind) ?? 0
    shown.set(kind, times + 1)
    return times < EXAMPLES_EACH
  }
}

async function checkedPolicy(policies: PolicyReader, text: string): Promise<CheckedPolicy> {
  const { policy, faults } = await policies.check(text)
  if (policy !== undefined) return policy
  throw new SallyportError('invalid_policy', faults[0]?.message, { faults: faults.map(faultLine) })
}

/** Notes what a replay of remembered requests cannot know. */
function listNotes({ rules, strikes }: CheckedPolicy): readonly string[] {
  const isCounting = rules.some((rule) => 'limit' in rule || 'concurrent' in rule) || strikes !== undefined
  return isCounting ? ['Rules with limits are evaluated as within their limits.'] : []
}

type CheckedPolicy = NonNullable<Awaited<ReturnType<PolicyReader['check']>>['policy']>
