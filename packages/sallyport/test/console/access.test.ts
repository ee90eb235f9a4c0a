import { appendFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type AuditLine, openAuditTrail } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { createRate } from '../../src/console/access/rate.ts'
import { type Door, openDoor, readTokens, signInLink } from '../../src/console/index.ts'
import { visit } from '../cli/command.ts'
import { ADMIN, openScene, READER, until, WITHOUT_DATA } from './scene.ts'

const HEALTH = '/console/api/health'
const SESSION = '/console/api/session'
const OWN = { 'x-sallyport-console': '1' }
const TOKENS = { admin: ADMIN, read: READER }
type Fields = Readonly<Record<string, string>>
type Answer = Awaited<ReturnType<typeof visit>>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const readCookie = ({ headers }: Answer) => String(headers['set-cookie']).split(';', 1)[0] ?? ''
const codeIn = (link: string) => /#sign-in=(\S+)$/.exec(link)?.[1] ?? ''
const linkFields = (code: string) => ({ ...OWN, authorization: `Link ${code}` })

/** Opens a console, and asks its admin listener. */
async function openConsole(t: Test, hooks: Parameters<typeof openScene>[0] = {}, config: object = {}) {
  const scene = await openScene(hooks, { ...WITHOUT_DATA, ...config })
  t.teardown(scene.close)
  const call = (method: string, path: string, headers: Fields = {}) =>
    visit(scene.adminUrl + path, headers, method === 'POST' ? '{}' : undefined, method)
  return {
    ...scene,
    call,
    status: async (path: string, headers: Fields = {}) => (await call('GET', path, headers)).status,
    session: async (headers: Fields) => (await call('GET', SESSION, headers)).text,
    signIn: async (token: string) => readCookie(await call('POST', SESSION, bearer(token))),
  }
}

