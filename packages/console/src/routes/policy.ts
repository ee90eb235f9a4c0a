import { setImmediate as breathe } from 'node:timers/promises'
import { type Action, compilePolicy, type Decision, decide, SallyportError } from '@sallyport/core'
import { type ConfigFault, checkPolicyText, configSchema, policyText } from '@sallyport/open'
import type { Remembered } from '../history/recent.ts'
import { briefOf } from './brief.ts'
import type { Call, ConsoleParts, Row } from './route.ts'
import { mapOf } from './values.ts'

const MAX_POLICY = 262_144
/** Requests that are judged again before others have their turn. */
const STRIDE = 250
const EXAMPLES_EACH = 3

/** The rules in force, what they did, and what another policy would have done. */
export const POLICY_ROWS: readonly Row[] = [
  { method: 'GET', path: 'policy', role: 'read', answer: inForce },
  {
    method: 'GET',
    path: 'policy/schema',
    role: 'read',
    answer: () => (configSchema()['properties'] as Readonly<Record<string, unknown>> | undefined)?.['policy'] ?? {},
  },
  {
    method: 'POST',
    path: 'policy/check',
    role: 'read',
    async answer(call) {
      const { faults, warnings } = checkPolicyText(await textIn(call))
      return { faults: faults.map(faultLine), warnings: warnings.map(faultLine) }
    },
  },
  { method: 'POST', path: 'policy/what-if', role: 'read', answer: whatIf },
  {
    method: 'POST',
    path: 'policy/save',
    role: 'admin',
    async answer(call, { hooks, sallyport }) {
      if (hooks.savePolicy === undefined) {
        throw new SallyportError(
          'invalid_request',
          'The service runs without a configuration file, so nothing can be saved.',
        )
      }
      const text = await textIn(call)
      await hooks.savePolicy(text)
      call.audit('policy save', { rules: sallyport.config.policy.rules.length })
      return { saved: true, text: policyText(sallyport.config.policy) }
    },
  },
]

function inForce({ now }: Call, { sallyport, history }: ConsoleParts) {
  const { policy, mode } = sallyport.config
  const { rules, fallback } = compilePolicy(policy)
  const own = new Map(policy.rules.map((rule) => [rule.id, rule]))
  return {
    mode,
    text: policyText(policy),
    rules: [...rules, { matched: fallback, onTrial: false }].map(({ matched, onTrial }) => ({
      ...{ id: matched.id, action: own.get(matched.id)?.action ?? matched.action, onTrial },
      own: own.has(matched.id),
      note: own.has(matched.id) ? JSON.stringify(own.get(matched.id)?.match) : undefined,
    })),
    did: history.top('rules', now, 24, 300),
    would: history.top('trials', now, 24, 300),
  }
}

async function textIn({ body }: Call): Promise<string> {
  const { text } = mapOf(await body())
  if (typeof text !== 'string' || text.length > MAX_POLICY) {
    throw new SallyportError('invalid_request', `text: must be a text of at most ${MAX_POLICY} characters`)
  }
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

/** Judges the remembered requests by a draft; what counts is taken as within its limits. */
async function whatIf(call: Call, { history, sallyport }: ConsoleParts) {
  const { policy, faults } = checkPolicyText(await textIn(call))
  if (policy === undefined)
    throw new SallyportError('invalid_policy', faults[0]?.message, { faults: faults.map(faultLine) })
  const draft = compilePolicy(policy)
  const decided = history.recent().filter(({ observed }) => observed.decision !== undefined)
  const classes: Record<string, ClassRow> = {}
  const examples: object[] = []
  const shown = new Map<string, number>()
  for (const [index, one] of decided.entries()) {
    if (index % STRIDE === STRIDE - 1) await breathe()
    const { decision } = one.observed
    if (decision === undefined) continue
    const after = judged(draft, one, decision)
    const { agent } = decision.inspection
    const row = classes[agent.class] ?? { requests: 0, changed: 0, before: {}, after: {} }
    classes[agent.class] = row
    row.requests++
    row.before[decision.action] = (row.before[decision.action] ?? 0) + 1
    row.after[after.action] = (row.after[after.action] ?? 0) + 1
    if (after.action === decision.action) continue
    row.changed++
    const kind = `${agent.class} ${decision.action} ${after.action}`
    const times = shown.get(kind) ?? 0
    shown.set(kind, times + 1)
    if (times >= EXAMPLES_EACH) continue
    const brief = briefOf(one, sallyport.config.log.addresses)
    examples.push({ ...brief, after: after.action, because: after.reasons[0]?.text })
  }
  return {
    requests: decided.length,
    classes: Object.entries(classes).map(([name, row]) => ({ name, ...row })),
    examples,
    notes: notesOf(policy),
  }
}

function judged(
  draft: ReturnType<typeof compilePolicy>,
  { userAgent }: Remembered,
  { inspection }: Decision,
): Decision {
  const fields = userAgent === undefined ? [] : ['User-Agent', userAgent]
  return decide(draft, inspection, { mode: 'enforce', fields })
}

/** What a replay of what is remembered cannot know. */
function notesOf({ rules, strikes }: CheckedPolicy): readonly string[] {
  const notes: string[] = []
  if (rules.some(({ match }) => match.header !== undefined)) {
    notes.push('Fields of requests are not kept, but for the user agent: what rules about header do is not known.')
  }
  if (rules.some((rule) => 'limit' in rule || 'concurrent' in rule) || strikes !== undefined) {
    notes.push('Rules that count are taken as within their limits.')
  }
  return notes
}

type CheckedPolicy = NonNullable<ReturnType<typeof checkPolicyText>['policy']>
