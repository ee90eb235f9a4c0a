import { channel } from 'node:diagnostics_channel'
import type { AccountEventName, EventOutcome } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import { inspection as inspectFetch } from '@sallyport/fetch'
import { type BetterAuthOptions, betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { createAuthClient } from 'better-auth/client'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { twoFactor } from 'better-auth/plugins'
import express from 'express'
import { guardAccounts } from 'sallyport/better-auth'
import t, { type Test } from 'tap'
import { startOrigin } from './proxy.ts'
import { solutionTo } from './solution.ts'
import { openWithoutData } from './without-data.ts'

const POLICY: ConfigInput['policy'] = { preset: 'observe', limits: ['account-guard'] }
const ADA = { email: 'ada@shop.example', password: 'a right password', name: 'Ada' }
const OWNER = '81.130.10.20'
/** Returns an address of another network for each number. */
const stranger = (at: number) => `${11 + (at % 80)}.${at & 255}.7.9`
const CHALLENGED = { status: 403, code: 'CHALLENGE_REQUIRED' }

interface Answered {
  readonly code?: string
  readonly details: Parameters<typeof solutionTo>[0] & { readonly pass: string }
  readonly backupCodes: readonly string[]
}

/** Starts an application with accounts, and collects the events that were judged with an outcome. */
async function started(t: Test, config: Partial<ConfigInput> = {}, options: Partial<BetterAuthOptions> = {}) {
  const seen: (readonly [AccountEventName, EventOutcome])[] = []
  const sallyport = await openWithoutData(
    t,
    { policy: POLICY, net: { outbound: false }, ...config },
    {
      observe({ decision }) {
        const { event, outcome } = decision?.inspection.event ?? {}
        if (event !== undefined && outcome !== undefined) seen.push([event, outcome])
      },
    },
  )
  const db: Record<string, unknown[]> = { user: [], session: [], account: [], verification: [], twoFactor: [] }
  const mails: string[] = []
  const auth = betterAuth({
    secret: 'a secret of more than thirty-two characters',
    baseURL: 'http://127.0.0.1',
    database: memoryAdapter(db),
    logger: { disabled: true },
    user: { changeEmail: { enabled: true, updateEmailWithoutVerification: true } },
    ...options,
    emailAndPassword: {
      enabled: true,
      sendResetPassword: async ({ user }) => void mails.push(user.email),
      ...options.emailAndPassword,
    },
    plugins: [guardAccounts(sallyport), ...(options.plugins ?? [])],
  })
  const app = express().use(forExpress.inspection(sallyport))
  app.post('/api/auth/own', express.json(), async (req, res) => {
    const sent = { body: req.body as typeof ADA, headers: fromNodeHeaders(req.headers) }
    const answer = await auth.api.signInEmail({ ...sent, asResponse: true })
    const text = await answer.text()
    res.status(answer.status).setHeaders(answer.headers).end(text)
  })
  app.all('/api/auth/*splat', toNodeHandler(auth))
  const origin = await startOrigin(t, app)
  /** Returns the client of a browser that keeps its cookies. */
  const browse = (address: string) => {
    const cookies = new Map<string, string>()
    const keep = (answer: Response) => {
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
        cookies.set(name, value)
      }
    }
    const headers = () => ({
      'x-forwarded-for': address,
      cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
      origin: 'http://127.0.0.1',
    })
    const client = createAuthClient({
      baseURL: `${origin}/api/auth`,
      fetchOptions: {
        onRequest: (context) => void Object.entries(headers()).map((field) => context.headers.set(...field)),
        onResponse: ({ response }) => keep(response),
      },
    })
    const signIn = async (password = ADA.password, email = ADA.email) =>
      (await client.signIn.email({ email, password })).error
    const send = async (path: string, more: object, body?: string) => {
      const answer = await fetch(origin + path, {
        method: 'POST',
        headers: { ...headers(), ...more },
        body: body ?? null,
      })
      keep(answer)
      return answer
    }
    const post = async (path: string, body: object) => {
      const answer = await send(`/api/auth${path}`, { 'content-type': 'application/json' }, JSON.stringify(body))
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answered }
    }
    const solve = ({ details }: Answered) =>
      send(details.pass, { 'sallyport-solution': solutionTo(details), 'sec-fetch-site': 'same-origin' })
    return { client, signIn, post, solve }
  }
  const events = () => {
    sallyport.drain()
    return seen
  }
  const users = async () => (await auth.$context).internalAdapter.listUsers()
  return { sallyport, auth, browse, events, mails, users }
}

