export { createKey, KEY_BYTES, type ParsedKey, parseKey, sameKey, withoutKeys } from './key.ts'
export { ALLOWANCES, isPlanName, PLAN_NAMES, type PlanName } from './plan.ts'
export type { Account, Accounts, Spend, StoredKey } from './ports.ts'
export { type BillingWindow, billingWindow, createBillingWindows, dateText, isDate } from './window.ts'
