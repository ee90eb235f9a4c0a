import { freePort } from '@sallyport/engine/testing'
import t from 'tap'
import { DEFAULT_ADMIN } from '../src/admin.ts'
import { examineOrigins } from '../src/examine.ts'
import { openProxy } from '../src/index.ts'
import { listOwnListeners, type Places } from '../src/origin/own-listener.ts'
import { openOrigin, proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

const found = (places: Places) => listOwnListeners(places).map(({ path }) => path.join('.'))

t.test('an origin is a listener of its own proxy, however either is written, and others are not', async (t) => {
  const own: readonly (readonly [listen: string, upstream: string])[] = [
    ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['127.0.0.1:8080', 'https://localhost:8080'],
    ['localhost:8080', 'http://127.0.0.1:8080'],
    ['127.0.0.1:8080', 'http://2130706433:8080'],
    ['127.0.0.1:8080', 'http://[::ffff:127.0.0.1]:8080'],
    ['0.0.0.0:80', 'http://127.0.0.1'],
    ['0.0.0.0:443', 'https://127.0.0.9'],
    ['[::]:8080', 'http://127.0.0.1:8080'],
  ]
  for (const [listen, upstream] of own) t.same(found({ listen, upstream }), ['upstream'], `${listen} ${upstream}`)
  const routes = [{ upstreams: ['http://127.0.0.1:1', 'http://localhost:8080'] }, { path: '/b' }]
  t.same(found({ listen: '0.0.0.0:8080', routes }), ['routes.0.upstreams.1'])
  t.same(found({ listen: '127.0.0.1:1', http: '127.0.0.1:2', upstream: 'http://127.0.0.1:2' }), ['upstream'])
  t.same(found({ listen: '127.0.0.1:1', admin: '127.0.0.1:2', upstream: 'http://127.0.0.1:2' }), ['upstream'])
  const others: readonly (readonly [listen: string, upstream: string])[] = [
    ['127.0.0.1:8080', 'http://127.0.0.1:8081'],
    ['127.0.0.1:8080', 'http://127.0.0.2:8080'],
    ['127.0.0.1:8080', 'unix:/run/app.sock'],
    ['0.0.0.0:8080', 'http://192.0.2.1:8080'],
    ['0.0.0.0:8080', 'http://nowhere.invalid:8080'],
    ['127.0.0.1:0', 'http://127.0.0.1:8080'],
  ]
  for (const [listen, upstream] of others) t.same(found({ listen, upstream }), [], `${listen} ${upstream}`)
})

t.test('so is the admin listener that is opened without being named', async (t) => {
  const upstream = `http://${DEFAULT_ADMIN}`
  const [free] = await examineOrigins({ upstream: 'http://127.0.0.1:9', admin: '127.0.0.1:1' })
  t.match(free, { state: 'fail', found: /cannot be reached/ })
  const [own] = await examineOrigins({ upstream })
  const [named] = await examineOrigins({ upstream, admin: '127.0.0.1:1' })
  // Another program of this machine may have it, or take it meanwhile.
  if (own?.state === 'ok' || named?.state === 'ok') return t.comment(`${DEFAULT_ADMIN} is taken here`)
  t.match(own, { state: 'fail', found: /^\S+ is the address in admin, where this proxy/, path: ['upstream'] })
  t.match(named, { state: 'fail', found: /cannot be reached/ })
})

t.test('a start is refused, and a reload changes nothing', async (t) => {
  const listen = `127.0.0.1:${await freePort()}`
  const starting = openProxy(fakeSallyport(), { listen, admin: '127.0.0.1:0', upstream: `http://${listen}` })
  await t.rejects(starting, { code: 'invalid_config', message: /^upstream: \S+ is the address in listen, where this/ })
  const { url, proxy } = await proxyBefore(t, OK)
  const other = await openOrigin(t)
  const mine = proxy.adminUrl ?? ''
  for (const upstreams of [[url], [other.url, url], [mine]]) {
    const routes = [{ path: '/a', upstreams }]
    await t.rejects(proxy.reload({ upstream: other.url, routes }), { code: 'invalid_config', message: /^routes\.0\./ })
    t.equal(readStatus(await exchange(url, get('/'))), 200)
    t.equal(other.heads.length, 0)
  }
})