t.test('guesses from many addresses are challenged, and the owner signs in meanwhile', async (t) => {
  const { browse, events } = await started(t)
  const owner = browse(OWNER)
  t.match((await owner.client.signUp.email(ADA)).error, null)
  for (let at = 0; at < 10; at++) t.match(await browse(stranger(at)).signIn(`guess ${at}`), { status: 401 })
  t.match(await browse(stranger(11)).signIn('another guess'), CHALLENGED)
  t.equal(await owner.signIn(), null, 'on a known network')
  const elsewhere = browse(stranger(12))
  const refused = await elsewhere.post('/sign-in/email', ADA)
  t.match(refused.body, { code: 'CHALLENGE_REQUIRED', message: /challenge/, details: { puzzles: 32, level: 2 } })
  t.equal(refused.headers.get('sallyport-challenge'), '/.sallyport/pass', 'the script of applications reads it')
  t.notMatch(JSON.stringify(refused), /account-guess|failures/, 'no reason reaches the visitor')
  await elsewhere.solve(refused.body)
  t.equal(await elsewhere.signIn(), null, 'elsewhere after one challenge')
  t.same(events(), [
    ['signup', 'success'],
    ...Array(10).fill(['login', 'failure']),
    ['login', 'success'],
    ['login', 'success'],
  ])
})

for (const path of ['/sign-in/email', '/own']) {
  t.test(`guesses at once do not learn which of them was right (${path})`, async (t) => {
    const gates = new Map<string, () => void>()
    const verify = async ({ password }: { readonly password: string }) => {
      await new Promise<void>((resolve) => gates.set(password, resolve))
      return password === ADA.password
    }
    const password = { hash: async (text: string) => text, verify }
    const { browse, auth } = await started(t, {}, { emailAndPassword: { enabled: true, password } })
    await browse(OWNER).client.signUp.email(ADA)
    const guesses = [...Array(12).keys()].map((at) => `guess ${at}`)
    const sent = [...guesses, ADA.password].map((guess, at) =>
      browse(stranger(at)).post(path, { ...ADA, password: guess }),
    )
    while (gates.size < sent.length) await new Promise((resolve) => setTimeout(resolve, 5))
    for (const guess of guesses) gates.get(guess)?.()
    const wrong = await Promise.all(sent.slice(0, -1))
    t.same(wrong.map(({ status }) => status).sort(), [...Array(10).fill(401), 403, 403], 'the eleventh is challenged')
    gates.get(ADA.password)?.()
    const right = await sent.at(-1)
    const challenged = wrong.find(({ status }) => status === 403)
    t.same(Object.keys(right?.body ?? {}), Object.keys(challenged?.body ?? {}))
    t.match(right, { status: 403, body: { code: 'CHALLENGE_REQUIRED' } })
    t.same(right?.headers.getSetCookie(), [], 'it gets no session')
    const { internalAdapter } = await auth.$context
    const user = await internalAdapter.findUserByEmail(ADA.email)
    const sessions = await internalAdapter.listSessions(user?.user.id ?? '')
    t.equal(sessions.length, 1, 'and none is left: that of the sign-up is')
  })
}

t.test('unknown users are counted as such, and answered as wrong passwords are', async (t) => {
  const { browse, events, mails } = await started(t)
  await browse(OWNER).client.signUp.email(ADA)
  const unknown = await browse(stranger(1)).signIn('guess', 'nobody@shop.example')
  t.same(unknown, await browse(stranger(2)).signIn('guess'))
  await browse(stranger(3)).client.requestPasswordReset({ email: 'nobody@shop.example' })
  await browse(stranger(3)).client.requestPasswordReset({ email: ADA.email })
  t.match((await browse(stranger(4)).client.signUp.email(ADA)).error, { status: 422 })
  t.match(await browse(stranger(4)).signIn('guess', 'no address'), { code: 'INVALID_EMAIL' })
  await browse(stranger(4)).post('/sign-in/email', { email: ['x'], password: 1 })
  t.same(events().slice(1), [
    ['login', 'unknown_user'],
    ['login', 'failure'],
    ['reset', 'unknown_user'],
    ['reset', 'success'],
    ['signup', 'failure'],
    ['login', 'unknown_user'],
  ])
  t.same(mails, [ADA.email])
})

