import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { SallyportError } from '@sallyport/core'
import { policyText } from '@sallyport/engine'

type Policy = Parameters<typeof policyText>[0]

/** Names the ids of the rules by which the console allows or blocks an operator. */
function idsFor(operator: string): Readonly<Record<'allow' | 'block', string>> {
  const name = operator
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return { allow: `allow-${name}`, block: `block-${name}` }
}

/** Finds the console's rule on an operator, if the policy has one. */
export function findRuling({ rules }: Policy, operator: string): 'allow' | 'block' | undefined {
  const ids = idsFor(operator)
  return (['allow', 'block'] as const).find((action) => rules.some(({ id }) => id === ids[action]))
}

/** Returns the policy with a first rule that allows or blocks an operator, or without such a rule (`none`). */
export function ruleOperator(policy: Policy, operator: string, action: string): Policy {
  const ids = idsFor(operator)
  const others = policy.rules.filter(({ id }) => id !== ids.allow && id !== ids.block)
  if (action === 'none') return { ...policy, rules: others }
  if (action !== 'allow' && action !== 'block')
    throw new SallyportError('invalid_request', 'action: must be allow, block or none')
  return { ...policy, rules: [{ id: ids[action], match: { operator: [operator] }, action }, ...others] }
}

/** Computes the entity tag of a policy, which changes with its text. */
export function policyTag(policy: Policy): string {
  return `"${createHash('sha256').update(policyText(policy)).digest('base64url').slice(0, 22)}"`
}

/** Throws `edit_untagged` without a tag, and `edit_conflict` unless `tag` is `*` or matches the policy in force. */
export function requireTag(policy: Policy, tag: string | undefined): void {
  if (tag === undefined) throw new SallyportError('edit_untagged')
  if (tag !== '*' && tag !== policyTag(policy)) throw new SallyportError('edit_conflict')
}

/** Lists the changes of a save: rules by id, and other keys of the policy. */
export function policyChanges(before: Policy, after: Policy): Readonly<Record<string, unknown>> {
  const [olds, news] = [before, after].map(({ rules }) => new Map(rules.map((rule) => [rule.id, rule])))
  const [oldIds, newIds] = [[...(olds?.keys() ?? [])], [...(news?.keys() ?? [])]]
  const isKept = (id: string): boolean => olds?.has(id) === true && news?.has(id) === true
  const keys = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof Policy)[])
  return {
    rules: after.rules.length,
    added: newIds.filter((id) => !isKept(id)),
    removed: oldIds.filter((id) => !isKept(id)),
    changed: newIds.filter((id) => isKept(id) && !isDeepStrictEqual(olds?.get(id), news?.get(id))),
    moved: !isDeepStrictEqual(oldIds.filter(isKept), newIds.filter(isKept)),
    keys: [...keys].filter((key) => key !== 'rules' && !isDeepStrictEqual(before[key], after[key])),
    from: policyTag(before),
    to: policyTag(after),
  }
}
