import type { AccountEventName, Challenges, ErrorCode } from '@sallyport/core'
import { challengedClient, describeChallenge, ERRORS, SallyportError } from '@sallyport/core/host'
import type { BetterAuthPlugin, HookEndpointContext } from 'better-auth'
import { APIError, createAuthMiddleware, getSessionFromCtx, isAPIError } from 'better-auth/api'
import type { AccountProtection } from './assess.ts'
import { findInspected } from './find-request.ts'
import type { DecisionKeeper } from './kept-decisions.ts'
import type { AccountEvent } from './read-event.ts'

/** The parts of what `open()` resolves to that guard accounts. */
export interface GuardedService {
  readonly accounts: AccountProtection & DecisionKeeper
  readonly challenges: Pick<Challenges, 'admits' | 'issue'>
  readonly config: { readonly challenge: { readonly path: string } }
}

type Context = Parameters<Parameters<typeof createAuthMiddleware>[0]>[0]

/** Endpoints of better-auth and its plugins: the event, and the member of the body that names the account or its new address. */
const ENDPOINTS: Readonly<Record<string, readonly [event: AccountEventName, member: string]>> = {
  '/sign-up/email': ['signup', 'email'],
  '/sign-in/email': ['login', 'email'],
  '/sign-in/username': ['login', 'username'],
  '/sign-in/phone-number': ['login', 'phoneNumber'],
  '/request-password-reset': ['reset', 'email'],
  '/change-email': ['email_change', 'newEmail'],
  '/two-factor/verify-totp': ['mfa', 'code'],
  '/two-factor/verify-otp': ['mfa', 'code'],
  '/two-factor/verify-backup-code': ['mfa', 'code'],
}
const HEAD = { method: 'POST', target: '/', scheme: 'unknown', httpVersion: '' } as const

/**
 * Creates a plugin of better-auth that judges sign-up, sign-in, resets, changes of the address and second factors, before the endpoint
 * runs and with its outcome. A challenged client gets `CHALLENGE_REQUIRED` with the challenge, which `pass.js` solves; a blocked one
 * gets `REQUEST_BLOCKED`, and a throttled one `RATE_LIMIT_EXCEEDED`. A request that `inspection` has not seen fails with
 * `invalid_config`. A service that is closed answers `SERVICE_UNAVAILABLE`, and makes no plugin. Calls by the server itself, without
 * headers of a request, are not judged.
 *
 * @example
 * ```ts
 * import { betterAuth } from 'better-auth'
 * import { open } from 'sallyport'
 * import { guardAccounts } from 'sallyport/better-auth'
 *
 * const sallyport = await open({ policy: { limits: ['account-guard'] } })
 * export const auth = betterAuth({ emailAndPassword: { enabled: true }, plugins: [guardAccounts(sallyport)] })
 * ```
 * @see https://github.com/sallyport/sallyport/blob/main/packages/sallyport/docs/logins.md#better-auth
 */
