import t from 'tap'
import { fromCaddy, fromNginx, openAsked } from './forward-auth.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, readStatus } from './wire.ts'

t.test('an allowed visitor is 200 with the verdict, a blocked one 403 with a page', async (t) => {
  for (const [family, fields] of [
    ['nginx', fromNginx],
    ['traefik', fromCaddy],
    ['caddy', fromCaddy],
  ] as const) {
    const { check, sallyport, observed } = await openAsked(t, family)
    const allowed = await check(...fields(VISITOR.flagged, '/a?b=1', 'POST'))
    t.equal(readStatus(allowed), 200)
    t.match(allowed, /\r\nsallyport-action: flag\r\n/)
    t.match(allowed, /\r\nsallyport-network-class: hosting\r\n/)
    t.match(allowed, /\r\nsallyport-bot-probability: [\d.]+\r\n/)
    t.match(allowed, /\r\nsallyport-trial: ?\r\n/, 'a name with nothing to say is empty')
    t.match(sallyport.asked[0], { method: 'POST', target: '/a?b=1', scheme: family === 'nginx' ? 'unknown' : 'https' })
    t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', family === 'nginx' ? 'site.example' : 'shop.example'])
    t.notOk(sallyport.asked[0]?.fields.some((name) => /^x-(?:original|forwarded-(?:uri|method|host))/i.test(name)))
    t.match(observed[0], { method: 'POST', path: '/a', answeredBy: 'host', client: VISITOR.flagged, status: 200 })

    const blocked = await check(...fields(VISITOR.blocked), 'Accept: text/html')
    t.equal(readStatus(blocked), 403)
    t.match(blocked, /sallyport-status: 403\r\n[\s\S]*<html/)
    t.match(observed[1], { answeredBy: 'refusal', status: 403 })
  }
})

t.test('a law is 451 where the server relays it, and 403 with the status beside it for nginx', async (t) => {
  for (const [family, fields, status] of [
    ['nginx', fromNginx, 403],
    ['traefik', fromCaddy, 451],
    ['caddy', fromCaddy, 451],
  ] as const) {
    const { check, observed, proxy } = await openAsked(t, family)
    const refused = await check(...fields(VISITOR.unlawful), 'Accept: text/html')
    t.equal(readStatus(refused), status, family)
    t.match(refused, /\r\nlink: <\/>; rel="blocked-by"\r\n/i)
    t.match(refused, /sallyport-status: 451\r\n[\s\S]*Not available for legal reasons/)
    t.match(observed[0], { answeredBy: 'refusal', status: 451 })
    if (family !== 'nginx') continue
    const sent = ['Sallyport-Status: 451', `X-Forwarded-For: ${VISITOR.unlawful}`, 'Accept: text/html']
    const page = await exchange(proxy.url, get('/.sallyport/refused', ...sent))
    t.equal(readStatus(page), 451)
    t.match(page, /\r\nlink: <\/>; rel="blocked-by"\r\n[\s\S]*Not available for legal reasons/i)
  }
})

t.test('an offer is 402 where the server relays it, and nginx hands the price on; a paid request passes', async (t) => {
  for (const [family, fields, status] of [
    ['nginx', fromNginx, 403],
    ['traefik', fromCaddy, 402],
    ['caddy', fromCaddy, 402],
  ] as const) {
    const { check, observed, proxy } = await openAsked(t, family)
    const offered = await check(...fields(VISITOR.offered), 'Accept: text/html')
    t.equal(readStatus(offered), status, family)
    t.match(offered, /\r\ncrawler-price: USD 0\.01\r\n[\s\S]*sallyport-status: 402\r\n[\s\S]*Payment required/)
    t.match(observed[0], { answeredBy: 'refusal', status: 402, payment: { outcome: 'offered' } })
    const paid = await check(...fields(VISITOR.offered), 'PAYMENT-SIGNATURE: right')
    t.match([readStatus(paid), paid], [200, /\r\nsallyport-action: allow\r\n/])
    t.match(observed[1], {
      answeredBy: 'host',
      decision: { action: 'allow' },
      payment: { outcome: 'paid', receipt: 'p1' },
    })
    if (family !== 'nginx') continue
    const sent = ['Sallyport-Status: 402', 'Crawler-Price: USD 0.01', 'Payment-Required: e30=', 'Accept: text/html']
    const page = await exchange(proxy.url, get('/.sallyport/refused', ...sent))
    t.equal(readStatus(page), 402)
    t.match(page, /crawler-price: USD 0\.01\r\npayment-required: e30=\r\n[\s\S]*for this page\. \(USD 0\.01\)/)
  }
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
  for (const at of [0, 1, 2]) t.equal(readStatus(await check(...whole.toSpliced(at, 1))), 403)
  for (const at of [0, 1, 2]) t.equal(readStatus(await check(...whole, whole[at] as string)), 403)
  t.ok(observed.every(({ refusedFor }) => refusedFor === 'forward_auth'))
  const stranger = await openAsked(t, 'caddy', { trust: [] })
  t.equal(readStatus(await stranger.check(...whole)), 403)
  t.match(stranger.notices, [/trustProxy does not name 127\.0\.0\.1$/])
})

