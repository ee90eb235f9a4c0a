import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import t, { type Test } from 'tap'
import type { ProxyHost } from '../src/gate/options.ts'
import type { AdminPages } from '../src/index.ts'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { NO_HAPROXY, startHaproxy } from './programs.ts'
import { meteredSallyport } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

/** `Bearer read` may read, and `Bearer admin` may do everything. */
const TOKENS: AdminPages = {
  permits: ({ headers: { authorization } }, role) =>
    authorization === 'Bearer admin' || authorization === `Bearer ${role}`,
}
const BEARER = 'Authorization: Bearer read'

const ASKED = ['/healthz', '/readyz', '/sources', '/metrics', '/bans'] as const

async function openAdmin(t: Test, options: BeforeOptions = {}, more: Partial<ProxyHost> = {}) {
  const sallyport = { ...meteredSallyport(), ...more }
  const { proxy, admin } = await proxyBefore(t, OK, { sallyport, upstream: undefined, ...options })
  const port = Number(new URL(admin).port)
  /** Returns the status of each path, and of lifting a ban, in one line. */
  const statuses = async (host: string, ...fields: readonly string[]): Promise<string> => {
    const asked = ASKED.map((path) => get(path, ...fields))
    const lifted = get('/bans/abc', ...fields).replace('GET', 'DELETE')
    const answers = []
    for (const request of [...asked, lifted]) {
      answers.push(readStatus(await exchange(`http://127.0.0.1:${port}`, request.replace('site.example', host))))
    }
    return answers.join(' ')
  }
  return { proxy, port, statuses }
}

const HERE = '200 200 200 200 401 401'
const ELSEWHERE = '200 401 401 401 401 401'

