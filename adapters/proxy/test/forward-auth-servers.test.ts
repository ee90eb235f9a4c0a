import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { CLIENT_FIELDS, FRONT_FIELDS } from '../src/fields/client-fields.ts'
import { fromCaddy, openAsked } from './forward-auth.ts'
import { startCaddy, startNginxWith } from './front-programs.ts'
import { missing } from './programs.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, openRawOrigin, readStatus } from './wire.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../examples')

/** An origin that repeats the head that it gets. */
async function echo(t: Test) {
  const origin = await openRawOrigin((socket, head) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(head)}\r\n\r\n${head}`)
  })
  t.teardown(() => origin.close())
  return origin
}

/** Tests that hold behind any server: `url` forwards to an origin that repeats its head. */
async function holds(
  t: Test,
  url: string,
  { sallyport, observed }: Awaited<ReturnType<typeof openAsked>>,
): Promise<void> {
  const passed = await exchange(url, get('/a%20b/c?d=e', 'X-Original-URI: /forged', 'Sallyport-Asn: AS1'))
  t.equal(readStatus(passed), 200)
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
    t.ok([400, 403].includes(readStatus(await exchange(url, get(bad)))), bad)
  }
}

/** Like `asked`, and it blocks a path, because all visitors are of loopback here. */
async function refusing(t: Test, family: 'nginx' | 'caddy') {
  const parts = await openAsked(t, family)
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
  t.equal(readStatus(await exchange(url, get('/.sallyport/check'))), 404, 'no client may ask')
  const refused = await exchange(url, get('/blocked'))
  t.equal(readStatus(refused), 403)
  t.match(refused, `"requestId":"${parts.observed.at(-1)?.id}"`)
  await parts.proxy.close('cut')
  t.equal(readStatus(await exchange(url, get('/'))), 500, 'where nobody answers nothing passes')
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
  t.equal(readStatus(refused), 403)
  t.match(refused, '<html', 'with our page')
  await parts.proxy.close('cut')
  t.equal(readStatus(await exchange(url, get('/'))), 502, 'where nobody answers nothing passes')
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
  const { check } = await openAsked(t, 'traefik')
  const answer = await check(...fromCaddy(VISITOR.allowed))
  const names = [...answer.matchAll(/\r\n(sallyport-[\w-]+):/g)]
    .map(([, name]) => name)
    .filter((name) => name !== 'sallyport-status')
  t.same(new Set(listed), new Set(names))
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
