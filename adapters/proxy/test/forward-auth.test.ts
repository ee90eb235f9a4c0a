import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { CLIENT_FIELDS, FRONT_FIELDS } from '../src/fields/client-fields.ts'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { startCaddy, startNginxWith } from './front-programs.ts'
import { missing } from './programs.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, get, openRawOrigin, statusOf } from './wire.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../examples')
const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }

/** A proxy that is asked, and nothing else. */
async function asked(
  t: Test,
  forwardAuth: NonNullable<ProxyOptions['forwardAuth']>,
  { trust = ['loopback'], ...options }: ProxyOptions & { readonly trust?: readonly string[] | undefined } = {},
) {
  const observed: ObservedRequest[] = []
  const notices: string[] = []
  const sallyport = Object.assign(fakeSallyport({ trust }), { observe: (one: ObservedRequest) => observed.push(one) })
  const proxy = await openProxy(sallyport, {
    ...LOOPBACK,
    forwardAuth,
    onNotice: (line) => notices.push(line),
    ...options,
    timeouts: { drain: 100 },
  })
  t.teardown(() => proxy.close('cut'))
  const check = (...fields: readonly string[]): Promise<string> =>
    exchange(proxy.url, get('/.sallyport/check', ...fields))
  return { proxy, sallyport, observed, notices, check }
}

function fromNginx(visitor: string, uri = '/', method = 'GET'): string[] {
  return [`X-Original-URI: ${uri}`, `X-Original-Method: ${method}`, `X-Forwarded-For: ${visitor}`]
}

function fromCaddy(visitor: string, uri = '/', method = 'GET', host = 'shop.example'): string[] {
  const forwarded = [`X-Forwarded-Uri: ${uri}`, `X-Forwarded-Method: ${method}`, `X-Forwarded-Host: ${host}`]
  return [...forwarded, `X-Forwarded-For: ${visitor}`, 'X-Forwarded-Proto: https']
}

t.test('an allowed visitor is 200 with the verdict, a blocked one 403 with a page', async (t) => {
  for (const [family, fields] of [
    ['nginx', fromNginx],
    ['traefik', fromCaddy],
    ['caddy', fromCaddy],
  ] as const) {
    const { check, sallyport, observed } = await asked(t, family)
    const allowed = await check(...fields(VISITOR.flagged, '/a?b=1', 'POST'))
    t.equal(statusOf(allowed), 200)
    t.match(allowed, /\r\nsallyport-action: flag\r\n/)
    t.match(allowed, /\r\nsallyport-network-class: hosting\r\n/)
    t.match(allowed, /\r\nsallyport-bot-probability: [\d.]+\r\n/)
    t.match(allowed, /\r\nsallyport-trial: ?\r\n/, 'a name with nothing to say is empty')
    t.match(sallyport.asked[0], { method: 'POST', target: '/a?b=1', scheme: family === 'nginx' ? 'unknown' : 'https' })
    t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', family === 'nginx' ? 'site.example' : 'shop.example'])
    t.notOk(sallyport.asked[0]?.fields.some((name) => /^x-(?:original|forwarded-(?:uri|method|host))/i.test(name)))
    t.match(observed[0], { method: 'POST', path: '/a', answeredBy: 'host', client: VISITOR.flagged, status: 200 })

    const blocked = await check(...fields(VISITOR.blocked), 'Accept: text/html')
    t.equal(statusOf(blocked), 403)
    t.match(blocked, /sallyport-status: 403\r\n[\s\S]*<html/)
    t.match(observed[1], { answeredBy: 'refusal', status: 403 })
  }
})