t.test('without a token this machine asks for all but bans, as far as it can be seen', async (t) => {
  const { statuses } = await openAdmin(t, { adminPages: TOKENS })
  for (const host of ['127.0.0.1:9090', 'localhost', '[::1]:9090']) t.equal(await statuses(host), HERE, host)
  for (const host of ['admin.example', '127.0.0.1.example', '0.0.0.0', '']) {
    t.equal(await statuses(host), ELSEWHERE, `a name that a stranger points here: "${host}"`)
  }
  const fronts = 'X-Forwarded-For Forwarded X-Real-IP Via X_Forwarded_For X-Forwarded-Proto X-Original-URI X-Scheme'
  const sites = ['Origin: http://127.0.0.1:3000', 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-site']
  for (const field of [...fronts.split(' ').map((name) => `${name}: 192.0.2.1`), ...sites])
    t.equal(await statuses('127.0.0.1', field), ELSEWHERE, field)
  for (const site of ['none', 'same-origin'])
    t.equal(await statuses('127.0.0.1', `Sec-Fetch-Site: ${site}`), HERE, site)
  t.equal(await statuses('admin.example', BEARER), '200 200 200 200 200 401', 'a reader')
  t.equal(await statuses('admin.example', 'Authorization: Bearer admin'), '200 200 200 200 200 404', 'an administrator')
  t.equal(await statuses('127.0.0.1', 'Authorization: Bearer wrong'), HERE)
  const without = await openAdmin(t)
  t.equal(await without.statuses('127.0.0.1', 'Authorization: Bearer admin'), HERE, 'nobody without tokens lifts bans')
  const opened = await openAdmin(t, { adminPages: TOKENS, adminOpen: ['metrics', 'readyz'] })
  t.equal(await opened.statuses('admin.example'), '200 200 401 200 401 401', 'a configuration opens paths, and no more')
})

t.test('HAProxy of this machine asks by HTTP/1.0 whether the gate is ready, and nothing else', async (t) => {
  const { port } = await openAdmin(t, { adminPages: TOKENS })
  const ask = async (path: string, ...fields: readonly string[]) =>
    readStatus(await exchange(`http://127.0.0.1:${port}`, [`GET ${path} HTTP/1.0`, ...fields, '', ''].join('\r\n')))
  t.equal(await ask('/readyz'), 200)
  for (const field of ['Host: 127.0.0.1', 'X-Forwarded-For: 192.0.2.1', 'Via: 1.0 a'])
    t.equal(await ask('/readyz', field), 401, field)
  for (const path of ['/metrics', '/sources', '/bans']) t.equal(await ask(path), 401, path)
})

t.test('the health check of HAProxy', { skip: NO_HAPROXY }, async (t) => {
  const { proxy, port } = await openAdmin(t, { adminPages: TOKENS })
  const example = readFileSync(join(import.meta.dirname, '../../../../examples/haproxy/haproxy.cfg'), 'utf8')
  const [, asked] = /# (option httpchk .*)/.exec(example) ?? []
  const [, server] = /# (server gate .*)/.exec(example) ?? []
  const front = await startHaproxy(t, ({ port: own }) => {
    const checked = server?.replace('127.0.0.1:8080', new URL(proxy.url).host).replace('9090', `${port} inter 100`)
    const stats = 'stats enable\n stats uri /states'
    return `listen front\n mode http\n bind 127.0.0.1:${own}\n ${asked}\n ${stats}\n ${checked}`
  })
  let states = ''
  while (!/L7/.test(states)) states = await exchange(front, get('/states;csv'))
  t.match(states, /^front,gate,[^\n]*,UP,[^\n]*,L7OK,200,/m)
})

t.test('/bans.txt is a list for clients that may read', async (t) => {
  const listed = { exportedBans: async () => ['192.0.2.1', '2001:db8::/64'] }
  const { port } = await openAdmin(t, { adminPages: TOKENS }, listed)
  const ask = (...fields: readonly string[]) =>
    exchange(`http://127.0.0.1:${port}`, get('/bans.txt', ...fields).replace('site.example', '127.0.0.1'))
  const answer = await ask(BEARER)
  t.match(answer, /^HTTP\/1\.1 200 .*content-type: text\/plain; charset=utf-8\r\n/is)
  t.match(answer, /192\.0\.2\.1\n2001:db8::\/64\n/)
  t.equal(readStatus(await ask()), 401, 'this machine too needs a token')
})

const OUTER = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

t.test('by an address of the network this machine is a stranger', { skip: OUTER === undefined }, async (t) => {
  const { port } = await openAdmin(t, { adminPages: TOKENS, admin: '0.0.0.0:0' })
  const ask = async (host: string, headers: Readonly<Record<string, string>> = {}) => {
    const place = { host, port, path: '/metrics', agent: false }
    const [response] = await once(request({ ...place, headers: { host: '127.0.0.1', ...headers } }).end(), 'response')
    response.resume()
    return response.statusCode as number
  }
  t.equal(await ask(String(OUTER)), 401)
  t.equal(await ask(String(OUTER), { authorization: 'Bearer read' }), 200)
  t.equal(await ask('127.0.0.1'), 200)
})

t.test('POST /accounts/assess needs an administrator, and answers what is wrong with a body', async (t) => {
  const asked: unknown[] = []
  const accounts = {
    async assessDescribed(body: unknown) {
      asked.push(body)
      if (Object(body).event !== undefined) return { action: 'challenge' }
      throw new SallyportError('invalid_request', 'event: is missing')
    },
  }
  const { port } = await openAdmin(t, { adminPages: TOKENS }, { accounts })
  const post = async (body: string, token: string, method = 'POST') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = { method, headers, ...(method === 'POST' && { body }) }
    const answer = await fetch(`http://127.0.0.1:${port}/accounts/assess`, sent)
    return [answer.status, await answer.json()]
  }
  t.match(await post('{"event":"login"}', 'read'), [401])
  t.same(asked, [])
  t.same(await post('{"event":"login"}', 'admin'), [200, { action: 'challenge' }])
  t.match(await post('{}', 'admin'), [400, { error: 'invalid_request', message: 'event: is missing' }])
  t.match((await post('{', 'admin'))[0], 400)
  t.match(await post('', 'admin', 'GET'), [405])
})