t.test('the target is judged as that of any request', async (t) => {
  const { check, sallyport } = await openAsked(t, 'nginx')
  for (const [uri, method] of [
    ['/a/%2e%2e/b', 'GET'],
    ['/x/../double', 'GET'],
    ['/x%00', 'GET'],
    ['http://other.example/', 'GET'],
    ['*', 'GET'],
    ['/', 'TRACE'],
    ['/', 'get'],
  ] as const) {
    const answer = await check(...fromNginx(VISITOR.allowed, uri, method))
    t.equal(readStatus(answer), 403, `${method} ${uri}`)
    t.match(answer, /sallyport-status: (?:400|405)\r\n/)
  }
  t.same(sallyport.asked, [])
})

t.test('a server in front may serve any method, and we are asked about each', async (t) => {
  for (const method of ['PROPFIND', 'REPORT', 'MKCALENDAR', 'VERSION-CONTROL', 'BASELINE-CONTROL', 'QUERY', 'PURGE']) {
    const { check, sallyport } = await openAsked(t, 'traefik')
    t.equal(readStatus(await check(...fromCaddy(VISITOR.allowed, '/remote.php/dav/', method), 'Depth: 1')), 200, method)
    t.match(sallyport.asked[0], { method, target: '/remote.php/dav/' })
    for (const odd of ['TRACE', 'CONNECT', 'TRACK', 'get', 'A B', 'GET2']) {
      const answer = await check(...fromCaddy(VISITOR.allowed, '/', odd))
      t.match([readStatus(answer), answer], [405, `The method ${odd} is not allowed.`], odd)
    }
  }
})

t.test('a trusted nginx has the page of a refusal, and nobody else', async (t) => {
  const ask = (url: string, ...more: readonly string[]) =>
    exchange(url, get('/.sallyport/refused', 'X-Request-Id: abc.1', 'Accept: text/html', ...more))
  const { proxy, sallyport, observed } = await openAsked(t, 'nginx')
  const page = await ask(proxy.url, 'Sallyport-Status: 429', 'Retry-After: 30', 'Accept-Language: de')
  t.match([readStatus(page), page], [429, /\r\nretry-after: 30\r\n[\s\S]*Zu viele Anfragen[\s\S]*>abc\.1</])
  for (const status of [400, 403, 405, 414, 503])
    t.equal(readStatus(await ask(proxy.url, `Sallyport-Status: ${status}`)), status)
  t.same([sallyport.asked, observed], [[], []], 'nothing is decided or reported again')
  const own = await ask(proxy.url, 'Retry-After: soon')
  t.match([readStatus(own), own], [403, 'Access denied'], 'a refusal of nginx itself')
  t.match(observed, [{ path: '/.sallyport/refused', status: 403 }])
  const strange = await openAsked(t, 'nginx', { trust: [] })
  t.equal(readStatus(await ask(strange.proxy.url, 'Sallyport-Status: 429')), 404)
  const caddy = await openAsked(t, 'caddy')
  t.equal(readStatus(await ask(caddy.proxy.url, 'Sallyport-Status: 429')), 404)
})

t.test('a name that a program may read as another is refused, however it is spelt', async (t) => {
  const { check, sallyport } = await openAsked(t, 'caddy')
  const whole = fromCaddy(VISITOR.allowed)
  const foreign = [
    'Sallyport_Action',
    'Sallyport.Country',
    'sallyport~asn',
    'SALLYPORT_X',
    'Sallyport-Anything',
    'Sallyport--Action',
    'X_Forwarded_For',
    'X.Forwarded.For',
    'x-forwarded_for',
    'X!Real!IP',
    'X_Real_IP',
    'Client_IP',
    'X_Original_URL',
    'X_Forwarded_Uri',
    'X-Forwarded_Method',
    'X_Original_URI',
    'X_Rewrite_URL',
    'CF_Connecting_IP',
    'Proxy',
  ]
  for (const name of foreign) {
    const answer = await check(...whole, `${name}: forged`)
    t.equal(readStatus(answer), 400, name)
    t.match(answer, /sallyport-status: 400\r\n/, name)
  }
  t.same(sallyport.asked, [])
  const known = ['Sallyport-Action', 'sallyport-signature', 'X-Real-IP', 'Forwarded', 'X_Custom', 'X.Y', 'Sally_Port']
  for (const name of known) t.equal(readStatus(await check(...whole, `${name}: x`)), 200, name)
})

