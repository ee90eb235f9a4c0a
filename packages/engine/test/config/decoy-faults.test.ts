import { compilePolicy } from '@sallyport/core'
import t from 'tap'
import { compileMountPolicy } from '../../src/config/mount-policy.ts'
import type { ConfigInput } from '../../src/config/schema.ts'
import { faultText, readConfigFrom } from '../../src/open/index.ts'
import { listFaults } from './written.ts'

const STRUCK: ConfigInput = {
  policy: { strikes: { count: 1, window: '10m', on: ['decoy'], for: '1h' } },
}

const listWarnings = (flags: ConfigInput) => readConfigFrom({ flags }).warnings.map(faultText)

/** Returns the fault of one decoy without its place. */
function findFault(decoy: string, config: ConfigInput = {}): string | undefined {
  const [fault] = listFaults({ flags: { ...STRUCK, ...config, decoys: { paths: [decoy] } } })
  return fault?.replace(/^.*decoys\.paths\.0: /, '')
}

t.test('a decoy is one path as policies write it', async (t) => {
  for (const [decoy, fault] of [
    ['trap', /a path begins with a slash; did you mean "\/trap"\?/],
    ['/trap/*', 'a decoy cannot contain *'],
    ['/trap?a=1', 'a decoy cannot have a query or fragment'],
    ['/trap#a', 'a decoy cannot have a query or fragment'],
    ['//trap', /write the path as "\/trap"/],
    ['/a/../trap', /write the path as "\/trap"/],
    ['/é"<', /write the path as "\/%C3%A9%22%3C"/],
    ['https://a.example/trap', /a path begins with a slash/],
  ] as const) {
    t.match(findFault(decoy), fault, decoy)
  }
  const paths = ['/a', '/b', '/A/']
  t.match(listFaults({ flags: { ...STRUCK, decoys: { paths } } }), [/decoys\.paths\.2: is listed twice/])
  t.equal(findFault('/trap'), undefined)
})

t.test('and one that exists nowhere, as far as the configuration knows', async (t) => {
  for (const path of '/ /robots.txt /ROBOTS.txt /favicon.ico /.well-known/x /.sallyport/check /v1/myip'.split(' ')) {
    t.match(findFault(path), new RegExp(`^"${path}" (?:is|belongs to) `), path)
  }
  t.match(findFault('/detect/v1/myip', { api: { base: '/detect' } }), /belongs to the API/)
  t.equal(findFault('/v1/myip', { api: { base: '/detect' } }), undefined)
  t.match(findFault('/shop', { routes: [{ path: '/shop' }] }), /is the path of a route/)
  t.equal(findFault('/shop/trap', { routes: [{ path: '/shop' }] }), undefined)
  t.match(findFault('/map.xml', { robots: { sitemaps: ['https://a.example/map.xml'] } }), /is a sitemap/)
  const rules = (path: string, more: object = {}) => ({
    policy: { ...STRUCK.policy, rules: [{ id: 'page', match: { path: [path] }, action: 'block' as const, ...more }] },
  })
  t.match(findFault('/Login', rules('/login', { action: 'flag' })), /is a page in the rule "page"/)
  t.match(findFault('/login', rules('/login/**', { limit: { key: 'client', max: 1, window: '1m' } })), /rule "page"/)
  t.equal(findFault('/login/trap', rules('/login/**', { action: 'flag' })), undefined, 'a decoy may be below a page')
  t.equal(findFault('/trap', rules('/*', { action: 'flag' })), undefined, 'a star names no page')
  t.equal(findFault('/old.php', rules('/old.php')), undefined, 'what a rule refuses need not be there')
  const policy = { rules: rules('/b/page', { action: 'allow' }).policy.rules }
  t.match(findFault('/b/page', { routes: [{ path: '/b', policy }] }), /rule "page"/)
})

t.test('decoys that strike nobody are warned of', async (t) => {
  const paths = ['/a', '/b']
  t.same(listWarnings({ ...STRUCK, decoys: { paths } }), [])
  t.match(listWarnings({ decoys: { paths } }), [/nobody is banned: policy\.strikes\.on lacks decoy/])
  t.match(listWarnings(STRUCK), [/policy\.strikes\.on: decoy: decoys\.paths is empty/])
  t.match(listWarnings({ ...STRUCK, decoys: { paths: ['/a'] } }), [/a residential client .* Add a second path/])
})

t.test('scanner-guard is of the whole service: a mount and a route cannot have it', async (t) => {
  const limits = ['scanner-guard' as const]
  const message = /scanner-guard bans clients, and bans apply to all routes\. Move it to policy\.limits/
  t.throws(() => compileMountPolicy({ limits }, {}), { code: 'invalid_config', message })
  t.match(listFaults({ flags: { routes: [{ path: '/a', policy: { limits } }] } }), [message])
  t.same(listWarnings({ policy: { limits } }), [])
  t.equal(compilePolicy({ preset: 'observe', rules: [], limits }).strikes[0]?.id, 'scanner-guard')
})
