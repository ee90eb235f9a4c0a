import t from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_OPENSSL } from './certificate.ts'
import { ask, openHttp2 } from './http2-client.ts'
import { VISITOR } from './sallyport.ts'
import { askedOver, secured, withTls } from './tls-client.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

const lines = (...head: readonly string[]): string => [...head, 'Connection: close', '', ''].join('\r\n')
const options = (...fields: readonly string[]): string => lines('OPTIONS /a HTTP/1.1', 'Host: site.example', ...fields)

t.test('OPTIONS goes as far as Max-Forwards has it', async (t) => {
  const { url, origin } = await proxyBefore(t, OK, { methods: ['PROPFIND'] })
  for (const left of ['0', '00']) {
    const answer = await exchange(url, options(`Max-Forwards: ${left}`))
    t.equal(readStatus(answer), 204)
    t.match(answer, /^allow: GET, HEAD, .*OPTIONS, .*PROPFIND\r$/im)
  }
  t.same(origin.heads, [], 'the last recipient is here')
  const blocked = options('Max-Forwards: 0', `X-Forwarded-For: ${VISITOR.blocked}`)
  t.equal(readStatus(await exchange(url, blocked)), 403, 'and is decided about as ever')
  const forwarded = async (bytes: string): Promise<string | undefined> => {
    t.equal(readStatus(await exchange(url, bytes)), 200)
    return /^max-forwards: (.*)\r$/im.exec(origin.heads.at(-1) ?? '')?.[1]
  }
  t.equal(await forwarded(options('Max-Forwards: 10')), '9')
  t.equal(await forwarded(options('max-forwards: 1')), '0')
  for (const none of ['x', '-1', '1.5', '']) t.equal(await forwarded(options(`Max-Forwards: ${none}`)), none)
  t.equal(await forwarded(get('/', 'Max-Forwards: 0')), '0', 'it is about OPTIONS and TRACE alone')
  t.equal(await forwarded(options('X-A: max-forwards', 'Max-Forwards: 9999999999999999')), '9999999999999999')
  t.match(origin.heads.at(-1), /^x-a: max-forwards\r$/im, 'no other field is touched')
  t.equal(await forwarded(options()), undefined)
})

t.test('a URL of https over a connection that is not is refused', { skip: NO_OPENSSL }, async (t) => {
  const { url, origin } = await proxyBefore(t, OK, { trust: [] })
  for (const target of ['https://site.example/a', 'HTTPS://site.example:443', 'https://site.example/v1/myip']) {
    const answer = await exchange(url, get(target))
    t.match(answer, /^HTTP\/1\.1 400 [\s\S]*The target is https, and the connection is not\./, target)
  }
  t.equal(readStatus(await exchange(url, get('https://site.example/a', 'X-Forwarded-Proto: https'))), 400, 'no proxy')
  t.same(origin.heads, [])
  t.equal(readStatus(await exchange(url, get('http://site.example/a'))), 200)

  const behind = await proxyBefore(t, OK)
  const said = async (...fields: readonly string[]) =>
    readStatus(await exchange(behind.url, get('https://site.example/a', ...fields)))
  t.equal(await said('X-Forwarded-Proto: https'), 200, 'of a trusted proxy')
  t.equal(await said('X-Forwarded-Proto: HTTP'), 400)
  t.equal(await said(), 200, 'which is believed where it says nothing')

  const over = await withTls(t)
  for (const target of ['https://site.example/a', 'http://site.example/a'])
    t.equal(readStatus(await askedOver(await secured(over.url), get(target))), 200, target)
})

t.test('an empty port is that of the scheme, and an empty Expect expects nothing', async (t) => {
  const { url, origin, proxy } = await proxyBefore(t, OK)
  const of = async (target: string, host: string, ...more: readonly string[]) =>
    readStatus(await exchange(url, lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, ...more)))
  t.equal(await of('/a', '[2001:db8::1]:'), 200)
  t.equal(await of('http://site.example:/a', 'site.example'), 200)
  t.equal(await of('http://site.example/a', 'site.example:'), 200)
  t.equal(await of('http://site.example:/a', 'site.example:80'), 200)
  t.equal(await of('http://site.example:/a', 'site.example:8080'), 400)
  for (const host of [':', ':80', 'site.example::', 'site.example:x']) t.equal(await of('/a', host), 400, host)
  t.equal(await of('/a', 'site.example', 'Expect:'), 200)
  t.equal(await of('/a', 'site.example', 'Expect: x'), 417)
  const routed = await proxyBefore(t, OK)
  const routes = [{ host: 'site.example', upstreams: [routed.origin.url] }]
  await proxy.reload({ upstream: origin.url, routes, limits: { eventLoopDelay: '1m' } })
  t.equal(await of('/a', 'site.example:'), 200)
  t.equal(routed.origin.heads.length, 1, 'it is the site of a route too')
})

t.test('Host and :authority are one site, however each is written', { skip: NO_OPENSSL }, async (t) => {
  const { session, origin } = await openHttp2(t)
  const of = async (authority: string, host: string) =>
    (await ask(session, { ':path': '/a', ':authority': authority, host })).status
  for (const host of ['site.example', 'SITE.example:443', 'site.example.', 'site.example:', 'site.example.:443'])
    t.equal(await of('site.example', host), 200, host)
  t.equal(await of('site.example:443', 'site.example'), 200)
  t.match(origin.heads[1], /^host: site\.example\r$/im, 'which the origin gets as :authority has it')
  for (const host of ['site.example:80', 'site.example:8443', 'other.example', 'site.example..'])
    t.equal(await of('site.example', host), 400, host)
})
