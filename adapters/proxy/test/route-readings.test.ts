import t, { type Test } from 'tap'
import { type BeforeOptions, openNamed, proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { handshake } from './tunnels.ts'
import { exchange, get, readStatus } from './wire.ts'

/* A server behind the proxy may read another path than the one that is written, so a route may not be passed by its spelling. */

async function startProxy(t: Test, options: BeforeOptions) {
  const before = await proxyBefore(t, 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nrest', options)
  const ask = (target: string) => exchange(before.url, get(target, `X-Forwarded-For: ${VISITOR.allowed}`))
  return { ...before, ask }
}

const CLOSED = { rules: [{ id: 'closed', match: {}, action: 'block' as const }] }
const OPEN = { rules: [{ id: 'open', match: {}, action: 'allow' as const }] }

/** Spellings that servers, frameworks and languages take for /admin or what is below it. */
const SPELLINGS = `/admin /admin/ /admin/x /admin?x /%61dmin /%61%64%6D%69%6E/x /admi%6e/x /admin;x /admin;x=1/y
  /a/;/../admin /admin%2f /admin%2Fx /%2fadmin /x%2f..%2fadmin /%2561dmin /admin%252fx /x/%252e%252e/admin /x/%2e%2e/admin /x/../admin
  /./admin /%2e/admin /x//../admin /x/..//admin /%5cadmin /x%5c..%5cadmin /admin%3fx /admin%23x /admin%00 /admin%3bx /ADMIN
  /%41dmin /aDMIN;x /%c1%a1dmin /x/%c0%ae%c0%ae/admin /x/%e0%80%ae./admin /x%c0%af..%c0%afadmin`.split(/\s+/)

for (const paths of ['strict', 'pass'] as const) {
  t.test(`a policy of its own holds for every spelling of its path (paths: ${paths})`, async (t) => {
    const { ask, origin } = await startProxy(t, { paths, routes: [{ path: '/admin', policy: CLOSED }] })
    for (const target of SPELLINGS) {
      const status = readStatus(await ask(target))
      t.ok(status === 403 || (paths === 'strict' && status === 400), `${target}: ${status}`)
    }
    t.same(origin.heads, [])
    for (const target of ['/', '/administrator', '/x/admin', '/%62', '/B/c', '/x;admin', '/?/admin'])
      t.equal(readStatus(await ask(target)), 200, target)
  })

  t.test(`a lenient part opens no other by its spelling (paths: ${paths})`, async (t) => {
    const { ask } = await startProxy(t, { paths, routes: [{ path: '/open', policy: OPEN }, { policy: CLOSED }] })
    t.equal(readStatus(await ask('/open/x')), 200)
    for (const target of ['/open/%2e%2e/x', '/open/..%2fx', '/%6fpen', '/open%2f', '/open;x', '/OPEN', '/open/..;/x']) {
      const status = readStatus(await ask(target))
      t.ok(status === 403 || (paths === 'strict' && status === 400), `${target}: ${status}`)
    }
  })
}

t.test('a target whose readings belong to different origins is 400, or goes where it is written', async (t) => {
  const admin = await openNamed(t, 'admin')
  const routes = [{ path: '/admin', upstreams: [admin.url] }]
  const strict = await startProxy(t, { routes })
  for (const target of ['/%61dmin', '/%2fadmin', '/admin%2fx', '/admin;x', '/x/..;/admin', '/%2561dmin'])
    t.equal(readStatus(await strict.ask(target)), 400, target)
  t.match(await strict.ask('/%61dmin'), 'The target is ambiguous: servers can read it as paths of several origins.')
  for (const target of ['/admin/a%2fb', '/admin/a;b', '/a%2fb', '/files/%41', '/%c3%bc', '/ADMIN'])
    t.equal(readStatus(await strict.ask(target)), 200, target)
  t.equal(readStatus(await exchange(strict.url, handshake('/%61dmin'))), 400, 'an upgrade too')
  const pass = await startProxy(t, { routes, paths: 'pass' })
  t.match(await pass.ask('/%61dmin'), /rest$/)
  t.match(await pass.ask('/admin%2fx'), /rest$/)
})

t.test('a path beyond ASCII is one path, however its route and its escapes are written', async (t) => {
  const cafe = await openNamed(t, 'cafe')
  for (const path of ['/caf\u00e9', '/caf%C3%A9', '/caf%c3%a9/']) {
    const { ask } = await startProxy(t, { routes: [{ path, upstreams: [cafe.url] }] })
    for (const target of ['/caf%C3%A9', '/caf%c3%a9/x', '/caf%c3%A9']) t.match(await ask(target), /cafe$/, target)
    t.match(await ask('/caf%C3%A8'), /rest$/)
    t.equal(readStatus(await ask('/%63af%C3%A9')), 400)
  }
})

t.test('limits of every part that may be meant are counted', async (t) => {
  const sallyport = fakeSallyport()
  const counted: (readonly string[])[] = []
  sallyport.count = (decision) => {
    counted.push(decision.counting?.rules.map(({ rule }) => rule.id) ?? [])
    return { decision }
  }
  const limit = { max: 1, window: '1m', key: ['client' as const] }
  const login = { rules: [{ id: 'login', match: {}, limit, action: 'throttle' as const }] }
  const flags = { rules: [{ id: 'flagged', match: {}, action: 'flag' as const }] }
  const routes = [{ path: '/login', policy: login }, { policy: flags }]
  const { ask, origin } = await startProxy(t, { sallyport, routes })
  for (const target of ['/login', '/%6cogin', '/LOGIN', '/x']) await ask(target)
  t.same(counted, [['login'], ['login'], ['login'], []])
  t.match(origin.heads[1], /sallyport-action: flag/i, 'and the stricter action holds')
})

t.test('a policy and a mode may be those of two routes', async (t) => {
  const routes = [{ path: '/admin', mode: 'monitor' as const }, { policy: CLOSED }]
  const { ask, origin } = await startProxy(t, { routes })
  t.equal(readStatus(await ask('/x')), 403)
  t.equal(readStatus(await ask('/admin')), 200)
  t.match(origin.heads[0], /sallyport-action: block\r\n[\s\S]*sallyport-enforced: false/i)
})