t.test('nobody reads without a token, on this machine either, and a token makes an administrator', async (t) => {
  const { adminUrl, call, status, session } = await openConsole(t)
  for (const [path, headers, expected] of [
    // The first is what a proxy of this machine sends.
    [HEALTH, {}, 401],
    [HEALTH, { host: 'attacker.example' }, 401],
    [HEALTH, { 'sec-fetch-site': 'cross-site' }, 403],
    [HEALTH, bearer('nobody-knows-this-one'), 401],
    ['/', {}, 200],
    ['/healthz', {}, 200],
    [HEALTH, { ...bearer(ADMIN), host: 'console.example' }, 200],
  ] as const)
    t.equal(await status(path, headers), expected, `${path} ${JSON.stringify(headers)}`)

  const signed = await call('POST', SESSION, bearer(ADMIN))
  t.match(signed.text, /"role":"admin"/)
  const set = /^sallyport-console=\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/
  t.match(String(signed.headers['set-cookie']), set)
  const cookie = readCookie(signed)
  t.match(await session({ cookie }), /"role":"admin","by":"session"/)
  const others = `sallyport-console=; sallyport-console=of-another-port; ${cookie}`
  t.match(await session({ cookie: others }), /"role":"admin"/, 'beside those of other ports')

  const leave = async (headers: Fields) => (await call('DELETE', SESSION, { cookie, ...headers })).status
  t.equal(await leave({}), 403, 'no page of another site can end a session')
  t.equal(await leave({ ...OWN, origin: 'http://attacker.example' }), 403)
  t.equal(await leave({ ...OWN, 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await leave({ ...OWN, origin: adminUrl }), 200)
  t.match(await session({ cookie }), /"role":null,"by":"nothing"/)
  t.notMatch(await session({ cookie: cookie.replace(/admin\.\d+/, 'admin.9999999999999') }), /"admin"/)
})

t.test('who steers lifts bans and renews data, and touches neither policy nor accounts', async (t) => {
  const STEER = 'a-token-for-steering-1'
  const { ask, session, signIn } = await openConsole(t, { door: openDoor({ tokens: { ...TOKENS, steer: STEER } }) })
  t.match(await session({ cookie: await signIn(STEER) }), /"role":"steer","by":"session"/)
  t.equal((await ask('health', undefined, STEER)).status, 200)
  for (const [path, body, refused, may] of [
    ['bans/lift', { id: '00000000' }, READER, STEER],
    ['lists/add', { name: 'none', entries: '192.0.2.1' }, READER, STEER],
    ['data/update', { source: 'none' }, READER, STEER],
    ['accounts', { name: 'x', plan: 'free' }, STEER, ADMIN],
    ['keys', { account: 'x' }, STEER, ADMIN],
    ['policy/save', { text: 'rules: []' }, STEER, ADMIN],
  ] as const) {
    t.equal((await ask(path, body, refused)).status, 403, path)
    t.not((await ask(path, body, may)).status, 403, path)
  }
})

t.test('what operators do is shown with who did it, whatever is in the log, and after a restart', async (t) => {
  const [dataDir, file] = [t.testdir(), join(t.testdir({ logs: {} }), 'decisions.log')]
  const config = { dataDir, log: { file, requests: 'all' } }
  const byConsole = { who: 'console admin', audit: 'accounts create', details: { plan: 'free' } }
  for (const isFirst of [true, false]) {
    const { ask, sallyport, close } = await openConsole(t, {}, config)
    if (isFirst) {
      const trail = await openAuditTrail(sallyport.config, () => {})
      trail.audit({ what: 'keys revoke', who: 'a command', error: 'not_found' })
      await trail.close()
      await ask('accounts', { name: 'shown', plan: 'free' }, ADMIN)
    }
    // More than the end of a log that anybody would read for some actions.
    appendFileSync(file, '{"level":"info","requestId":"a"}\n'.repeat(20_000))
    let actions: readonly AuditLine[] = []
    await until(async () => {
      const { body } = await ask('audit')
      t.match(body, { silent: 0, isKept: true })
      actions = body.actions
      return actions.some(({ who }) => who === 'console admin')
    })
    const [first, second] = actions.toSorted((one, other) => (one.who < other.who ? -1 : 1))
    t.match([first, second], [{ who: 'a command', audit: 'keys revoke', error: 'not_found' }, byConsole])
    t.equal(actions.length, 2, 'once')
    await close()
  }
})

t.test('an administrator allows or blocks an operator, by the first rule of the policy', async (t) => {
  const saved: string[] = []
  const { ask } = await openConsole(
    t,
    { savePolicy: async (written) => void saved.push(await written('listen: 127.0.0.1:8080\n')) },
    { dataDir: t.testdir() },
  )
  for (const [token, operator, action, status] of [
    [READER, 'OpenAI', 'block', 403],
    [ADMIN, 'OpenAI', 'block', 200],
    [ADMIN, 'OpenAI', 'allow', 200],
    [ADMIN, 'OpenAI', 'none', 200],
    [ADMIN, 'Nobody', 'block', 400],
    [ADMIN, 'OpenAI', 'flag', 400],
  ] as const)
    t.equal((await ask('crawlers/rule', { operator, action }, token)).status, status, `${operator} ${action}`)
  t.match(saved, [
    /rules:\n\s+- id: block-openai\n\s+match:\n\s+operator:\s+- OpenAI\n\s+action: block/,
    /^(?!.*block-openai).*allow-openai/s,
    /^(?!.*openai)/s,
  ])
})

t.test('a reader lifts no ban, and neither does a page of another site', async (t) => {
  const { call, session, signIn } = await openConsole(t)
  const [cookie, reader] = [await signIn(ADMIN), await signIn(READER)]
  for (const [method, path, headers, expected] of [
    ['GET', '/bans', {}, 401],
    ['DELETE', '/bans/abc', {}, 401],
    ['GET', '/bans', bearer(READER), 200],
    ['DELETE', '/bans/abc', bearer(READER), 401],
    ['DELETE', '/bans/abc', bearer(ADMIN), 404],
    ['DELETE', '/bans/abc', { cookie }, 401],
    ['DELETE', '/bans/abc', { ...OWN, cookie }, 404],
  ] as const)
    t.equal((await call(method, path, headers)).status, expected, `${method} ${path} ${JSON.stringify(headers)}`)
  t.match(await session({ cookie: reader }), /"role":"read","by":"session"/)
})

t.test('a link signs in once, to look', async (t) => {
  const { adminUrl, call, status, session } = await openConsole(t)
  const link = signInLink(TOKENS, 'http://0.0.0.0:9090')
  t.match(link, /^http:\/\/127\.0\.0\.1:9090\/#sign-in=link\./, 'a place that a browser goes to')
  const come = (code: string, headers: Fields = OWN) =>
    call('POST', SESSION, { authorization: `Link ${code}`, ...headers })
  const code = codeIn(link)
  t.equal((await come(code, {})).status, 403, 'by the page alone')
  t.equal(await status(HEALTH, { authorization: `Link ${code}` }), 401, 'it is no token')
  t.equal(await status(HEALTH, { cookie: `sallyport-console=${code}` }), 401, 'nor a session')
  const signed = await Promise.all([come(code), come(code)])
  t.same(signed.map(({ status }) => status).toSorted(), [200, 401], 'once')
  const cookie = readCookie(signed.find(({ status }) => status === 200) as Answer)
  t.match(await session({ cookie }), /"role":"read","by":"session"/)
  t.equal((await call('POST', '/console/api/bans/lift', { ...OWN, cookie })).status, 403)
  for (const [other, why] of [
    [codeIn(signInLink(TOKENS, adminUrl, Date.now() - 3_600_001)), 'within the hour'],
    [codeIn(signInLink({ admin: READER }, adminUrl)), 'by the token of this service'],
    [cookie.split('=')[1] ?? '', 'a session is no link'],
  ] as const)
    t.equal((await come(other)).status, 401, why)
})

/** A door at which no time passes: what it counts by the minute does not grow again. */
function openStillDoor(): Door {
  const door = openDoor({ tokens: TOKENS })
  const now = Date.now()
  return {
    ...door,
    admit: (request) => door.admit(request, now),
    permits: (request, role) => door.permits(request, role, now),
    signIn: (request) => door.signIn(request, now),
  }
}

t.test('wrong tokens lock nobody out, and paths are the ones there are', async (t) => {
  const { adminUrl, call, status, signIn } = await openConsole(t, { door: openStillDoor() })
  for (const path of ['/console/api/nothing', '/console/api/%zz/%', '/assets/../package.json'])
    t.equal(await status(path), 404, path)
  t.equal((await call('POST', HEALTH, OWN)).status, 405)
  const tries: number[] = []
  for (let index = 0; index < 12; index++) tries.push(await status(HEALTH, bearer(`guess-number-${index}`)))
  t.same(tries, [...new Array(10).fill(401), 429, 429])
  for (const path of ['/bans', '/bans.txt', '/sources', '/metrics']) {
    const { status, headers } = await call('GET', path, bearer('guess-number-12'))
    // This machine needs no token for the others.
    t.match([status, headers['retry-after']], path.startsWith('/bans') ? [429, /^\d+$/] : [200, undefined], path)
  }
  const cookie = await signIn(ADMIN)
  for (let call = 0; call < 300; call++) await status(HEALTH)
  t.equal((await call('POST', SESSION, linkFields(codeIn(signInLink(TOKENS, adminUrl))))).status, 200)
  t.equal(await status(HEALTH, { cookie }), 200, 'a right one is taken')
  t.equal(await status('/bans', bearer(ADMIN)), 200)
  t.ok(Number((await call('GET', HEALTH, bearer('another-guess'))).headers['retry-after']) > 0)
})

const asked = (headers: Fields, method = 'GET', remoteAddress = '127.0.0.1') =>
  ({ method, headers, socket: { remoteAddress } }) as unknown as Parameters<Door['admit']>[0]

t.test('a visitor stays signed out after a restart, in every process, under a clock that goes back', async (t) => {
  const dataDir = t.testdir()
  const faults: unknown[] = []
  const tokens = { admin: ADMIN }
  const open = (folder = dataDir) => openDoor({ tokens, dataDir: folder, onFault: (error) => faults.push(error) })
  const now = Date.now()
  const signIn = (door: Door) => door.signIn(asked(bearer(ADMIN), 'POST'), now).setCookie.split(';', 1)[0] ?? ''
  const [door, running] = [open(), open()]
  const cookie = signIn(door)
  const link = asked(linkFields(codeIn(signInLink(tokens, ''))), 'POST')
  door.signIn(link, now)
  t.equal(door.admit(asked({ cookie }), now).role, 'admin')
  door.signOut(asked({ ...OWN, cookie }, 'DELETE'), now)
  for (const [name, late, at] of [
    ['the same', door, now],
    ['after a restart', open(), now],
    ['an hour before', open(), now - 3_600_000],
    // Nobody has told it: a worker that was starting.
    ['a process that ran already', running, now],
  ] as const) {
    t.throws(() => late.signIn(link, at), { code: 'unauthorized' }, `the link, ${name}`)
    t.equal(late.admit(asked({ cookie }), at).role, undefined, name)
  }
  t.same(faults, [])

  const unwritable = open(join(dataDir, 'console-ended', 'missing\0'))
  const other = signIn(unwritable)
  unwritable.signOut(asked({ ...OWN, cookie: other }, 'DELETE'), now)
  t.equal(unwritable.admit(asked({ cookie: other }), now).role, undefined)
  t.equal(faults.length, 1, 'what cannot be written is said')
})

t.test('a clock that is put back stops nobody who has used up a rate until then', async (t) => {
  const take = createRate({ burst: 1, perMinute: 60 })
  t.same([take('one', 3_600_000), take('one', 0), take('one', 1_000)], [0, 1, 0])
})

t.test('a token is made at first, and one that can be guessed is refused', async (t) => {
  const short = { code: 'invalid_config', message: /console-token: the token is shorter than 16/ }
  t.throws(() => readTokens(t.testdir({ 'console-token': 'hunter2\n' })), short)
  t.match(readTokens(t.testdir()), { isKept: true, tokens: { admin: /^[\w-]{32}$/ } })
})

t.test('streams are bounded for each reader, and end with the session', async (t) => {
  const { adminUrl, call, signIn } = await openConsole(t)
  const open = (cookie: string) =>
    new Promise<{ readonly status: number; readonly ended: Promise<unknown> }>((resolve, reject) => {
      const sent = request(`${adminUrl}/console/api/stream`, { headers: { cookie }, agent: false }, (response) => {
        t.teardown(() => response.destroy())
        response.resume()
        resolve({ status: response.statusCode ?? 0, ended: new Promise((end) => response.on('end', end)) })
      })
      sent.on('error', reject).end()
    })
  const openStatus = async (token: string) => (await open(await signIn(token))).status
  const one = await signIn(READER)
  const streams = []
  for (let count = 0; count < 4; count++) streams.push(await open(one))
  t.ok(streams.every(({ status }) => status === 200))
  t.equal((await open(one)).status, 429)
  for (let reader = 0; reader < 5; reader++) {
    const another = await signIn(READER)
    for (let count = 0; count < 4; count++) t.equal((await open(another)).status, 200)
  }
  t.equal(await openStatus(READER), 503, 'readers leave some')
  t.equal(await openStatus(ADMIN), 200, 'for administrators')
  await call('DELETE', SESSION, { cookie: one, ...OWN })
  await Promise.all(streams.map(({ ended }) => ended))
  t.equal(await openStatus(READER), 200, 'the places are free again')
})

t.test('every answer says what a browser may do with it', async (t) => {
  const { call } = await openConsole(t)
  for (const path of ['/', HEALTH, '/console/api/nothing', '/assets/world.json']) {
    const { headers } = await call('GET', path)
    const policy = String(headers['content-security-policy'])
    t.match(policy, "default-src 'none'", path)
    t.notMatch(policy, 'unsafe', path)
    t.match(headers, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }, path)
  }
})

t.test('wrong tokens are counted, written down and slowed down, and a right one passes', async (t) => {
  const wrong: boolean[] = []
  const door = openDoor({ tokens: { admin: ADMIN }, onWrong: (_, isNoted) => wrong.push(isNoted) })
  const readCode = (address: string, token = 'guess') => {
    try {
      return door.admit(asked(bearer(token), 'GET', address), 0).role
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  const codes = Array.from({ length: 12 }, (_, at) => readCode(`2001:db8::${at}`))
  t.same(codes.slice(8), ['unauthorized', 'unauthorized', 'rate_limit_exceeded', 'rate_limit_exceeded'], 'one /64')
  const all = Array.from({ length: 120 }, (_, at) => readCode(`192.0.2.${at}`))
  t.equal(all.at(-1), 'rate_limit_exceeded', 'all addresses together')
  t.same([wrong.length, wrong.filter(Boolean).length], [132, 10])
  t.equal(readCode('2001:db8::1', ADMIN), 'admin')
})
