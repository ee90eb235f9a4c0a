import t, { type Test } from 'tap'
import { fromCaddy, fromNginx, openAsked } from './forward-auth.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, readStatus } from './wire.ts'

const FAMILIES = [
  ['nginx', fromNginx],
  ['traefik', fromCaddy],
  ['caddy', fromCaddy],
] as const

type Asked = Awaited<ReturnType<typeof openAsked>>
type Check = (t: Test, asked: Asked, fields: typeof fromNginx, shown: (status: number) => number) => Promise<void>

/** Tests each kind of server; nginx relays no other status than 403, so `shown` is that for every refusal. */
function eachFamily(name: string, check: Check): void {
  t.test(name, async (t) => {
    for (const [family, fields] of FAMILIES) {
      const asked = await openAsked(t, family)
      await check(t, asked, fields, (status) => (family === 'nginx' ? 403 : status))
    }
  })
}

eachFamily('an allowed visitor is 200 with the verdict, a blocked one 403 with a page', async (t, asked, fields) => {
  const { check, sallyport, observed } = asked
  const allowed = await check(...fields(VISITOR.flagged, '/a?b=1', 'POST'))
  t.match(allowed, /^HTTP\/1\.1 200 [\s\S]*\r\nsallyport-action: flag\r\n/)
  t.match(allowed, /\r\nsallyport-network-class: hosting\r\n/)
  t.match(allowed, /\r\nsallyport-bot-probability: [\d.]+\r\n/)
  t.match(allowed, /\r\nsallyport-trial: ?\r\n/, 'a name with nothing to say is empty')
  const [scheme, host] = fields === fromCaddy ? ['https', 'shop.example'] : ['unknown', 'site.example']
  t.match(sallyport.asked[0], { method: 'POST', target: '/a?b=1', scheme })
  t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', host])
  t.notOk(sallyport.asked[0]?.fields.some((name) => /^x-(?:original|forwarded-(?:uri|method|host))/i.test(name)))
  t.match(observed[0], { method: 'POST', path: '/a', answeredBy: 'host', client: VISITOR.flagged, status: 200 })
  const blocked = await check(...fields(VISITOR.blocked), 'Accept: text/html')
  t.match(blocked, /^HTTP\/1\.1 403 [\s\S]*sallyport-status: 403\r\n[\s\S]*<html/)
  t.match(observed[1], { answeredBy: 'refusal', status: 403 })
})

eachFamily('a law is 451 where the server relays it, and 403 with the status beside it for nginx', async (t, ...of) => {
  const [{ check, observed, url }, fields, shown] = of
  const refused = await check(...fields(VISITOR.unlawful), 'Accept: text/html')
  t.equal(readStatus(refused), shown(451))
  t.match(refused, /\r\nlink: <\/>; rel="blocked-by"\r\n/i)
  t.match(refused, /sallyport-status: 451\r\n[\s\S]*Not available for legal reasons/)
  t.match(observed[0], { answeredBy: 'refusal', status: 451 })
  if (fields === fromCaddy) return
  const sent = ['Sallyport-Status: 451', `X-Forwarded-For: ${VISITOR.unlawful}`, 'Accept: text/html']
  const page = await exchange(url, get('/.sallyport/refused', ...sent))
  t.match([readStatus(page), page], [451, /\r\nlink: <\/>; rel="blocked-by"\r\n[\s\S]*Not available for legal/i])
})

eachFamily('an offer is 402, its price is handed on by nginx, and who paid passes', async (t, ...of) => {
  const [{ check, observed, url }, fields, shown] = of
  const offered = await check(...fields(VISITOR.offered), 'Accept: text/html')
  t.equal(readStatus(offered), shown(402))
  t.match(offered, /\r\ncrawler-price: USD 0\.01\r\n[\s\S]*sallyport-status: 402\r\n[\s\S]*Payment required/)
  t.match(observed[0], { answeredBy: 'refusal', status: 402, payment: { outcome: 'offered' } })
  const paid = await check(...fields(VISITOR.offered), 'PAYMENT-SIGNATURE: right')
  t.match([readStatus(paid), paid], [200, /\r\nsallyport-action: allow\r\n/])
  t.match(observed[1], { answeredBy: 'host', payment: { outcome: 'paid', receipt: 'p1' } })
  if (fields === fromCaddy) return
  const sent = ['Sallyport-Status: 402', 'Crawler-Price: USD 0.01', 'Payment-Required: e30=', 'Accept: text/html']
  const page = await exchange(url, get('/.sallyport/refused', ...sent))
  const priced = /crawler-price: USD 0\.01\r\npayment-required: e30=\r\n[\s\S]*for this page\. \(USD 0\.01\)/
  t.match([readStatus(page), page], [402, priced])
})

