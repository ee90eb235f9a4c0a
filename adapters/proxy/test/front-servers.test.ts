import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import { VERDICT_NAMES } from '@sallyport/node/internal'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { CLIENT_FIELDS, FRONT_FIELDS } from '../src/fields/client-fields.ts'
import { openOrigin, proxyBefore } from './behind.ts'
import { certificateFolder } from './certificate.ts'
import { fromCaddy, openAsked } from './forward-auth.ts'
import {
  cgiOrigin,
  missing,
  NO_FPM,
  NO_HAPROXY,
  NO_LIGHTTPD,
  NO_NGINX,
  phpFpm,
  runServer,
  spellings,
  startCaddy,
  startNginxWith,
} from './programs.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

/*
 * A program behind nginx, Caddy or HAProxy, as the examples configure them, reads nothing that a client wrote under a name of ours
 * or of that server, in any spelling: CGI and PHP read many names as one.
 */
const EXAMPLES = join(import.meta.dirname, '../../../../examples')
const NO_CADDY = missing('caddy')
const FORGED = 'forged'

/** Lists names that the examples write, and some that no example writes. */
const NAMES = `Sallyport-Action Sallyport-Network-Class Sallyport-Country Sallyport-Signature Sallyport-Unknown
X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host Forwarded X-Real-IP Client-IP X-Original-URL X-Rewrite-URL Proxy
Front-End-Https Client-Cert X-Scheme X-Forwarded-Prefix X-Forwarded-Ssl X-Forwarded-Scheme`.split(/\s/)

/** Names that are sent as they are written, beside the spellings of the names above. */
const MORE = [...CLIENT_FIELDS, ...FRONT_FIELDS, ...VERDICT_NAMES]
const SPELLINGS = [...NAMES.flatMap((name) => spellings(name, ['_', '.', '~', "'"])), ...MORE]

/** Returns the spellings that reach a program with their value. Others may be refused; each request that passes has our verdict. */
async function reached(url: string, path: string): Promise<readonly string[]> {
  const wrong: string[] = []
  const left = [...SPELLINGS]
  const ask = async (): Promise<void> => {
    for (let spelling = left.pop(); spelling !== undefined; spelling = left.pop()) {
      const answer = await exchange(url, get(path, `${spelling}: ${FORGED}`))
      const refused = [400, 403].includes(readStatus(answer))
      const verdict = /^HTTP_SALLYPORT_ACTION=(?:allow|flag)$/m.test(answer)
      if (answer.includes(FORGED) || !(refused || verdict)) wrong.push(`${spelling}: ${answer.slice(-300)}`)
    }
  }
  await Promise.all([ask(), ask(), ask(), ask()])
  const plain = await exchange(url, get(path, 'X_Custom: mine'))
  if (!/^HTTP_SALLYPORT_ACTION=(?:allow|flag)$/m.test(plain)) wrong.push(`without any: ${plain}`)
  return wrong
}

function example(name: string, replaced: Readonly<Record<string, string>>): string {
  return Object.entries(replaced).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    readFileSync(join(EXAMPLES, name), 'utf8'),
  )
}

async function caddy(t: Test, backend: (origin: string) => string) {
  const gate = await proxyBefore(t, OK, { forwardAuth: 'caddy', upstream: undefined })
  const url = await startCaddy(t, (port) =>
    example('caddy/Caddyfile', {
      '127.0.0.1:8080': new URL(gate.url).host,
      '\t\treverse_proxy 127.0.0.1:3000': backend(new URL(gate.origin.url).host),
      'site.example {': `http://site.example:${port} {\n\tbind 127.0.0.1`,
    }),
  )
  return { ...gate, url }
}

/** `lenient`: nginx passes on names that it drops by default. */
async function nginx(t: Test, { origin = '', more = '', lenient = false }) {
  const gate = await proxyBefore(t, OK, { forwardAuth: 'nginx', upstream: undefined })
  const url = await startNginxWith(t, ({ port }) =>
    example('nginx/site.conf', {
      '127.0.0.1:8080': new URL(gate.url).host,
      '127.0.0.1:3000': origin || new URL(gate.origin.url).host,
      'listen 80;': `listen 127.0.0.1:${port};`,
      '  location / {': `${more}\n  location / {`,
      ...(lenient && {
        'underscores_in_headers off': 'underscores_in_headers on',
        'ignore_invalid_headers on': 'ignore_invalid_headers off',
      }),
    }),
  )
  return { ...gate, url }
}

/** HAProxy stands before the gate, because its configuration cannot ask over HTTP. */
async function haproxy(t: Test, server: string): Promise<string> {
  const port = await freePort()
  const file = join(certificateFolder(t), 'haproxy.cfg')
  writeFileSync(file, example('haproxy/haproxy.cfg', { '127.0.0.1:8080': server, ':80\n': `127.0.0.1:${port}\n` }))
  return runServer(t, 'haproxy', ['-db', '-f', file], port)
}

t.test('Caddy before CGI and PHP-FPM', { skip: NO_CADDY || NO_LIGHTTPD || NO_FPM }, async (t) => {
  const origin = new URL(await cgiOrigin(t)).host
  t.same(await reached((await caddy(t, () => `reverse_proxy ${origin}`)).url, '/show.cgi'), [])
  const { port, folder } = await phpFpm(t)
  const { url } = await caddy(t, () => `root * ${folder}\nphp_fastcgi 127.0.0.1:${port}`)
  t.same(await reached(url, '/show.php'), [])
})