t.test('sign-up is blocked and throttled before an account is made', async (t) => {
  const rule = { match: { event: ['signup' as const] }, limit: { key: 'mailDomain' as const, max: 1, window: '1h' } }
  for (const [action, status, code] of [
    ['block', 403, 'REQUEST_BLOCKED'],
    ['throttle', 429, 'RATE_LIMIT_EXCEEDED'],
  ] as const) {
    const policy = { preset: 'observe' as const, rules: [{ id: 'wave', ...rule, action }] }
    const { browse, users } = await started(t, { policy })
    t.match((await browse(OWNER).client.signUp.email(ADA)).error, null)
    const second = await browse(stranger(1)).client.signUp.email({ ...ADA, email: 'bob@shop.example' })
    t.match(second.error, { status, code })
    t.equal((await users()).length, 1)
  }
})

t.test('a right password before a second factor makes nobody known, and wrong codes are failures', async (t) => {
  const { browse, events } = await started(t, {}, { plugins: [twoFactor({ skipVerificationOnEnable: true })] })
  const user = browse(OWNER)
  await user.client.signUp.email(ADA)
  const { backupCodes } = (await user.post('/two-factor/enable', { password: ADA.password })).body
  const other = browse(stranger(1))
  t.match((await other.post('/sign-in/email', ADA)).body, { twoFactorRedirect: true })
  const verify = (code?: string) => other.post('/two-factor/verify-backup-code', { code })
  t.equal((await verify('wrong')).status, 401)
  t.match((await verify(backupCodes[0])).body, { user: { email: ADA.email } })
  t.same(events(), [
    ['signup', 'success'],
    ['mfa', 'failure'],
    ['mfa', 'success'],
  ])
})

t.test('a change of the address is judged with the new one', async (t) => {
  const match = { event: ['email_change' as const], mail: { alias: true } }
  const rules = [{ id: 'alias', match, action: 'block' as const }]
  const { browse, events } = await started(t, { policy: { preset: 'observe', rules } })
  const owner = browse(OWNER)
  await owner.client.signUp.email(ADA)
  const change = (newEmail: string, by = owner) => by.post('/change-email', { newEmail })
  t.match(await change('a.d.a@gmail.com'), { status: 403, body: { code: 'REQUEST_BLOCKED' } })
  t.match(await change('ada@gmail.com'), { status: 200 })
  t.match(await change('ada@gmail.com', browse(OWNER)), { status: 401 }, 'without a session')
  t.same(events().slice(1), [['email_change', 'success']])
})

t.test('monitor mode refuses nobody', async (t) => {
  const { browse } = await started(t, { mode: 'monitor' })
  await browse(OWNER).client.signUp.email(ADA)
  for (let at = 0; at < 12; at++) t.match(await browse(stranger(at)).signIn('guess'), { status: 401 })
  t.equal(await browse(stranger(13)).signIn(), null)
})

t.test('a request of the web is judged, one without inspection fails, and the server itself passes', async (t) => {
  const { sallyport, auth, events } = await started(t)
  const inspect = inspectFetch(sallyport)
  const sent = (body: object) =>
    new Request('http://127.0.0.1/api/auth/sign-in/email', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Firefox/150.0' },
      body: JSON.stringify(body),
    })
  const request = sent(ADA)
  await inspect(request, { address: OWNER })
  t.equal((await auth.handler(request)).status, 401)
  t.equal((await auth.handler(sent(ADA))).status, 500)
  await auth.api.signUpEmail({ body: ADA })
  t.same(events(), [['login', 'unknown_user']])
})

t.test('a service that is closed refuses with a code, and makes no plugin', async (t) => {
  const { sallyport, browse } = await started(t)
  const owner = browse(OWNER)
  await owner.client.signUp.email(ADA)
  await sallyport.close()
  const refused = await owner.post('/sign-in/email', ADA)
  t.match(refused, { status: 503, body: { code: 'SERVICE_UNAVAILABLE' } })
  t.throws(() => guardAccounts(sallyport), { code: 'service_unavailable' })
  t.notOk(channel('sallyport.decision').hasSubscribers)
})

t.test('plugins of a service share one subscription, which ends with the service', async (t) => {
  const decisions = channel('sallyport.decision')
  for (let at = 0; at < 3; at++) {
    const sallyport = await openWithoutData(t, { policy: POLICY })
    for (let plugin = 0; plugin < 100; plugin++) guardAccounts(sallyport)
    let listeners = 0
    const inspection = { request: { method: 'GET' } }
    decisions.publish({
      get decision() {
        listeners++
        return { inspection }
      },
    })
    t.equal(listeners, 1)
    await sallyport.close()
    t.notOk(decisions.hasSubscribers)
  }
})
