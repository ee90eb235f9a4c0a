/** "Unlimited" as an integer: the largest that JSON numbers carry exactly (2^53 - 1). */
export const UNLIMITED = 9_007_199_254_740_991

/** Metered calls per billing window by the name of a plan, which is `accountType` on the wire. */
export type Plans = Readonly<Record<string, number>>

/** Holds the plans that need no configuration, pooled over every product (specification: Monthly allowance). */
export const ALLOWANCES = {
  free: 30_000,
  starter: 150_000,
  pro: 500_000,
  business: 2_000_000,
  enterprise: UNLIMITED,
} as const satisfies Plans

/** Adds configured plans to the usual ones; the size of a name that is there already changes. */
export function mergePlans(configured: Readonly<Record<string, number | 'unlimited'>>): Plans {
  const sizes = Object.entries(configured).map(([name, size]) => [name, size === 'unlimited' ? UNLIMITED : size])
  return { ...ALLOWANCES, ...(Object.fromEntries(sizes) as Plans) }
}

/** Returns the allowance of a plan. A plan that the configuration names no longer has that of `free`. */
export function findAllowance(plans: Plans, plan: string): number {
  return (Object.hasOwn(plans, plan) ? plans[plan] : plans['free']) ?? ALLOWANCES.free
}
