/** The plans, smallest first; the name is `accountType` on the wire, in lower case. */
export const PLAN_NAMES = ['free', 'starter', 'pro', 'business', 'enterprise'] as const
export type PlanName = (typeof PLAN_NAMES)[number]

/** "Unlimited" as an integer: the largest that JSON numbers carry exactly (2^53 - 1). */
export const UNLIMITED = 9_007_199_254_740_991

/** Metered calls per billing window, pooled over every product (specification: Monthly allowance). */
export const ALLOWANCES: Readonly<Record<PlanName, number>> = {
  free: 30_000,
  starter: 150_000,
  pro: 500_000,
  business: 2_000_000,
  enterprise: UNLIMITED,
}

/** Whether a text is the name of a plan. */
export function isPlanName(text: string): text is PlanName {
  return (PLAN_NAMES as readonly string[]).includes(text)
}