t.test('ingress-nginx names the request by its URL, and the Host is that of the check', async (t) => {
  const { check, sallyport, observed } = await asked(t, 'ingress-nginx')
  const of = (url: string, method = 'GET') => [
    `X-Original-URL: ${url}`,
    `X-Original-Method: ${method}`,
    `X-Forwarded-For: ${VISITOR.flagged}`,
    'X-Sent-From: nginx-ingress-controller',
  ]
  const allowed = await check(...of('https://shop.example:8443/a%20b?c=d', 'POST'), 'X-Original-URI: /forged')
  t.match([statusOf(allowed), allowed], [200, /\r\nsallyport-action: flag\r\n/])
  t.match(sallyport.asked[0], { method: 'POST', target: '/a%20b?c=d', scheme: 'https' })
  t.same(sallyport.asked[0]?.fields.slice(0, 2), ['Host', 'shop.example:8443'])
  t.notOk(sallyport.asked[0]?.fields.some((name) => /^x-original-/i.test(name)))
  t.match(observed[0], { host: 'shop.example:8443', path: '/a%20b', client: VISITOR.flagged })
  for (const url of ['/a', 'http:///a', 'http://a b/', 'ftp://shop.example/', 'http://shop.example', 'http://a/x/../y'])
    t.equal(statusOf(await check(...of(url))), 403, url)
  t.equal(statusOf(await check(...of('http://shop.example/'), 'X-Original-URL: http://other.example/')), 403)
  t.equal(sallyport.asked.length, 1)
})

t.test('only the headers of the chosen server are read', async (t) => {
  const nginx = await asked(t, 'nginx')
  await nginx.check(...fromNginx(VISITOR.allowed, '/real'), 'X-Forwarded-Uri: /forged', 'X-Forwarded-Host: forged')
  t.match(nginx.sallyport.asked[0], { target: '/real' })
  t.equal(statusOf(await nginx.check(...fromCaddy(VISITOR.allowed))), 403)
  const caddy = await asked(t, 'caddy')
  await caddy.check(...fromCaddy(VISITOR.allowed, '/real'), 'X-Original-URI: /forged')
  t.match(caddy.sallyport.asked[0], { target: '/real' })
  t.equal(statusOf(await caddy.check(...fromNginx(VISITOR.allowed))), 403)
  t.match(caddy.notices, [/^forward-auth: refused a check: x-forwarded-method is missing, or comes twice$/])
})

t.test('a missing header, one that comes twice, and a peer that is not trusted are 403', async (t) => {
  const { check, observed } = await asked(t, 'caddy')
  const whole = fromCaddy(VISITOR.allowed)
  for (const at of [0, 1, 2]) t.equal(statusOf(await check(...whole.toSpliced(at, 1))), 403)
  for (const at of [0, 1, 2]) t.equal(statusOf(await check(...whole, whole[at] as string)), 403)
  t.ok(observed.every(({ refusedFor }) => refusedFor === 'forward_auth'))
  const stranger = await asked(t, 'caddy', { trust: [] })
  t.equal(statusOf(await stranger.check(...whole)), 403)
  t.match(stranger.notices, [/trustProxy does not name 127\.0\.0\.1$/])
})

t.test('the target is judged as that of any request', async (t) => {
  const { check, sallyport } = await asked(t, 'nginx')
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
    t.equal(statusOf(answer), 403, `${method} ${uri}`)
    t.match(answer, /sallyport-status: (?:400|405)\r\n/)
  }
  t.same(sallyport.asked, [])
})

t.test('a server in front may serve any method, and we are asked about each', async (t) => {
  for (const method of ['PROPFIND', 'REPORT', 'MKCALENDAR', 'VERSION-CONTROL', 'BASELINE-CONTROL', 'QUERY', 'PURGE']) {
    const { check, sallyport } = await asked(t, 'traefik')
    t.equal(statusOf(await check(...fromCaddy(VISITOR.allowed, '/remote.php/dav/', method), 'Depth: 1')), 200, method)
    t.match(sallyport.asked[0], { method, target: '/remote.php/dav/' })
    for (const odd of ['TRACE', 'CONNECT', 'TRACK', 'get', 'A B', 'GET2']) {
      t.equal(statusOf(await check(...fromCaddy(VISITOR.allowed, '/', odd))), 405, odd)
    }
  }
})