for (const lenient of [false, true]) {
  const how = lenient ? 'nginx that passes every name on' : 'nginx'
  t.test(`${how}, before a CGI program of lighttpd`, { skip: NO_NGINX || NO_LIGHTTPD }, async (t) => {
    const origin = new URL(await cgiOrigin(t)).host
    t.same(await reached((await nginx(t, { origin, lenient })).url, '/show.cgi'), [])
  })

  t.test(`${how}, before PHP-FPM`, { skip: NO_NGINX || NO_FPM }, async (t) => {
    const { port, folder } = await phpFpm(t)
    const parameters = ['REQUEST_METHOD', 'CONTENT_LENGTH', 'QUERY_STRING'].map(
      (name) => `fastcgi_param ${name} $${name.toLowerCase()};`,
    )
    const more = example('nginx/php.conf', {
      '127.0.0.1:9000': `127.0.0.1:${port}`,
      'include fastcgi_params;': parameters.join(' '),
      $document_root: folder,
    })
    t.same(await reached((await nginx(t, { more, lenient })).url, '/show.php'), [])
  })
}

t.test('HAProxy removes every spelling, and the gate sees none', { skip: NO_HAPROXY }, async (t) => {
  const origin = await openOrigin(t)
  const url = await haproxy(t, new URL(origin.url).host)
  const all = [...NAMES.flatMap((name) => spellings(name)), ...MORE]
  for (const spelling of all) await exchange(url, get('/', `${spelling}: ${FORGED}`))
  t.equal(origin.heads.length, all.length)
  t.notMatch(origin.heads.join(), FORGED)
  t.match(origin.heads[0], /x-forwarded-for: 127\.0\.0\.1\r\n/i)
})

for (const [name, skip, start] of [
  ['nginx', NO_NGINX, (t: Test) => nginx(t, {})],
  ['Caddy', NO_CADDY, (t: Test) => caddy(t, (origin) => `reverse_proxy ${origin}`)],
] as const) {
  t.test(`${name} asks about the request that its client sent`, { skip }, async (t) => {
    const { url, origin, sallyport, proxy } = await start(t)
    const forged = [`X-Forwarded-For: ${VISITOR.blocked}`, 'X-Original-URI: /forged', 'X-Forwarded-Uri: /forged']
    t.equal(readStatus(await exchange(url, get('/a%20b/c?d=e', ...forged, 'X-Forwarded-Method: PUT'))), 200)
    t.match(sallyport.asked.at(-1), { method: 'GET', target: '/a%20b/c?d=e' })
    await exchange(url, `${get('/form', 'Content-Length: 4').replace('GET', 'POST')}body`)
    t.match(sallyport.asked.at(-1), { method: 'POST', target: '/form' })
    t.match(origin.heads, [/^GET \/a%20b\/c\?d=e [\s\S]*sallyport-action: /i, /^POST \/form /])
    for (const bad of ['/a/%2e%2e/b', '/x/..%2fadmin', '/a\\b'])
      t.ok([400, 403].includes(readStatus(await exchange(url, get(bad)))), bad)
    if (name === 'nginx') t.equal(readStatus(await exchange(url, get('/.sallyport/check'))), 404, 'no client may ask')
    await proxy.close('cut')
    t.ok([500, 502].includes(readStatus(await exchange(url, get('/')))), 'without the gate nothing passes')
    t.equal(origin.heads.length, 2)
  })
}

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
  const listNames = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => (name as string).toLowerCase())
  const removed = listNames(/^ +([\w-]+): ""$/gm)
  t.same(listUnremoved(removed, 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-server'), [])
  for (const name of ['sallyport-signature', 'proxy', 'x-request-id']) t.ok(removed.includes(name), name)
  const { check } = await openAsked(t, 'traefik')
  const answer = await check(...fromCaddy(VISITOR.allowed))
  const names = [...answer.matchAll(/\r\n(sallyport-(?!status)[\w-]+):/g)].map(([, name]) => name)
  t.same(new Set(listNames(/^ +- (Sallyport-[\w-]+)$/gm)), new Set(names))
})

t.test("Envoy's example hands on every field, and its verdict", async (t) => {
  const text = readFileSync(join(EXAMPLES, 'envoy/envoy.yaml'), 'utf8')
  const listener = parse(text).static_resources.listeners[0].filter_chains[0].filters[0].typed_config
  t.match(listener, { use_remote_address: true, normalize_path: false })
  t.same(listener.upgrade_configs, [{ upgrade_type: 'websocket' }])
  const [{ request_headers_to_remove: removed }] = listener.route_config.virtual_hosts
  t.same(listUnremoved(removed, 'x-envoy-external-address', 'x-envoy-original-path'), [])
  t.match(listener.http_filters, [{ name: 'envoy.filters.http.ext_authz' }, { name: 'envoy.filters.http.router' }])
  t.match(listener.http_filters[0].typed_config, {
    failure_mode_allow: false,
    http_service: { path_prefix: '/.sallyport/check' },
  })
})
