import type { CountedRule, Counting } from '../values/counting.ts'
import type { Decision } from '../values/decision.ts'
import { isStricter, refuses } from '../vocabulary.ts'

/**
 * Returns the strictest of several decisions about one request, by the policies that may be meant: one that refuses it
 * and is carried out before any other, then the stricter action, then the one that is carried out. Unless it refuses,
 * it is counted by the rules of all, each once.
 */
export function strictest(decisions: readonly [Decision, ...Decision[]]): Decision {
  const found = decisions.reduce((one, other) => (precedes(other, one) ? other : one))
  if (isCarriedRefusal(found)) return found
  const counting = countingOfAll(decisions)
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

/** Enforced where one of them is: what is beyond its limit is refused by somebody's policy. */
function countingOfAll(decisions: readonly Decision[]): Counting | undefined {
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