t.test('a trusted nginx has the page of a refusal, and nobody else', async (t) => {
  const ask = (url: string, ...more: readonly string[]) =>
    exchange(url, get('/.sallyport/refused', 'X-Request-Id: abc.1', 'Accept: text/html', ...more))
  const { proxy, sallyport, observed } = await asked(t, 'nginx')
  const page = await ask(proxy.url, 'Sallyport-Status: 429', 'Retry-After: 30', 'Accept-Language: de')
  t.match([statusOf(page), page], [429, /\r\nretry-after: 30\r\n[\s\S]*Zu viele Anfragen[\s\S]*>abc\.1</])
  for (const status of [400, 403, 405, 414, 503])
    t.equal(statusOf(await ask(proxy.url, `Sallyport-Status: ${status}`)), status)
  t.same([sallyport.asked, observed], [[], []], 'nothing is decided or reported again')
  const own = await ask(proxy.url, 'Retry-After: soon')
  t.match([statusOf(own), own], [403, 'Access denied'], 'a refusal of nginx itself')
  t.match(observed, [{ path: '/.sallyport/refused', status: 403 }])
  const strange = await asked(t, 'nginx', { trust: [] })
  t.equal(statusOf(await ask(strange.proxy.url, 'Sallyport-Status: 429')), 404)
  const caddy = await asked(t, 'caddy')
  t.equal(statusOf(await ask(caddy.proxy.url, 'Sallyport-Status: 429')), 404)
})

t.test('a name that a program may read as another is refused, however it is spelt', async (t) => {
  const { check, sallyport } = await asked(t, 'caddy')
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
    t.equal(statusOf(answer), 400, name)
    t.match(answer, /sallyport-status: 400\r\n/, name)
  }
  t.same(sallyport.asked, [])
  const known = ['Sallyport-Action', 'sallyport-signature', 'X-Real-IP', 'Forwarded', 'X_Custom', 'X.Y', 'Sally_Port']
  for (const name of known) t.equal(statusOf(await check(...whole, `${name}: x`)), 200, name)
})

t.test('the header that names the client may have no other spelling either', async (t) => {
  const { check } = await asked(t, 'caddy', { clientHeader: 'X-Edge_Client' })
  const whole = fromCaddy(VISITOR.allowed)
  t.equal(statusOf(await check(...whole, 'X-Edge_Client: 192.0.2.1')), 200)
  for (const name of ['X_Edge_Client', 'X-Edge-Client', 'x.edge.client'])
    t.equal(statusOf(await check(...whole, `${name}: 192.0.2.1`)), 400, name)
})

