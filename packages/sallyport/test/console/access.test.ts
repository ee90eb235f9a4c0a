import { appendFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { type AuditLine, openAuditTrail } from '@sallyport/engine'
import t from 'tap'
import { createRate } from '../../src/console/access/rate.ts'
import { type Door, openDoor, readTokens, signInLink } from '../../src/console/index.ts'
import { ADMIN, openScene, READER, WITHOUT_DATA } from './scene.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

function ask(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(`${url}${path}`, { method, headers, agent: false }, (response) => {
      let text = ''
      response.on('data', (part) => {
        text += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
      .on('error', reject)
      .end(body)
  })
}

const HEALTH = '/console/api/health'
const SESSION = '/console/api/session'
const OWN = { 'x-sallyport-console': '1' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const readCookie = ({ headers }: Answer) => String(headers['set-cookie']).split(';', 1)[0] ?? ''
const codeIn = (link: string) => /#sign-in=(\S+)$/.exec(link)?.[1] ?? ''

t.test('nobody reads without a token, on this machine either, and a token makes an administrator', async (t) => {
  const { adminUrl, close } = await openScene({}, WITHOUT_DATA)
  t.teardown(close)
  t.equal((await ask(adminUrl, 'GET', HEALTH)).status, 401, 'a proxy of this machine looks like this')
  t.equal((await ask(adminUrl, 'GET', HEALTH, { host: 'attacker.example' })).status, 401)
  t.equal((await ask(adminUrl, 'GET', HEALTH, { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.equal((await ask(adminUrl, 'GET', HEALTH, bearer('nobody-knows-this-one'))).status, 401)
  t.equal((await ask(adminUrl, 'GET', '/')).status, 200, 'the page itself is no secret')
  t.equal((await ask(adminUrl, 'GET', '/healthz')).status, 200, 'nor is health')

  t.equal((await ask(adminUrl, 'GET', HEALTH, { ...bearer(ADMIN), host: 'console.example' })).status, 200)
  const signed = await ask(adminUrl, 'POST', SESSION, bearer(ADMIN))
  t.match(signed.text, /"role":"admin"/)
  t.match(
    String(signed.headers['set-cookie']),
    /^sallyport-console=\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
  )
  const cookie = readCookie(signed)
  t.match((await ask(adminUrl, 'GET', SESSION, { cookie })).text, /"role":"admin","by":"session"/)

  const others = `sallyport-console=; sallyport-console=of-another-port; ${cookie}`
  t.match(
    (await ask(adminUrl, 'GET', SESSION, { cookie: others })).text,
    /"role":"admin"/,
    'beside those of other ports',
  )

  const leave = (headers: Record<string, string>) => ask(adminUrl, 'DELETE', SESSION, { cookie, ...headers })
  t.equal((await leave({})).status, 403, 'no page of another site can end a session')
  t.equal((await leave({ ...OWN, origin: 'http://attacker.example' })).status, 403)
  t.equal((await leave({ ...OWN, 'sec-fetch-site': 'same-site' })).status, 403)
  t.equal((await leave({ ...OWN, origin: adminUrl })).status, 200)
  t.match((await ask(adminUrl, 'GET', SESSION, { cookie })).text, /"role":null,"by":"nothing"/)
  const forged = cookie.replace(/admin\.\d+/, 'admin.9999999999999')
  t.notMatch((await ask(adminUrl, 'GET', SESSION, { cookie: forged })).text, /"admin"/)
})

t.test('who steers lifts bans and renews data, and touches neither policy nor accounts', async (t) => {
  const STEER = 'a-token-for-steering-1'
  const tokens = { admin: ADMIN, steer: STEER, read: READER }
  const { adminUrl, close } = await openScene({ door: openDoor({ tokens }) }, WITHOUT_DATA)
  t.teardown(close)
  const post = (token: string, path: string, body: unknown) =>
    ask(adminUrl, 'POST', `/console/api/${path}`, bearer(token), JSON.stringify(body))
  const signed = await ask(adminUrl, 'POST', SESSION, bearer(STEER))
  t.match(signed.text, /"role":"steer"/)
  t.match((await ask(adminUrl, 'GET', SESSION, { cookie: readCookie(signed) })).text, /"role":"steer","by":"session"/)
  t.equal((await ask(adminUrl, 'GET', HEALTH, bearer(STEER))).status, 200)
  for (const [path, body] of [
    ['bans/lift', { id: '00000000' }],
    ['lists/add', { name: 'none', entries: '192.0.2.1' }],
    ['data/update', { source: 'none' }],
  ] as const) {
    t.equal((await post(READER, path, body)).status, 403, `${path}, a reader`)
    t.not((await post(STEER, path, body)).status, 403, `${path}, one who steers`)
  }
  for (const [path, body] of [
    ['accounts', { name: 'x', plan: 'free' }],
    ['keys', { account: 'x' }],
    ['policy/save', { text: 'rules: []' }],
  ] as const) {
    t.equal((await post(STEER, path, body)).status, 403, `${path}, one who steers`)
    t.not((await post(ADMIN, path, body)).status, 403, `${path}, an administrator`)
  }
})

/** Asks for the actions of operators until one of the console is written. */
async function readAudit(adminUrl: string): Promise<{ readonly actions: readonly AuditLine[] }> {
  for (;;) {
    const shown = JSON.parse((await ask(adminUrl, 'GET', '/console/api/audit', bearer(READER))).text)
    if (shown.actions.some(({ who }: AuditLine) => who === 'console admin')) return shown
  }
}

t.test('what operators do is shown with who did it, and a reader may look', async (t) => {
  const { adminUrl, sallyport, close } = await openScene({}, { ...WITHOUT_DATA, dataDir: t.testdir() })
  t.teardown(close)
  const trail = await openAuditTrail(sallyport.config, () => {})
  trail.audit({ what: 'keys revoke', who: 'a command', error: 'not_found' })
  await trail.close()
  await ask(adminUrl, 'POST', '/console/api/accounts', bearer(ADMIN), JSON.stringify({ name: 'shown', plan: 'free' }))
  const shown = await readAudit(adminUrl)
  t.match(shown, { silent: 0, isKept: true })
  t.match(
    shown.actions.find(({ who }) => who === 'console admin'),
    { audit: /account/, details: { account: String, plan: 'free' } },
  )
  t.match(
    shown.actions.find(({ who }) => who === 'a command'),
    { audit: 'keys revoke', error: 'not_found' },
  )
})

t.test('an action is shown whatever the requests are in the log, and after a restart', async (t) => {
  const [dataDir, file] = [t.testdir(), join(t.testdir({ logs: {} }), 'decisions.log')]
  const config = { ...WITHOUT_DATA, dataDir, log: { file, requests: 'all' } } as const
  for (const isFirst of [true, false]) {
    const { adminUrl, close } = await openScene({}, config)
    t.teardown(close)
    if (isFirst)
      await ask(adminUrl, 'POST', '/console/api/accounts', bearer(ADMIN), JSON.stringify({ name: 'a', plan: 'free' }))
    // More than the end of a log that anybody would read for some actions.
    appendFileSync(file, '{"level":"info","requestId":"a"}\n'.repeat(20_000))
    const { actions } = await readAudit(adminUrl)
    const made = actions.filter(({ audit }) => audit === 'accounts create')
    t.match(made, [{ who: 'console admin', details: { plan: 'free' } }])
    t.equal(made.length, 1, 'once')
    await close()
  }
})

t.test('an administrator allows or blocks an operator, by the first rule of the policy', async (t) => {
  const saved: string[] = []
  const scene = await openScene(
    { savePolicy: async (written) => void saved.push(await written('listen: 127.0.0.1:8080\n')) },
    { ...WITHOUT_DATA, dataDir: t.testdir() },
  )
  t.teardown(scene.close)
  const rule = (token: string, body: object) =>
    ask(scene.adminUrl, 'POST', '/console/api/crawlers/rule', bearer(token), JSON.stringify(body))
  t.equal((await rule(READER, { operator: 'OpenAI', action: 'block' })).status, 403)
  t.equal((await rule(ADMIN, { operator: 'OpenAI', action: 'block' })).status, 200)
  t.match(saved[0], /rules:\n\s+- id: block-openai\n\s+match:\n\s+operator:\s+- OpenAI\n\s+action: block/)
  t.equal((await rule(ADMIN, { operator: 'OpenAI', action: 'allow' })).status, 200)
  t.match(saved[1], /allow-openai/)
  t.notMatch(saved[1], /block-openai/)
  t.equal((await rule(ADMIN, { operator: 'OpenAI', action: 'none' })).status, 200)
  t.notMatch(saved[2], /openai/)
  t.equal((await rule(ADMIN, { operator: 'Nobody', action: 'block' })).status, 400)
  t.equal((await rule(ADMIN, { operator: 'OpenAI', action: 'flag' })).status, 400)
})

t.test('a reader changes nothing', async (t) => {
  const { adminUrl, close } = await openScene({}, WITHOUT_DATA)
  t.teardown(close)
  t.equal((await ask(adminUrl, 'GET', '/bans')).status, 401)
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc')).status, 401)
  t.equal((await ask(adminUrl, 'GET', HEALTH, bearer(READER))).status, 200)
  t.equal((await ask(adminUrl, 'GET', '/bans', bearer(READER))).status, 200)
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc', bearer(READER))).status, 401)
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc', bearer(ADMIN))).status, 404)
  const cookie = readCookie(await ask(adminUrl, 'POST', SESSION, bearer(ADMIN)))
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc', { cookie })).status, 401, 'not by a page of another site')
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc', { ...OWN, cookie })).status, 404)
  const reader = readCookie(await ask(adminUrl, 'POST', SESSION, bearer(READER)))
  t.match((await ask(adminUrl, 'GET', SESSION, { cookie: reader })).text, /"role":"read","by":"session"/)
})

t.test('a link signs in once, to look', async (t) => {
  const { adminUrl, close } = await openScene({}, WITHOUT_DATA)
  t.teardown(close)
  const tokens = { admin: ADMIN, read: READER }
  const link = signInLink(tokens, 'http://0.0.0.0:9090')
  t.match(link, /^http:\/\/127\.0\.0\.1:9090\/#sign-in=link\./, 'a place that a browser goes to')
  const come = (code: string, headers: Record<string, string> = OWN) =>
    ask(adminUrl, 'POST', SESSION, { authorization: `Link ${code}`, ...headers })
  const code = codeIn(link)
  t.equal((await come(code, {})).status, 403, 'by the page alone')
  t.equal((await ask(adminUrl, 'GET', HEALTH, { authorization: `Link ${code}` })).status, 401, 'it is no token')
  t.equal((await ask(adminUrl, 'GET', HEALTH, { cookie: `sallyport-console=${code}` })).status, 401, 'nor a session')
  const signed = await Promise.all([come(code), come(code)])
  t.same(signed.map(({ status }) => status).toSorted(), [200, 401], 'once')
  const cookie = readCookie(signed.find(({ status }) => status === 200) as Answer)
  t.match((await ask(adminUrl, 'GET', SESSION, { cookie })).text, /"role":"read","by":"session"/)
  t.equal((await ask(adminUrl, 'POST', '/console/api/bans/lift', { ...OWN, cookie }, '{}')).status, 403)
  t.equal((await come(codeIn(signInLink(tokens, adminUrl, Date.now() - 3_600_001)))).status, 401, 'within the hour')
  t.equal((await come(codeIn(signInLink({ admin: READER }, adminUrl)))).status, 401, 'by the token of this service')
  t.equal((await come(cookie.split('=')[1] ?? '')).status, 401, 'a session is no link')
})

/** A door at which no time passes: what it counts by the minute does not grow again. */
function openStillDoor(): Door {
  const door = openDoor({ tokens: { admin: ADMIN, read: READER } })
  const now = Date.now()
  return {
    ...door,
    admit: (request) => door.admit(request, now),
    permits: (request, role) => door.permits(request, role, now),
    signIn: (request) => door.signIn(request, now),
  }
}

t.test('wrong tokens lock nobody out, and paths are the ones there are', async (t) => {
  const { adminUrl, close } = await openScene({ door: openStillDoor() }, WITHOUT_DATA)
  t.teardown(close)
  t.equal((await ask(adminUrl, 'GET', '/console/api/nothing')).status, 404)
  t.equal((await ask(adminUrl, 'GET', '/console/api/%zz/%')).status, 404)
  t.equal((await ask(adminUrl, 'POST', HEALTH, OWN)).status, 405)
  t.equal((await ask(adminUrl, 'GET', '/assets/../package.json')).status, 404)
  const tries: number[] = []
  for (let index = 0; index < 12; index++) {
    tries.push((await ask(adminUrl, 'GET', HEALTH, bearer(`guess-number-${index}`))).status)
  }
  t.same(tries, [...new Array(10).fill(401), 429, 429])
  for (const path of ['/bans', '/bans.txt', '/sources', '/metrics']) {
    const { status, headers } = await ask(adminUrl, 'GET', path, bearer('guess-number-12'))
    // This machine needs no token for the others.
    t.match([status, headers['retry-after']], path.startsWith('/bans') ? [429, /^\d+$/] : [200, undefined], path)
  }
  const session = await ask(adminUrl, 'POST', SESSION, bearer(ADMIN))
  t.equal(session.status, 200, 'a right one is taken')
  for (let call = 0; call < 300; call++) await ask(adminUrl, 'GET', HEALTH)
  const link = codeIn(signInLink({ admin: ADMIN, read: READER }, adminUrl))
  t.equal((await ask(adminUrl, 'POST', SESSION, { ...OWN, authorization: `Link ${link}` })).status, 200)
  t.equal((await ask(adminUrl, 'GET', HEALTH, { cookie: readCookie(session) })).status, 200)
  t.equal((await ask(adminUrl, 'GET', '/bans', bearer(ADMIN))).status, 200)
  t.ok(Number((await ask(adminUrl, 'GET', HEALTH, bearer('another-guess'))).headers['retry-after']) > 0)
})

t.test('a visitor stays signed out after a restart, in every process, under a clock that goes back', async (t) => {
  const dataDir = t.testdir()
  const faults: unknown[] = []
  const tokens = { admin: ADMIN }
  const open = (folder = dataDir) => openDoor({ tokens, dataDir: folder, onFault: (error) => faults.push(error) })
  const asked = (headers: Record<string, string>, method = 'GET') =>
    ({ method, headers, socket: { remoteAddress: '127.0.0.1' } }) as unknown as Parameters<
      ReturnType<typeof open>['admit']
    >[0]
  const now = Date.now()
  const [door, running] = [open(), open()]
  const cookie = door.signIn(asked(bearer(ADMIN), 'POST'), now).setCookie.split(';', 1)[0] ?? ''
  const link = { authorization: `Link ${codeIn(signInLink(tokens, ''))}`, ...OWN }
  door.signIn(asked(link, 'POST'), now)
  t.equal(door.admit(asked({ cookie }), now).role, 'admin')
  door.signOut(asked({ ...OWN, cookie }, 'DELETE'), now)
  for (const [name, late, at] of [
    ['the same', door, now],
    ['after a restart', open(), now],
    ['an hour before', open(), now - 3_600_000],
  ] as const) {
    t.equal(late.admit(asked({ cookie }), at).role, undefined, name)
    t.throws(() => late.signIn(asked(link, 'POST'), at), { code: 'unauthorized' }, `the link, ${name}`)
  }
  t.throws(() => running.signIn(asked(link, 'POST'), now), { code: 'unauthorized' }, 'a process that ran already')
  t.equal(running.admit(asked({ cookie }), now).role, undefined, 'and that nobody has told: a worker that was starting')
  t.same(faults, [])

  const unwritable = open(join(dataDir, 'console-ended', 'missing\0'))
  const other = unwritable.signIn(asked(bearer(ADMIN), 'POST'), now).setCookie.split(';', 1)[0] ?? ''
  unwritable.signOut(asked({ ...OWN, cookie: other }, 'DELETE'), now)
  t.equal(unwritable.admit(asked({ cookie: other }), now).role, undefined)
  t.equal(faults.length, 1, 'what cannot be written is said')
})

t.test('a clock that is put back stops nobody who has used up a rate until then', async (t) => {
  const take = createRate({ burst: 1, perMinute: 60 })
  t.equal(take('one', 3_600_000), 0)
  t.equal(take('one', 0), 1)
  t.equal(take('one', 1_000), 0)
})

t.test('a token that can be guessed is refused', async (t) => {
  const dataDir = t.testdir({ 'console-token': 'hunter2\n' })
  t.throws(() => readTokens(dataDir), {
    code: 'invalid_config',
    message: /console-token: the token is shorter than 16/,
  })
  t.match(readTokens(t.testdir()), { isKept: true, tokens: { admin: /^[\w-]{32}$/ } })
})

t.test('streams are bounded for each reader, and end with the session', async (t) => {
  const { adminUrl, close } = await openScene({}, WITHOUT_DATA)
  t.teardown(close)
  const open = (headers: Record<string, string>) =>
    new Promise<{ readonly status: number; readonly ended: Promise<unknown> }>((resolve, reject) => {
      const sent = request(`${adminUrl}/console/api/stream`, { headers, agent: false }, (response) => {
        t.teardown(() => response.destroy())
        response.resume()
        resolve({ status: response.statusCode ?? 0, ended: new Promise((end) => response.on('end', end)) })
      })
      sent.on('error', reject).end()
    })
  const signIn = async (token: string) => ({ cookie: readCookie(await ask(adminUrl, 'POST', SESSION, bearer(token))) })
  const one = await signIn(READER)
  const streams = []
  for (let count = 0; count < 5; count++) streams.push(await open(one))
  t.same(
    streams.map(({ status }) => status),
    [200, 200, 200, 200, 429],
  )
  for (let reader = 0; reader < 5; reader++) {
    const another = await signIn(READER)
    for (let count = 0; count < 4; count++) t.equal((await open(another)).status, 200)
  }
  t.equal((await open(await signIn(READER))).status, 503, 'readers leave some')
  t.equal((await open(await signIn(ADMIN))).status, 200, 'for administrators')
  await ask(adminUrl, 'DELETE', SESSION, { ...one, ...OWN })
  await Promise.all(streams.slice(0, 4).map(({ ended }) => ended))
  t.equal((await open(await signIn(READER))).status, 200, 'the places are free again')
})

t.test('every answer says what a browser may do with it', async (t) => {
  const { adminUrl, close } = await openScene({}, WITHOUT_DATA)
  t.teardown(close)
  for (const path of ['/', HEALTH, '/console/api/nothing', '/assets/world.json']) {
    const { headers } = await ask(adminUrl, 'GET', path)
    const policy = String(headers['content-security-policy'])
    t.match(policy, "default-src 'none'", path)
    t.notMatch(policy, 'unsafe', path)
    t.match(headers, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }, path)
  }
})

t.test('wrong tokens are counted, written down and slowed down, and a right one passes', async (t) => {
  const wrong: boolean[] = []
  const door = openDoor({ tokens: { admin: ADMIN }, onWrong: (_, isNoted) => wrong.push(isNoted) })
  const from = (remoteAddress: string, token: string) => ({
    method: 'GET',
    headers: { authorization: `Bearer ${token}` },
    socket: { remoteAddress },
  })
  const readCode = (address: string, token = 'guess') => {
    try {
      return door.admit(from(address, token) as never, 0).role
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
