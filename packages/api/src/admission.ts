import {
  type Account,
  ALLOWANCES,
  type BillingWindow,
  type ClientLimit,
  clientBuckets,
  createBillingWindows,
  createKeyReader,
  type LimitState,
  type parseKey,
  sameKey,
} from '@sallyport/accounts'
import { SallyportError } from '@sallyport/core'
import type { Access } from './access.ts'
import type { ApiRequest } from './request.ts'
import { type ApiServices, report } from './services.ts'

/** What an account has used of its billing window. */
export interface Allowance {
  readonly account: Account
  readonly window: BillingWindow
  readonly limit: number
  readonly used: number
}

/** The outcome of admitting one request. */
export interface Admission {
  readonly allowed: boolean
  /** How the limit stands; absent where nothing limits. */
  readonly standing?: Standing
  readonly allowance?: Allowance
  /** Gives the call back that was counted when an answer of this status is not to be counted; absent where none was. */
  settle?(status: number): Promise<Admission>
}

export interface Standing {
  readonly limit: number
  readonly remaining: number
  /** Unix seconds. */
  readonly resetAt: number
}

/** Statuses of a metered route that count as one call; every other gives it back. */
const COUNTED = [200, 400]

/** A request that nothing limits, or that was refused before any limit was looked at. */
export const UNLIMITED_ADMISSION: Admission = { allowed: true }

/** Decides whether a request may be answered, and counts it. */
export type Admit = (access: Access, request: ApiRequest) => Promise<Admission>

/**
 * Admission over the services of one API. It throws `unauthorized` before anything is counted, and
 * `service_unavailable` when a store that must answer does not.
 */
export function createAdmission(services: ApiServices): Admit {
  const windowOf = createBillingWindows()
  const readKey = createKeyReader()
  return async (access, request) => {
    switch (access.kind) {
      case 'open':
        return UNLIMITED_ADMISSION
      case 'client':
        return admitClient(access.limit, request, services)
      case 'key': {
        const account = await authenticate(request, readKey, services)
        const window = windowOf(account.signupDate, services.clock.now())
        return access.metered ? admitCall(account, window, services) : admitLook(account, window, services)
      }
    }
  }
}

async function admitClient(limit: ClientLimit, request: ApiRequest, services: ApiServices): Promise<Admission> {
  const buckets = clientBuckets(services.client(request).address, services.ipv6Prefix)
  let standing: LimitState | undefined
  for (const { key, factor } of buckets) {
    const scaled = factor === 1 ? limit : { ...limit, max: limit.max * factor }
    const state = await mustAnswer(services, services.limits.take(scaled, key))
    if (standing === undefined || state.remaining < standing.remaining || !state.allowed) standing = state
    if (!state.allowed) break
  }
  if (standing === undefined) return UNLIMITED_ADMISSION
  const { allowed, remaining, resetAt } = standing
  // The limit that is told is that of the route, whichever bucket is the tighter.
  return { allowed, standing: { limit: Math.min(limit.max, standing.limit), remaining, resetAt } }
}

/** One look at an allowance, which is not counted. */
async function admitLook(account: Account, window: BillingWindow, services: ApiServices): Promise<Admission> {
  const used = await mustAnswer(services, services.accounts.usage(account.id, window.id))
  return keyedAdmission(true, { account, window, limit: ALLOWANCES[account.plan], used })
}

/** One call, counted. */
async function admitCall(account: Account, window: BillingWindow, services: ApiServices): Promise<Admission> {
  const limit = ALLOWANCES[account.plan]
  const counting = services.accounts.spend(account.id, window.id, limit)
  const { granted, used, windowId } = await mustAnswer(services, counting)
  const allowance = { account, window, limit, used }
  if (granted === 0) return keyedAdmission(false, allowance)
  const admission = keyedAdmission(true, allowance, async (status) => {
    if (COUNTED.includes(status)) return admission
    try {
      await services.accounts.refund(account.id, windowId)
    } catch (error) {
      // The answer stands: a call counted too many is better than an answer lost.
      report(services, error)
      return admission
    }
    return keyedAdmission(true, { ...allowance, used: used - 1 })
  })
  return admission
}

function keyedAdmission(allowed: boolean, allowance: Allowance, settle?: Admission['settle']): Admission {
  const { limit, used, window } = allowance
  const standing = { limit, remaining: Math.max(0, limit - used), resetAt: window.endsAt / 1000 }
  return settle === undefined ? { allowed, allowance, standing } : { allowed, allowance, standing, settle }
}

/** The account of the request's key. Throws `unauthorized` without telling what was wrong with it. */
async function authenticate(request: ApiRequest, readKey: typeof parseKey, services: ApiServices): Promise<Account> {
  const token = bearerToken(request.fields)
  const key = token === undefined ? undefined : readKey(token)
  if (key === undefined) throw new SallyportError('unauthorized')
  const found = await mustAnswer(services, services.accounts.findKey(key.id))
  if (found === undefined || !sameKey(key, found.key) || found.key.revokedAt !== undefined) {
    throw new SallyportError('unauthorized')
  }
  services.onKeyUsed?.(found.key.id)
  return found.account
}

const AUTHORIZATION = 'authorization'

/**
 * The credentials of the one `Authorization: Bearer` field (RFC 6750; the scheme in any case). `undefined` when there
 * is none or more than one: Node keeps the first of several silently, so the raw fields are counted.
 */
function bearerToken(fields: readonly string[]): string | undefined {
  let value: string | undefined
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]
    // The length first: a browser sends twenty other fields.
    if (name?.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue
    if (value !== undefined) return undefined
    value = fields[index + 1] ?? ''
  }
  return value === undefined ? undefined : /^bearer +(\S+) *$/i.exec(value)?.[1]
}

/** A store that fails is no answer: the request is refused, and the host is told why. */
async function mustAnswer<T>(services: ApiServices, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    report(services, error)
    throw new SallyportError('service_unavailable')
  }
}