/** An origin that repeats the head that it gets. */
async function echo(t: Test) {
  const origin = await openRawOrigin((socket, head) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(head)}\r\n\r\n${head}`)
  })
  t.teardown(() => origin.close())
  return origin
}

/** Tests that hold behind any server: `url` forwards to an origin that repeats its head. */
async function holds(t: Test, url: string, { sallyport, observed }: Awaited<ReturnType<typeof asked>>): Promise<void> {
  const passed = await exchange(url, get('/a%20b/c?d=e', 'X-Original-URI: /forged', 'Sallyport-Asn: AS1'))
  t.equal(statusOf(passed), 200)
  t.match(passed, /GET \/a%20b\/c\?d=e HTTP/, 'the origin gets the request')
  t.match(passed, /\r\nsallyport-action: \w+\r\n/i, 'with the verdict')
  t.notMatch(passed, /AS1\b/, 'and without what the client wrote under its names')
  t.match(sallyport.asked.at(-1), { method: 'GET', target: '/a%20b/c?d=e' })
  t.match(observed.at(-1), { client: '127.0.0.1', host: /^site\.example/ }, 'the client is who connected')

  await exchange(
    url,
    get('/', `X-Forwarded-For: ${VISITOR.blocked}`, 'X-Forwarded-Uri: /forged', 'X-Forwarded-Method: PUT'),
  )
  t.match(sallyport.asked.at(-1), { method: 'GET', target: '/' })
  t.match(observed.at(-1), { client: '127.0.0.1' }, 'and no other, whatever it says')

  const posted = await exchange(url, `${get('/form', 'Content-Length: 4').replace('GET', 'POST')}body`)
  t.match(posted, /POST \/form HTTP/)
  t.match(sallyport.asked.at(-1), { method: 'POST', target: '/form' })

  for (const bad of ['/a/%2e%2e/b', '/x/..%2fadmin', '/a\\b']) {
    t.ok([400, 403].includes(statusOf(await exchange(url, get(bad)))), bad)
  }
}

/** Like `asked`, and it blocks a path, because all visitors are of loopback here. */
async function refusing(t: Test, family: 'nginx' | 'caddy') {
  const parts = await asked(t, family)
  const { sallyport } = parts
  const decide = sallyport.decide
  sallyport.decide = (request) => {
    const decision = decide(request)
    return request.target === '/blocked' ? { ...decision, action: 'block', enforced: true } : decision
  }
  return parts
}

t.test('nginx', { skip: missing('nginx') }, async (t) => {
  const [origin, parts] = [await echo(t), await refusing(t, 'nginx')]
  const url = await startNginxWith(t, ({ port }) =>
    readFileSync(join(EXAMPLES, 'nginx/site.conf'), 'utf8')
      .replaceAll('127.0.0.1:8080', new URL(parts.proxy.url).host)
      .replace('127.0.0.1:3000', new URL(origin.url).host)
      .replace('listen 80;', `listen 127.0.0.1:${port};`),
  )
  await holds(t, url, parts)
  t.equal(statusOf(await exchange(url, get('/.sallyport/check'))), 404, 'no client may ask')
  const refused = await exchange(url, get('/blocked'))
  t.equal(statusOf(refused), 403)
  t.match(refused, `"requestId":"${parts.observed.at(-1)?.id}"`)
  await parts.proxy.close('cut')
  t.equal(statusOf(await exchange(url, get('/'))), 500, 'where nobody answers nothing passes')
})

t.test('Caddy', { skip: missing('caddy') }, async (t) => {
  const [origin, parts] = [await echo(t), await refusing(t, 'caddy')]
  const url = await startCaddy(t, (port) =>
    readFileSync(join(EXAMPLES, 'caddy/Caddyfile'), 'utf8')
      .replaceAll('127.0.0.1:8080', new URL(parts.proxy.url).host)
      .replace('127.0.0.1:3000', new URL(origin.url).host)
      .replace('site.example {', `http://site.example:${port} {\n\tbind 127.0.0.1`),
  )
  await holds(t, url, parts)
  const refused = await exchange(url, get('/blocked', 'Accept: text/html'))
  t.equal(statusOf(refused), 403)
  t.match(refused, '<html', 'with our page')
  await parts.proxy.close('cut')
  t.equal(statusOf(await exchange(url, get('/'))), 502, 'where nobody answers nothing passes')
})

/** Lists names of servers that an example leaves as a client wrote them, but for those that the server writes itself. */
function listUnremoved(removed: readonly string[], ...written: readonly string[]): readonly string[] {
  const taken = [...removed, 'x-forwarded-for', 'x-forwarded-proto', ...written]
  return [...CLIENT_FIELDS, ...FRONT_FIELDS].filter((name) => !taken.includes(name))
}

