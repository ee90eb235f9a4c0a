import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { VERDICT_NAMES } from '@sallyport/node/internal'
import t, { type Test } from 'tap'
import { CLIENT_FIELDS, FRONT_FIELDS } from '../src/fields/client-fields.ts'
import { openProxy } from '../src/index.ts'
import { certificateFolder } from './certificate.ts'
import { startCaddy, startNginxWith } from './front-programs.ts'
import {
  cgiOrigin,
  freePort,
  missing,
  NO_FPM,
  NO_LIGHTTPD,
  phpFpm,
  phpOrigin,
  runServer,
  spellings,
} from './programs.ts'
import { fakeSallyport } from './sallyport.ts'
import { exchange, get, openRawOrigin, readStatus } from './wire.ts'

/*
 * A program behind nginx, Caddy or HAProxy, as the examples configure them, reads nothing that a client wrote under a name of ours
 * or of that server, in any spelling: CGI and PHP read many names as one.
 */
const EXAMPLES = join(import.meta.dirname, '../../../../examples')
const FORGED = 'forged'

/** Lists names that the examples write, and some that no example writes. */
const NAMES = [
  'Sallyport-Action',
  'Sallyport-Network-Class',
  'Sallyport-Country',
  'Sallyport-Signature',
  'Sallyport-Unknown',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'Forwarded',
  'X-Real-IP',
  'Client-IP',
  'X-Original-URL',
  'X-Rewrite-URL',
  'Proxy',
  'Front-End-Https',
  'Client-Cert',
  'X-Scheme',
  'X-Forwarded-Prefix',
  'X-Forwarded-Ssl',
  'X-Forwarded-Scheme',
]

/** Names that are looked at as they are written, beside the spellings of those above. */
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

/** A gate that is asked, or that forwards. */
async function gate(
  t: Test,
  options: { readonly forwardAuth?: 'nginx' | 'caddy' | undefined; readonly upstream?: string | undefined },
) {
  const proxy = await openProxy(fakeSallyport(), {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    timeouts: { drain: 0 },
    ...options,
  })
  t.teardown(() => proxy.close('cut'))
  return new URL(proxy.url).host
}

function example(name: string, replaced: Readonly<Record<string, string>>): string {
  return Object.entries(replaced).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    readFileSync(join(EXAMPLES, name), 'utf8'),
  )
}

async function caddy(t: Test, backend: string): Promise<string> {
  const host = await gate(t, { forwardAuth: 'caddy' })
  return startCaddy(t, (port) =>
    example('caddy/Caddyfile', {
      '127.0.0.1:8080': host,
      '\t\treverse_proxy 127.0.0.1:3000': backend,
      'site.example {': `http://site.example:${port} {\n\tbind 127.0.0.1`,
    }),
  )
}

/** `lenient`: nginx passes on names that it drops by default. */
async function nginx(
  t: Test,
  { origin = '127.0.0.1:1', more = '', lenient = false }: { origin?: string; more?: string; lenient?: boolean },
): Promise<string> {
  const host = await gate(t, { forwardAuth: 'nginx' })
  return startNginxWith(t, ({ port }) =>
    example('nginx/site.conf', {
      '127.0.0.1:8080': host,
      '127.0.0.1:3000': origin,
      'listen 80;': `listen 127.0.0.1:${port};`,
      '  location / {': `${more}\n  location / {`,
      ...(lenient && {
        'underscores_in_headers off': 'underscores_in_headers on',
        'ignore_invalid_headers on': 'ignore_invalid_headers off',
      }),
    }),
  )
}

/** HAProxy stands before the gate, because its configuration cannot ask over HTTP. */
async function haproxy(t: Test, server: string): Promise<string> {
  const port = await freePort()
  const file = join(certificateFolder(t), 'haproxy.cfg')
  writeFileSync(file, example('haproxy/haproxy.cfg', { '127.0.0.1:8080': server, ':80\n': `127.0.0.1:${port}\n` }))
  return runServer(t, 'haproxy', ['-db', '-f', file], port)
}

const NO_CADDY = missing('caddy')
const NO_NGINX = missing('nginx')
const NO_HAPROXY = missing('haproxy')

t.test('Caddy before a CGI program of lighttpd', { skip: NO_CADDY || NO_LIGHTTPD }, async (t) => {
  const origin = new URL(await cgiOrigin(t)).host
  t.same(await reached(await caddy(t, `reverse_proxy ${origin}`), '/show.cgi'), [])
})

t.test('Caddy before PHP-FPM', { skip: NO_CADDY || NO_FPM }, async (t) => {
  const { port, folder } = await phpFpm(t)
  t.same(await reached(await caddy(t, `root * ${folder}\nphp_fastcgi 127.0.0.1:${port}`), '/show.php'), [])
})

for (const lenient of [false, true]) {
  const how = lenient ? 'nginx that passes every name on' : 'nginx'
  t.test(`${how}, before a CGI program of lighttpd`, { skip: NO_NGINX || NO_LIGHTTPD }, async (t) => {
    const origin = new URL(await cgiOrigin(t)).host
    t.same(await reached(await nginx(t, { origin, lenient }), '/show.cgi'), [])
  })

  t.test(`${how}, before PHP-FPM`, { skip: NO_NGINX || NO_FPM }, async (t) => {
    const { port, folder } = await phpFpm(t)
    const parameters =
      'fastcgi_param REQUEST_METHOD $request_method; fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param QUERY_STRING $query_string;'
    const more = example('nginx/php.conf', {
      '127.0.0.1:9000': `127.0.0.1:${port}`,
      'include fastcgi_params;': parameters,
      $document_root: folder,
    })
    t.same(await reached(await nginx(t, { more, lenient }), '/show.php'), [])
  })
}

t.test('HAProxy and the gate before a CGI program of lighttpd', { skip: NO_HAPROXY || NO_LIGHTTPD }, async (t) => {
  const upstream = await cgiOrigin(t)
  t.same(await reached(await haproxy(t, await gate(t, { upstream })), '/show.cgi'), [])
})

t.test('HAProxy, with the gate behind it, before PHP-FPM', { skip: NO_HAPROXY || NO_LIGHTTPD || NO_FPM }, async (t) => {
  const upstream = await phpOrigin(t)
  t.same(await reached(await haproxy(t, await gate(t, { upstream })), '/show.php'), [])
})

t.test('HAProxy removes every spelling, and the gate sees none', { skip: NO_HAPROXY }, async (t) => {
  const origin = await openRawOrigin('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  t.teardown(() => origin.close())
  const url = await haproxy(t, new URL(origin.url).host)
  const all = [...NAMES.flatMap((name) => spellings(name)), ...MORE]
  for (const spelling of all) await exchange(url, get('/', `${spelling}: ${FORGED}`))
  t.equal(origin.heads.length, all.length)
  t.same(
    origin.heads.filter((head) => head.includes(FORGED)),
    [],
  )
  t.match(origin.heads[0], /x-forwarded-for: 127\.0\.0\.1\r\n/i)
})
