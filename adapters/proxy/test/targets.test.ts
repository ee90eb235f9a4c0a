import t, { type Test } from 'tap'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, get, OK, openRawOrigin, readStatus } from './wire.ts'

/** Targets that clients do send, and of which servers read one path, or a rule reads every one. */
const FORWARDED = [
  '//index.php',
  '///a//b?c=//d',
  '//site.example/a',
  '//',
  '/repo/./InRelease',
  '/./',
  '/a/%2e/b',
  '/keyword/%C0%B5%B5%AC%C9%BD%B8%BD',
  '/community/city/%d2%e0%eb%eb%e8%ed/',
  '/wiki/%C1%F4%C0%BB/%e0%80%b5',
]

/** Targets that servers read in several ways. */
const AMBIGUOUS = [
  ['/100%', 'a percent sign that starts no escape'],
  ['/100%/%zz', 'a percent sign that starts no escape'],
  ['/a/%C0%AE%C0%AE/b', 'overlong UTF-8'],
  ['/a%c1%9cb', 'overlong UTF-8'],
  ['/a/.%2e/b', 'a dot segment'],
  ['/a%5cb', 'a backslash'],
] as const

for (const paths of ['strict', 'pass'] as const) {
  t.test(`targets are forwarded as they came, paths: ${paths}`, async (t) => {
    const { url, origin } = await proxyBefore(t, OK, { paths })
    const sent = [...FORWARDED, ...(paths === 'pass' ? AMBIGUOUS.map(([target]) => target) : [])]
    for (const target of sent) t.equal(readStatus(await exchange(url, get(target))), 200, target)
    t.same(
      origin.heads.map((head) => head.split(' ')[1]),
      sent,
    )
  })
}

t.test('what servers read in several ways is refused, with its name', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  for (const [target, fault] of AMBIGUOUS) {
    t.match(await exchange(url, get(target)), new RegExp(`^HTTP/1\\.1 400 [\\s\\S]*The path holds ${fault}\\.`), target)
  }
  t.same(origin.received, [])
})

/** Hosts and targets as origins got them. */
const asked = (heads: readonly string[]): readonly string[] =>
  heads.map(
    (head) =>
      `${/^host: (\S+)/im.exec(head)?.[1]} ${head.split(' ')[1]} ${/^x-forwarded-host: (\S+)/im.exec(head)?.[1]}`,
  )

const head = (target: string, host: string | undefined, version = '1.1', method = 'GET') =>
  `${method} ${target} HTTP/${version}\r\n${host === undefined ? '' : `Host: ${host}\r\n`}Connection: close\r\n\r\n`

t.test('a URL of the site that Host names is the path of it', async (t) => {
  const sallyport = fakeSallyport()
  const { url, origin } = await proxyBefore(t, OK, { sallyport })
  const of = async (...parts: Parameters<typeof head>) => readStatus(await exchange(url, head(...parts)))
  t.equal(await of('http://site.example/a?b=http://c/', 'site.example'), 200)
  t.equal(await of('HTTP://SITE.example:80/a', 'site.example'), 200)
  t.equal(await of('https://site.example//a', 'site.example:443'), 200)
  t.equal(await of('http://site.example', 'site.example'), 200)
  t.equal(await of('http://site.example?x', 'site.example'), 200)
  t.equal(await of('http://[::1]:8080/a', '[::1]:8080'), 200)
  t.equal(await of('http://site.example/a', undefined, '1.0'), 200)
  t.equal(await of('http://site.example/a', ''), 200)
  t.same(asked(origin.heads), [
    'site.example /a?b=http://c/ site.example',
    'site.example /a site.example',
    'site.example:443 //a site.example:443',
    'site.example / site.example',
    'site.example /?x site.example',
    '[::1]:8080 /a [::1]:8080',
    'site.example /a site.example',
    'site.example /a site.example',
  ])
  t.same(sallyport.asked[0]?.target, '/a?b=http://c/', 'and is judged as that')
  t.equal(await of('http://site.example', 'site.example', '1.1', 'OPTIONS'), 204, 'which is about the server')
  t.match(await exchange(url, head('http://site.example/v1/myip', 'site.example')), '"path":"/v1/myip"')
  const blocked = head('http://site.example/', 'site.example').replace(
    '\r\n\r\n',
    `\r\nX-Forwarded-For: ${VISITOR.blocked}\r\n\r\n`,
  )
  t.equal(readStatus(await exchange(url, blocked)), 403)
})

t.test('a URL of another site is refused where no route names hosts', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  for (const [target, host] of [
    ['http://other.example/', 'site.example'],
    ['http://site.example:8080/', 'site.example'],
    ['https://site.example/', 'site.example:80'],
    ['http://other.example/v1/myip', 'site.example'],
    ['http://user@site.example/', 'site.example'],
    ['http://site.example\\@other.example/', 'site.example'],
    ['http:///a', 'site.example'],
    ['http://site.example/', 'user@site.example'],
    ['http://site.example/', 'a, b'],
    ['ftp://site.example/', 'site.example'],
    ['http:/site.example/', 'site.example'],
    ['http://site.example/x/../a', 'site.example'],
    ['http://site.example#/a', 'site.example'],
    ['http://site.example/', 'site.example\r\nHost: site.example'],
    ['http://other.example/', 'site.example\r\nHost: other.example'],
  ] as const) {
    const answer = await exchange(url, head(target, host))
    t.match(answer, /^HTTP\/1\.1 400 [\s\S]*"error":"invalid_request"/, `${target} ${host}`)
  }
  t.equal(readStatus(await exchange(url, head('http://site.example/', undefined))), 400, 'HTTP/1.1 must have a Host')
  t.same(origin.received, [])
})

/** A proxy of two sites, `a.example` and `b.example`, each with an origin that is returned. */
async function twoSites(t: Test, options: ProxyOptions = {}) {
  const origins = [await openRawOrigin(OK), await openRawOrigin(OK)] as const
  const routes = origins.map(({ url }, at) => ({ host: `${'ab'[at]}.example`, upstreams: [url] }))
  const proxy = await openProxy(fakeSallyport(), {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    routes,
    ...options,
    limits: { eventLoopDelay: '1m' },
    timeouts: { drain: 500 },
  })
  t.teardown(async () => {
    await proxy.close('cut')
    await Promise.all(origins.map((origin) => origin.close()))
  })
  return { url: proxy.url, origins }
}

t.test('where routes name hosts the target says which, whatever Host says', async (t) => {
  const { url, origins } = await twoSites(t)
  const [a, b] = origins
  const of = async (...parts: Parameters<typeof head>) => readStatus(await exchange(url, head(...parts)))
  t.equal(await of('http://a.example/x', 'b.example'), 200)
  t.equal(await of('http://B.example:8080/y', 'a.example'), 200)
  t.equal(await of('http://a.example/z', 'nobody.example'), 200)
  t.same(asked(a.heads), ['a.example /x a.example', 'a.example /z a.example'])
  t.same(asked(b.heads), ['B.example:8080 /y B.example:8080'])
  for (const target of ['http://other.example/', 'http://other.example/v1/myip', 'http://a.example.evil/']) {
    for (const host of ['a.example', 'other.example']) {
      t.match(await exchange(url, head(target, host)), /^HTTP\/1\.1 421 [\s\S]*"misdirected_request"/, target)
    }
  }
  t.equal(await of('http://a.example/', 'user@b.example'), 400, 'a Host that is none is refused as ever')
})
