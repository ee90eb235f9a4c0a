import { request } from 'node:http'
import t from 'tap'
import { ADMIN, openScene, READER } from './scene.ts'

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
const OWN = { 'x-sallyport-console': '1' }
const cookieOf = ({ headers }: Answer) => String(headers['set-cookie']).split(';', 1)[0] ?? ''

t.test('on this machine anybody may read, and a token makes an administrator', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  t.equal((await ask(adminUrl, 'GET', HEALTH)).status, 200)
  const rebound = await ask(adminUrl, 'GET', HEALTH, { host: 'attacker.example' })
  t.equal(rebound.status, 401, 'a name that a stranger points at this machine')
  t.equal((await ask(adminUrl, 'GET', HEALTH, { 'x-forwarded-for': '10.0.0.1' })).status, 401, 'through a proxy')
  t.equal((await ask(adminUrl, 'GET', HEALTH, { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.equal((await ask(adminUrl, 'GET', HEALTH, { authorization: 'Bearer nobody-knows-this-one' })).status, 401)

  const bearer = { authorization: `Bearer ${ADMIN}` }
  t.equal((await ask(adminUrl, 'GET', HEALTH, { ...bearer, host: 'console.example' })).status, 200)
  const signed = await ask(adminUrl, 'POST', '/console/api/session', bearer)
  t.match(signed.text, /"role":"admin"/)
  t.match(
    String(signed.headers['set-cookie']),
    /^sallyport-console=\S+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/,
  )
  const cookie = cookieOf(signed)
  t.match((await ask(adminUrl, 'GET', '/console/api/session', { cookie })).text, /"role":"admin","by":"session"/)

  const leave = (headers: Record<string, string>) =>
    ask(adminUrl, 'DELETE', '/console/api/session', { cookie, ...headers })
  t.equal((await leave({})).status, 403, 'no page of another site can end a session')
  t.equal((await leave({ ...OWN, origin: 'http://attacker.example' })).status, 403)
  t.equal((await leave({ ...OWN, 'sec-fetch-site': 'same-site' })).status, 403)
  t.equal((await leave({ ...OWN, origin: adminUrl })).status, 200)
  t.match((await ask(adminUrl, 'GET', '/console/api/session', { cookie })).text, /"role":"read","by":"machine"/)
  const forged = cookie.replace(/admin\.\d+/, 'admin.9999999999999')
  t.notMatch((await ask(adminUrl, 'GET', '/console/api/session', { cookie: forged })).text, /"admin"/)
})

t.test('with a read token nobody reads without one, and a reader changes nothing', async (t) => {
  const { adminUrl, close } = await openScene({ readToken: READER })
  t.teardown(close)
  t.equal((await ask(adminUrl, 'GET', HEALTH)).status, 401)
  t.equal((await ask(adminUrl, 'GET', '/')).status, 200, 'the page itself is no secret')
  t.equal((await ask(adminUrl, 'GET', '/healthz')).status, 200, 'nor is health')
  t.equal((await ask(adminUrl, 'GET', '/bans')).status, 401)
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc')).status, 401)
  const bearer = { authorization: `Bearer ${READER}` }
  t.equal((await ask(adminUrl, 'GET', HEALTH, bearer)).status, 200)
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc', bearer)).status, 401)
  t.equal((await ask(adminUrl, 'DELETE', '/bans/abc', { authorization: `Bearer ${ADMIN}` })).status, 404)
  const cookie = cookieOf(await ask(adminUrl, 'POST', '/console/api/session', bearer))
  t.match((await ask(adminUrl, 'GET', '/console/api/session', { cookie })).text, /"role":"read","by":"session"/)
})

t.test('tokens are not guessed, and paths are the ones there are', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  t.equal((await ask(adminUrl, 'GET', '/console/api/nothing')).status, 404)
  t.equal((await ask(adminUrl, 'GET', '/console/api/%zz/%')).status, 404)
  t.equal((await ask(adminUrl, 'POST', HEALTH, OWN)).status, 405)
  t.equal((await ask(adminUrl, 'GET', '/assets/../package.json')).status, 404)
  const tries: number[] = []
  for (let index = 0; index < 12; index++) {
    tries.push((await ask(adminUrl, 'GET', HEALTH, { authorization: `Bearer guess-number-${index}` })).status)
  }
  t.same(tries, [...new Array(10).fill(401), 429, 429])
  const late = await ask(adminUrl, 'GET', HEALTH, { authorization: `Bearer ${ADMIN}` })
  t.equal(late.status, 429, 'nor by one that is right at last')
  t.ok(Number(late.headers['retry-after']) > 0)
})

t.test('every answer says what a browser may do with it', async (t) => {
  const { adminUrl, close } = await openScene()
  t.teardown(close)
  for (const path of ['/', HEALTH, '/console/api/nothing', '/assets/world.json']) {
    const { headers } = await ask(adminUrl, 'GET', path)
    const policy = String(headers['content-security-policy'])
    t.match(policy, "default-src 'none'", path)
    t.notMatch(policy, 'unsafe', path)
    t.match(headers, { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }, path)
  }
})