eachFamily('the target and the method are judged as those of any request', async (t, asked, fields, shown) => {
  for (const [target, method, status] of [
    ['/a/%2e%2e/b', 'GET', 400],
    ['http://other.example/', 'GET', 400],
    ['*', 'GET', 400],
    ['/', 'TRACE', 405],
    ['/', 'get', 405],
    ['/', 'GET2', 405],
  ] as const) {
    const answer = await asked.check(...fields(VISITOR.allowed, target, method))
    t.match([readStatus(answer), answer], [shown(status), `sallyport-status: ${status}\r\n`], `${method} ${target}`)
  }
  t.same(asked.sallyport.asked, [])
  for (const method of ['PROPFIND', 'VERSION-CONTROL', 'QUERY', 'PURGE'])
    t.equal(readStatus(await asked.check(...fields(VISITOR.allowed, '/dav/', method))), 200, method)
  t.match(asked.sallyport.asked[0], { method: 'PROPFIND', target: '/dav/' })
})

t.test('ingress-nginx names the request by its URL, and the Host is that of the check', async (t) => {
  const { check, sallyport, observed } = await openAsked(t, 'ingress-nginx')
  const writeFields = (url: string, method = 'GET') => [
    `X-Original-URL: ${url}`,
    `X-Original-Method: ${method}`,
    `X-Forwarded-For: ${VISITOR.flagged}`,
    'X-Sent-From: nginx-ingress-controller',
  ]
  const allowed = await check(...writeFields('https://shop.example:8443/a%20b?c=d', 'POST'), 'X-Original-URI: /forged')
  t.match([readStatus(allowed), allowed], [200, /\r\nsallyport-action: flag\r\n/])
  t.match(sallyport.asked[0], { method: 'POST', target: '/a%20b?c=d', scheme: 'https' })
  t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', 'shop.example:8443'])
  t.notOk(sallyport.asked[0]?.fields.some((name) => /^x-original-/i.test(name)))
  t.match(observed[0], { host: 'shop.example:8443', path: '/a%20b', client: VISITOR.flagged })
  for (const url of ['/a', 'http:///a', 'http://a b/', 'ftp://shop.example/', 'http://shop.example', 'http://a/x/../y'])
    t.equal(readStatus(await check(...writeFields(url))), 403, url)
  t.equal(readStatus(await check(...writeFields('http://shop.example/'), 'X-Original-URL: http://other.example/')), 403)
  t.equal(sallyport.asked.length, 1)
})

t.test('only the headers of the chosen server are read', async (t) => {
  const nginx = await openAsked(t, 'nginx')
  await nginx.check(...fromNginx(VISITOR.allowed, '/real'), 'X-Forwarded-Uri: /forged', 'X-Forwarded-Host: forged')
  t.match(nginx.sallyport.asked[0], { target: '/real' })
  t.equal(readStatus(await nginx.check(...fromCaddy(VISITOR.allowed))), 403)
  const caddy = await openAsked(t, 'caddy')
  await caddy.check(...fromCaddy(VISITOR.allowed, '/real'), 'X-Original-URI: /forged')
  t.match(caddy.sallyport.asked[0], { target: '/real' })
  t.equal(readStatus(await caddy.check(...fromNginx(VISITOR.allowed))), 403)
  t.match(caddy.notices, [/^forward-auth: rejected a check: x-forwarded-method is missing or repeated$/])
})

t.test('a missing header, one that comes twice, and a peer that is not trusted are 403', async (t) => {
  const { check, observed } = await openAsked(t, 'caddy')
  const whole = fromCaddy(VISITOR.allowed)
  for (const at of [0, 1, 2]) {
    t.equal(readStatus(await check(...whole.toSpliced(at, 1))), 403)
    t.equal(readStatus(await check(...whole, whole[at] as string)), 403)
  }
  t.ok(observed.every(({ refusedFor }) => refusedFor === 'forward_auth'))
  const stranger = await openAsked(t, 'caddy', { trust: [] })
  t.equal(readStatus(await stranger.check(...whole)), 403)
  t.match(stranger.notices, [/trustProxy does not name 127\.0\.0\.1$/])
})

t.test('a trusted nginx has the page of a refusal, and nobody else', async (t) => {
  const ask = (url: string, ...more: readonly string[]) =>
    exchange(url, get('/.sallyport/refused', 'X-Request-Id: abc.1', 'Accept: text/html', ...more))
  const { url, sallyport, observed } = await openAsked(t, 'nginx')
  const page = await ask(url, 'Sallyport-Status: 429', 'Retry-After: 30', 'Accept-Language: de')
  t.match([readStatus(page), page], [429, /\r\nretry-after: 30\r\n[\s\S]*Zu viele Anfragen[\s\S]*>abc\.1</])
  for (const status of [400, 403, 405, 414, 503])
    t.equal(readStatus(await ask(url, `Sallyport-Status: ${status}`)), status)
  t.same([sallyport.asked, observed], [[], []], 'nothing is decided or reported again')
  const own = await ask(url, 'Retry-After: soon')
  t.match([readStatus(own), own], [403, 'Access denied'], 'a refusal of nginx itself')
  t.match(observed, [{ path: '/.sallyport/refused', status: 403 }])
  for (const other of [await openAsked(t, 'nginx', { trust: [] }), await openAsked(t, 'caddy')])
    t.equal(readStatus(await ask(other.url, 'Sallyport-Status: 429')), 404)
})