t.test('the header that names the client may have no other spelling either', async (t) => {
  const { check } = await openAsked(t, 'caddy', { clientHeader: 'X-Edge_Client' })
  const whole = fromCaddy(VISITOR.allowed)
  t.equal(readStatus(await check(...whole, 'X-Edge_Client: 192.0.2.1')), 200)
  for (const name of ['X_Edge_Client', 'X-Edge-Client', 'x.edge.client'])
    t.equal(readStatus(await check(...whole, `${name}: 192.0.2.1`)), 400, name)
})

t.test('a check names the JA4 of the client, in one spelling, once', async (t) => {
  const named = 't13d1516h2_8daaf6152771_02713d6af862'
  for (const [family, fields] of [
    ['nginx', fromNginx],
    ['caddy', fromCaddy],
  ] as const) {
    const { check, sallyport, observed } = await openAsked(t, family, { ja4Header: 'X-JA4' })
    const whole = fields(VISITOR.allowed)
    t.equal(readStatus(await check(...whole, `X-JA4: ${named}`)), 200)
    t.match(sallyport.asked[0], { ja4: named, ja4Header: 'x-ja4' })
    t.match(observed[0], { client: VISITOR.allowed, ja4: named, ja4Header: 'x-ja4' })
    for (const more of [[], ['X-JA4: x'], [`X-JA4: ${named}`, `x-ja4: ${named}`]]) {
      t.equal(readStatus(await check(...whole, ...more)), 200)
      t.equal(sallyport.asked.at(-1)?.ja4, undefined, more.join(' and '))
    }
    t.match(
      await check(...whole, `X_JA4: ${named}`),
      /sallyport-status: 400/,
      'a program behind it may read it as ours',
    )
  }
})

/** Sends the check of Envoy's ext_authz over HTTP: the request without its body, our path before its own (its documentation). */
async function fromEnvoy(url: string, visitor: string, target: string, method: string, ...more: readonly string[]) {
  const lines = [
    `Host: shop.example`,
    `X-Forwarded-For: ${visitor}`,
    'X-Forwarded-Proto: https',
    'Content-Length: 0',
    'Connection: close',
    ...more,
  ]
  return exchange(url, `${method} /.sallyport/check${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
}

t.test('Envoy asks with the request itself, below the path', async (t) => {
  const { proxy, sallyport, observed } = await openAsked(t, 'envoy')
  const ask = (visitor: string, target: string, method = 'GET', ...more: readonly string[]) =>
    fromEnvoy(proxy.url, visitor, target, method, ...more)
  const allowed = await ask(
    VISITOR.flagged,
    '/a%20b/c?d=e',
    'DELETE',
    'X-Forwarded-Uri: /forged',
    'X-Forwarded-Host: forged',
  )
  t.equal(readStatus(allowed), 200)
  t.match(allowed, /\r\nsallyport-action: flag\r\n/)
  t.match(sallyport.asked[0], { method: 'DELETE', target: '/a%20b/c?d=e', scheme: 'https' })
  t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', 'shop.example'])
  t.notOk(sallyport.asked[0]?.fields.some((name) => /^(?:content-length|x-forwarded-(?:uri|host))$/i.test(name)))
  t.match(observed[0], {
    method: 'DELETE',
    path: '/a%20b/c',
    host: 'shop.example',
    client: VISITOR.flagged,
    status: 200,
  })

  const blocked = await ask(VISITOR.blocked, '/', 'GET', 'Accept: text/html')
  t.match([readStatus(blocked), blocked], [403, /<html/])
  t.equal(readStatus(await ask(VISITOR.allowed, '*', 'OPTIONS')), 200, 'about the server')
  t.equal(readStatus(await ask(VISITOR.allowed, '/.sallyport/check/x')), 200, 'a path like any other of the site')
  t.equal(sallyport.asked.at(-1)?.target, '/.sallyport/check/x')
  for (const target of ['', '?a=1', 'x/y'])
    t.equal(readStatus(await ask(VISITOR.allowed, target)), 404, `no check: ${target}`)
  const stranger = await openAsked(t, 'envoy', { trust: [] })
  t.equal(readStatus(await fromEnvoy(stranger.proxy.url, VISITOR.allowed, '/', 'GET')), 403)
})

t.test('a refusal has its own status where the server relays it, and none by which it would let pass', async (t) => {
  for (const family of ['envoy', 'traefik', 'caddy', 'nginx'] as const) {
    const { proxy, check } = await openAsked(t, family)
    const asks = (target: string, method = 'GET') =>
      family === 'envoy'
        ? fromEnvoy(proxy.url, VISITOR.allowed, target, method)
        : check(...(family === 'nginx' ? fromNginx : fromCaddy)(VISITOR.allowed, target, method))
    const readShown = (status: number) => (family === 'nginx' ? 403 : status)
    t.equal(readStatus(await asks('/a/%2e%2e/b')), readShown(400), family)
    t.equal(readStatus(await asks('/', 'TRACE')), readShown(405), family)
  }
})