export function guardAccounts(sallyport: GuardedService): BetterAuthPlugin {
  // Adapters for Node make a new request of the one that was inspected: its headers name the decision.
  const findDecision = sallyport.accounts.keepDecisions()

  async function judge(ctx: Context, event: AccountEvent): Promise<APIError | undefined> {
    try {
      return await ask(ctx, event)
    } catch (error) {
      const isClosed = error instanceof SallyportError && error.code === 'service_unavailable'
      throw isClosed ? createError('service_unavailable', {}, {}) : error
    }
  }

  async function ask(ctx: Context, event: AccountEvent): Promise<APIError | undefined> {
    const { headers = new Headers(), request = {} } = ctx as { headers?: Headers; request?: object }
    const kept = findDecision(headers.get('sallyport-request-id') ?? '')
    const { decision, fields } = findInspected(kept === undefined ? request : { sallyport: kept, headers })
    const inspected = { sallyport: decision, rawHeaders: fields }
    const { action, rule, challenge, retryAfter = 1 } = await sallyport.accounts.assess(inspected, event)
    if (action === 'allow' || action === 'flag') return undefined
    const client = challengedClient(decision.inspection, fields)
    if (challenge !== undefined && sallyport.challenges.admits(client)) {
      const { pass, ja4, peer } = decision.inspection
      const host = ['Host', headers.get('host') ?? new URL(ctx.context.baseURL).host]
      const request = { ...HEAD, peer, ja4, fields: [...host, ...fields] }
      const issued = sallyport.challenges.issue(request, { terms: challenge, rule, pass, client }, true)
      const place = `${sallyport.config.challenge.path}/pass`
      // The script of applications finds the challenge by this header.
      const found = { 'Sallyport-Challenge': place, 'Cache-Control': 'no-store' }
      return createError('challenge_required', { details: describeChallenge(issued, place) }, found)
    }
    const isBlock = action !== 'throttle' && action !== 'challenge'
    return createError(isBlock ? 'request_blocked' : 'rate_limit_exceeded', {}, { 'Retry-After': String(retryAfter) })
  }

  const before = createAuthMiddleware(async (ctx) => {
    const attempt = await findAttempt(ctx)
    const refusal = attempt && (await judge(ctx, attempt))
    if (refusal !== undefined) throw refusal
  })

  const after = createAuthMiddleware(async (ctx) => {
    const attempt = await findAttempt(ctx)
    const outcome = attempt && findOutcome(ctx, attempt)
    if (attempt === undefined || outcome === undefined) return undefined
    const refusal = await judge(ctx, { ...attempt, ...outcome })
    if (refusal === undefined || (attempt.event !== 'login' && attempt.event !== 'mfa')) return undefined
    // Guesses that run at once are all judged before they fail: a right one among them must not be told from a wrong one.
    const { newSession, responseHeaders, internalAdapter } = ctx.context
    if (newSession) await internalAdapter.deleteSession(newSession.session.token)
    ctx.context.setNewSession(null)
    responseHeaders?.delete('set-cookie')
    // A response to an error that is thrown here has the status of the endpoint: only JSON keeps a status of its own.
    if (ctx.request === undefined) throw Object.assign(refusal, { _flag: 'json', status: refusal.statusCode })
    return Response.json(refusal.body, { status: refusal.statusCode, headers: refusal.headers })
  })

  const matcher = ({ path = '', headers }: HookEndpointContext) => path in ENDPOINTS && headers !== undefined
  return { id: 'sallyport', hooks: { before: [{ matcher, handler: before }], after: [{ matcher, handler: after }] } }
}

/** Reads the event that a request begins, with the user that it is about; `undefined` for a body that names nobody. */
async function findAttempt(ctx: Context): Promise<AccountEvent | undefined> {
  const [event, member] = ENDPOINTS[ctx.path] as (typeof ENDPOINTS)[string]
  const named: unknown = ctx.body?.[member]
  if (typeof named !== 'string' || named === '') return undefined
  const text = named.slice(0, 1_024)
  if (event === 'mfa' || event === 'email_change') {
    const { user } = ctx.context.newSession ?? (await getSessionFromCtx(ctx)) ?? { user: await findPending(ctx) }
    const mail = event === 'email_change' ? text : undefined
    return user && { event, user: user.id, identifier: user.email, mail }
  }
  if (event === 'signup') return { event, identifier: text }
  const where = [{ field: member, value: member === 'phoneNumber' ? text : text.toLowerCase() }]
  const user = await ctx.context.adapter.findOne<{ readonly id: string }>({ model: 'user', where })
  return { event, user: user?.id, identifier: text }
}

/** Finds the user whose password was right and whose second factor is awaited. */
async function findPending({ context, getSignedCookie }: Context) {
  const token = await getSignedCookie(context.createAuthCookie('two_factor').name, context.secret)
  const pending = token ? await context.internalAdapter.findVerificationValue(token) : null
  return (pending && (await context.internalAdapter.findUserById(pending.value))) ?? undefined
}

/** Reads the outcome of an attempt; `undefined` where it neither failed nor succeeded yet. */
function findOutcome({ context }: Context, { event, user }: AccountEvent): Omit<AccountEvent, 'event'> | undefined {
  const returned: unknown = context.returned
  const failed = { outcome: user === undefined && event !== 'signup' ? 'unknown_user' : 'failure', user } as const
  if (isAPIError(returned)) {
    return returned.statusCode === 401 || /^(?:INVALID|USER_ALREADY)_/.test(returned.body?.code ?? '')
      ? failed
      : undefined
  }
  if (event === 'reset' || event === 'email_change') return user === undefined ? failed : { outcome: 'success', user }
  const { user: signedIn } = (returned ?? {}) as { readonly user?: { readonly id?: string | undefined } | undefined }
  // The second factor is the success of this user.
  const isPending = event === 'login' && context.newSession?.user['twoFactorEnabled'] === true
  return signedIn === undefined || isPending ? undefined : { outcome: 'success', user: user ?? signedIn.id }
}

/** Creates an error that clients of better-auth read: the code in capitals, and the details beside. */
function createError(code: ErrorCode, more: object, headers: Readonly<Record<string, string>>): APIError {
  const { status, message } = ERRORS[code]
  return new APIError(status, { code: code.toUpperCase(), message, ...more }, headers)
}
