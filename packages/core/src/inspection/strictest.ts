import type { CountedRule, Counting } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import { isStricter, refuses } from '../vocabulary.ts'

/**
 * Returns the strictest of several decisions about one request by different policies: an enforced refusal before any other, then the
 * stricter action, then the enforced one. Unless it refuses, the rules of all count the request, each once.
 */
export function strictest(decisions: readonly [Decision, ...Decision[]]): Decision {
  const found = decisions.reduce((one, other) => (precedes(other, one) ? other : one))
  if (isCarriedRefusal(found)) return found
  const counting = joinCountings(decisions)
  return counting === undefined ? found : Object.freeze({ ...found, counting })
}

function precedes(one: Decision, other: Decision): boolean {
  if (isCarriedRefusal(one) !== isCarriedRefusal(other)) return isCarriedRefusal(one)
  if (one.action !== other.action) return isStricter(one.action, other.action)
  return one.enforced && !other.enforced
}

function isCarriedRefusal({ action, enforced }: Decision): boolean {
  return enforced && refuses(action)
}

/** Enforces where any decision does: some policy refuses a request beyond its limit. */
function joinCountings(decisions: readonly Decision[]): Counting | undefined {
  const rules = new Map<string, CountedRule>()
  let mode: Counting['mode'] = 'monitor'
  for (const { counting } of decisions) {
    if (counting?.mode === 'enforce') mode = 'enforce'
    for (const counted of counting?.rules ?? []) {
      const { countedAs } = counted.rule
      if (!rules.has(countedAs)) rules.set(countedAs, counted)
    }
  }
  return rules.size === 0 ? undefined : Object.freeze({ mode, rules: Object.freeze([...rules.values()]) })
}