t.test('a name that a program may read as another is refused, however it is spelt', async (t) => {
  const { check, sallyport } = await openAsked(t, 'caddy', { clientHeader: 'X-Edge_Client' })
  const whole = fromCaddy(VISITOR.allowed)
  const foreign = `Sallyport_Action Sallyport.Country sallyport~asn Sallyport-Anything Sallyport--Action X_Forwarded_For
    x-forwarded_for X!Real!IP Client_IP X_Original_URL X-Forwarded_Method X_Rewrite_URL CF_Connecting_IP Proxy
    X_Edge_Client X-Edge-Client x.edge.client`.split(/\s+/)
  for (const name of foreign) {
    const answer = await check(...whole, `${name}: forged`)
    t.match([readStatus(answer), answer], [400, /sallyport-status: 400\r\n/], name)
  }
  t.same(sallyport.asked, [])
  for (const name of ['Sallyport-Action', 'X-Real-IP', 'Forwarded', 'X_Custom', 'X.Y', 'Sally_Port', 'X-Edge_Client'])
    t.equal(readStatus(await check(...whole, `${name}: x`)), 200, name)
})

t.test('a check names the JA4 of the client, in one spelling, once', async (t) => {
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  for (const [family, fields] of FAMILIES.slice(0, 2)) {
    const { check, sallyport, observed } = await openAsked(t, family, { ja4Header: 'X-JA4' })
    const whole = fields(VISITOR.allowed)
    t.equal(readStatus(await check(...whole, `X-JA4: ${ja4}`)), 200)
    t.match(sallyport.asked[0], { ja4, ja4Header: 'x-ja4' })
    t.match(observed[0], { client: VISITOR.allowed, ja4, ja4Header: 'x-ja4' })
    for (const more of [[], ['X-JA4: x'], [`X-JA4: ${ja4}`, `x-ja4: ${ja4}`]]) {
      t.equal(readStatus(await check(...whole, ...more)), 200)
      t.equal(sallyport.asked.at(-1)?.ja4, undefined, more.join(' and '))
    }
    t.match(await check(...whole, `X_JA4: ${ja4}`), /sallyport-status: 400/, 'a program may read it as ours')
  }
})

t.test('Envoy asks with the request itself, below the path', async (t) => {
  const { url, sallyport, observed } = await openAsked(t, 'envoy')
  /** Sends the check of ext_authz over HTTP: the request without its body, our path before its own. */
  const fromEnvoy = (to: string, visitor: string, target: string, method = 'GET', ...more: readonly string[]) => {
    const named = ['Host: shop.example', `X-Forwarded-For: ${visitor}`, 'X-Forwarded-Proto: https', 'Content-Length: 0']
    const lines = [`${method} /.sallyport/check${target} HTTP/1.1`, ...named, 'Connection: close', ...more, '', '']
    return exchange(to, lines.join('\r\n'))
  }
  const forged = ['X-Forwarded-Uri: /forged', 'X-Forwarded-Host: forged']
  const allowed = await fromEnvoy(url, VISITOR.flagged, '/a%20b/c?d=e', 'DELETE', ...forged)
  t.match(allowed, /^HTTP\/1\.1 200 [\s\S]*\r\nsallyport-action: flag\r\n/)
  t.match(sallyport.asked[0], { method: 'DELETE', target: '/a%20b/c?d=e', scheme: 'https' })
  t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', 'shop.example'])
  t.notOk(sallyport.asked[0]?.fields.some((name) => /^(?:content-length|x-forwarded-(?:uri|host))$/i.test(name)))
  const seen = { method: 'DELETE', path: '/a%20b/c', host: 'shop.example', client: VISITOR.flagged, status: 200 }
  t.match(observed[0], seen)
  const blocked = await fromEnvoy(url, VISITOR.blocked, '/', 'GET', 'Accept: text/html')
  t.match([readStatus(blocked), blocked], [403, /<html/])
  for (const [target, method, status] of [
    ['*', 'OPTIONS', 200],
    ['/.sallyport/check/x', 'GET', 200],
    ['/a/%2e%2e/b', 'GET', 400],
    ['/', 'TRACE', 405],
    ['', 'GET', 404],
    ['?a=1', 'GET', 404],
    ['x/y', 'GET', 404],
  ] as const) {
    t.equal(readStatus(await fromEnvoy(url, VISITOR.allowed, target, method)), status, `${method} ${target}`)
  }
  const isAsked = sallyport.asked.some(({ target }) => target === '/.sallyport/check/x')
  t.ok(isAsked, 'a path like any other of the site')
  const stranger = await openAsked(t, 'envoy', { trust: [] })
  t.equal(readStatus(await fromEnvoy(stranger.url, VISITOR.allowed, '/')), 403)
})
