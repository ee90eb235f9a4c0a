import { compilePolicy } from '@sallyport/core'
import t from 'tap'
import { compileMountPolicy } from '../../src/config/mount-policy.ts'
import type { ConfigInput } from '../../src/config/schema.ts'
import { ConfigError, faultText, readConfigFrom } from '../../src/open/index.ts'

const STRUCK: ConfigInput = {
  policy: { strikes: { count: 1, window: '10m', on: ['decoy'], for: '1h' } },
}

function readingOf(flags: ConfigInput): { readonly faults: readonly string[]; readonly warnings: readonly string[] } {
  try {
    return { faults: [], warnings: readConfigFrom({ flags }).warnings.map(faultText) }
  } catch (error) {
    if (error instanceof ConfigError) return { faults: error.faults.map(faultText), warnings: [] }
    throw error
  }
}

/** The fault of one decoy, without its place. */
function faultOf(decoy: string, config: ConfigInput = {}): string | undefined {
  const { faults } = readingOf({ ...STRUCK, ...config, decoys: { paths: [decoy] } })
  return faults[0]?.replace(/^.*decoys\.paths\.0: /, '')
}

t.test('a decoy is one path as policies write it', async (t) => {
  t.match(faultOf('trap'), /a path begins with a slash; did you mean "\/trap"\?/)
  t.match(faultOf('/trap/*'), 'a decoy has no star')
  t.match(faultOf('/trap/**'), 'a decoy has no star')
  t.match(faultOf('/trap?a=1'), 'no query and no fragment')
  t.match(faultOf('/trap#a'), 'no query and no fragment')
  t.match(faultOf('//trap'), /written as "\/trap" is/)
  t.match(faultOf('/a/../trap'), /written as "\/trap" is/)
  t.match(faultOf('/é"<'), /written as "\/%C3%A9%22%3C" is/)
  t.match(faultOf('https://a.example/trap'), /a path begins with a slash/)
  t.match(readingOf({ ...STRUCK, decoys: { paths: ['/a', '/b', '/A/'] } }).faults, [/decoys\.paths\.2: is there twice/])
  t.equal(faultOf('/trap'), undefined)
})

t.test('and one that exists nowhere, as far as the configuration knows', async (t) => {
  for (const path of [
    '/',
    '/robots.txt',
    '/ROBOTS.txt',
    '/favicon.ico',
    '/.well-known/x',
    '/.sallyport/check',
    '/v1/myip',
  ]) {
    t.match(faultOf(path), new RegExp(`^"${path}" is `), path)
  }
  t.match(faultOf('/detect/v1/myip', { api: { base: '/detect' } }), /is the API's/)
  t.equal(faultOf('/v1/myip', { api: { base: '/detect' } }), undefined)
  t.match(faultOf('/shop', { routes: [{ path: '/shop' }] }), /is the path of a route/)
  t.equal(faultOf('/shop/trap', { routes: [{ path: '/shop' }] }), undefined)
  t.match(faultOf('/map.xml', { robots: { sitemaps: ['https://a.example/map.xml'] } }), /is a sitemap/)
  const rules = (path: string, more: object = {}) => ({
    policy: { ...STRUCK.policy, rules: [{ id: 'page', match: { path: [path] }, action: 'block' as const, ...more }] },
  })
  t.match(faultOf('/Login', rules('/login', { action: 'flag' })), /named by the rule "page" as a page that is there/)
  t.match(faultOf('/login', rules('/login/**', { limit: { key: 'client', max: 1, window: '1m' } })), /rule "page"/)
  t.equal(faultOf('/login/trap', rules('/login/**', { action: 'flag' })), undefined, 'a decoy may be below a page')
  t.equal(faultOf('/trap', rules('/*', { action: 'flag' })), undefined, 'a star names no page')
  t.equal(faultOf('/old.php', rules('/old.php')), undefined, 'what a rule refuses need not be there')
  const routes = [{ path: '/b', policy: rules('/b/page', { action: 'allow' }).policy.rules }]
  const policy = { rules: routes[0]?.policy }
  t.match(faultOf('/b/page', { routes: [{ path: '/b', policy }] }), /rule "page"/)
})

t.test('decoys that strike nobody are warned of', async (t) => {
  const paths = ['/a', '/b']
  t.same(readingOf({ ...STRUCK, decoys: { paths } }).warnings, [])
  t.match(readingOf({ decoys: { paths } }).warnings, [
    /decoys\.paths: nobody is banned: policy\.strikes\.on has no decoy/,
  ])
  t.match(readingOf(STRUCK).warnings, [/policy\.strikes\.on: decoy: decoys\.paths names none/])
  t.match(readingOf({ ...STRUCK, decoys: { paths: ['/a'] } }).warnings, [/a client on a home line .* name two/])
})

t.test('scanner-guard is of the whole service: a mount and a route cannot have it', async (t) => {
  const limits = ['scanner-guard' as const]
  const message = /scanner-guard bans, and bans are those of all: name it in policy\.limits/
  t.throws(() => compileMountPolicy({ limits }, {}), { code: 'invalid_config', message })
  t.match(readingOf({ routes: [{ path: '/a', policy: { limits } }] }).faults, [message])
  t.same(readingOf({ policy: { limits } }), { faults: [], warnings: [] })
  t.equal(compilePolicy({ preset: 'observe', rules: [], limits }).strikes[0]?.id, 'scanner-guard')
})
