export {
  createKey,
  KEY_BYTES,
  type KeyRecord,
  type NewKey,
  type ParsedKey,
  parseKey,
  sameKey,
  withoutKeys,
} from './key.ts'
export {
  type Bucket,
  CLIENT_LIMITS,
  type ClientAddress,
  type ClientLimit,
  clientBuckets,
  DEFAULT_IPV6_PREFIX,
  type LimitState,
  type Limits,
  NO_ADDRESS_KEY,
} from './limits.ts'
export { ALLOWANCES, isPlanName, PLAN_NAMES, type PlanName, UNLIMITED } from './plan.ts'
export type { Account, Accounts, KeyUse, Spend, StoredKey } from './ports.ts'
export { type BillingWindow, billingWindow, dateText, isDate } from './window.ts'