t.test("Traefik's example names every header of the verdict", async (t) => {
  const text = readFileSync(join(EXAMPLES, 'traefik/dynamic.yaml'), 'utf8')
  t.match(text, /address: http:\/\/127\.0\.0\.1:8080\/\.sallyport\/check\n/)
  t.match(text, 'trustForwardHeader: false\n')
  t.match(text, 'middlewares: [unclaimed, sallyport]\n', 'what it can remove goes before it asks')
  const removed = [...text.matchAll(/^ +([\w-]+): ""$/gm)].map(([, name]) => (name as string).toLowerCase())
  t.same(listUnremoved(removed, 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-server'), [])
  for (const name of ['sallyport-signature', 'proxy', 'x-request-id']) t.ok(removed.includes(name), name)
  const listed = [...text.matchAll(/^ +- (Sallyport-[\w-]+)$/gm)].map(([, name]) => (name as string).toLowerCase())
  const { check } = await asked(t, 'traefik')
  const answer = await check(...fromCaddy(VISITOR.allowed))
  const names = [...answer.matchAll(/\r\n(sallyport-[\w-]+):/g)]
    .map(([, name]) => name)
    .filter((name) => name !== 'sallyport-status')
  t.same(new Set(listed), new Set(names))
})

/** The check of Envoy's ext_authz over HTTP: the request without its body, our path before its own (its documentation). */
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
  const { proxy, sallyport, observed } = await asked(t, 'envoy')
  const ask = (visitor: string, target: string, method = 'GET', ...more: readonly string[]) =>
    fromEnvoy(proxy.url, visitor, target, method, ...more)
  const allowed = await ask(
    VISITOR.flagged,
    '/a%20b/c?d=e',
    'DELETE',
    'X-Forwarded-Uri: /forged',
    'X-Forwarded-Host: forged',
  )
  t.equal(statusOf(allowed), 200)
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
  t.match([statusOf(blocked), blocked], [403, /<html/])
  t.equal(statusOf(await ask(VISITOR.allowed, '*', 'OPTIONS')), 200, 'about the server')
  t.equal(statusOf(await ask(VISITOR.allowed, '/.sallyport/check/x')), 200, 'a path like any other of the site')
  t.equal(sallyport.asked.at(-1)?.target, '/.sallyport/check/x')
  for (const target of ['', '?a=1', 'x/y'])
    t.equal(statusOf(await ask(VISITOR.allowed, target)), 404, `no check: ${target}`)
  const stranger = await asked(t, 'envoy', { trust: [] })
  t.equal(statusOf(await fromEnvoy(stranger.proxy.url, VISITOR.allowed, '/', 'GET')), 403)
})

t.test('a refusal has its own status where the server relays it, and none by which it would let pass', async (t) => {
  for (const family of ['envoy', 'traefik', 'caddy', 'nginx'] as const) {
    const { proxy, check } = await asked(t, family)
    const asks = (target: string, method = 'GET') =>
      family === 'envoy'
        ? fromEnvoy(proxy.url, VISITOR.allowed, target, method)
        : check(...(family === 'nginx' ? fromNginx : fromCaddy)(VISITOR.allowed, target, method))
    const shown = (status: number) => (family === 'nginx' ? 403 : status)
    t.equal(statusOf(await asks('/a/%2e%2e/b')), shown(400), family)
    t.equal(statusOf(await asks('/', 'TRACE')), shown(405), family)
  }
})

t.test("Envoy's example hands on every field, and its verdict", async (t) => {
  const text = readFileSync(join(EXAMPLES, 'envoy/envoy.yaml'), 'utf8')
  const listener = parse(text).static_resources.listeners[0].filter_chains[0].filters[0].typed_config
  t.match(listener, { use_remote_address: true, normalize_path: false })
  t.same(listener.upgrade_configs, [{ upgrade_type: 'websocket' }])
  const [{ request_headers_to_remove: removed }] = listener.route_config.virtual_hosts
  t.same(listUnremoved(removed, 'x-envoy-external-address', 'x-envoy-original-path'), [])
  t.same(
    listener.http_filters.map(({ name }: { readonly name: string }) => name),
    ['envoy.filters.http.ext_authz', 'envoy.filters.http.router'],
  )
  t.match(listener.http_filters[0].typed_config, {
    failure_mode_allow: false,
    http_service: { path_prefix: '/.sallyport/check' },
  })
})
