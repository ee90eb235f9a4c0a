import t from 'tap'
import { openOrigin, proxyBefore } from './behind.ts'
import { VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus } from './wire.ts'

/** Targets that clients do send, and of which servers read one path, or a rule reads every one. */
const FORWARDED = `//index.php ///a//b?c=//d //site.example/a // /repo/./InRelease /a/%2e/b
  /keyword/%C0%B5%B5%AC%C9%BD%B8%BD /community/city/%d2%e0%eb%eb%e8%ed/ /wiki/%C1%F4%C0%BB/%e0%80%b5`.split(/\s+/)

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
    for (const [target, fault] of paths === 'pass' ? [] : AMBIGUOUS) {
      const refused = new RegExp(`^HTTP/1\\.1 400 [\\s\\S]*The path holds ${fault}\\.`)
      t.match(await exchange(url, get(target)), refused, target)
    }
    const arrived = origin.heads.map((head) => head.split(' ')[1])
    t.same(arrived, sent)
  })
}

/** Hosts and targets as origins got them. */
const asked = (heads: readonly string[]): readonly string[] =>
  heads.map((head) => {
    const find = (name: string) => RegExp(`^${name}: (\\S+)`, 'im').exec(head)?.[1]
    return `${find('host')} ${head.split(' ')[1]} ${find('x-forwarded-host')}`
  })

const head = (target: string, host: string | undefined, version = '1.1', method = 'GET') =>
  `${method} ${target} HTTP/${version}\r\n${host === undefined ? '' : `Host: ${host}\r\n`}Connection: close\r\n\r\n`

t.test('a URL of the site that Host names is the path of it', async (t) => {
  const { url, origin, sallyport } = await proxyBefore(t, OK)
  const of = async (...parts: Parameters<typeof head>) => readStatus(await exchange(url, head(...parts)))
  for (const [target, host, arrived, version] of [
    ['http://site.example/a?b=http://c/', 'site.example', 'site.example /a?b=http://c/ site.example'],
    ['HTTP://SITE.example:80/a', 'site.example', 'site.example /a site.example'],
    ['https://site.example//a', 'site.example:443', 'site.example:443 //a site.example:443'],
    ['http://site.example?x', 'site.example', 'site.example /?x site.example'],
    ['http://[::1]:8080/a', '[::1]:8080', '[::1]:8080 /a [::1]:8080'],
    ['http://site.example/a', undefined, 'site.example /a site.example', '1.0'],
    ['http://site.example/a', '', 'site.example /a site.example'],
  ] as const) {
    t.equal(await of(target, host, version), 200, target)
    t.equal(asked(origin.heads).at(-1), arrived)
  }
  t.same(sallyport.asked[0]?.target, '/a?b=http://c/', 'and is judged as that')
  t.equal(await of('http://site.example', 'site.example', '1.1', 'OPTIONS'), 204, 'which is about the server')
  t.match(await exchange(url, head('http://site.example/v1/myip', 'site.example')), '"path":"/v1/myip"')
  const blocked = get('http://site.example/', `X-Forwarded-For: ${VISITOR.blocked}`)
  t.equal(readStatus(await exchange(url, blocked)), 403)
})

t.test('a URL of another site is refused where no route names hosts', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  for (const [target, host] of [
    ['http://other.example/', 'site.example'],
    ['http://site.example:8080/', 'site.example'],
    ['https://site.example/', 'site.example:80'],
    ['http://user@site.example/', 'site.example'],
    ['http://site.example\\@other.example/', 'site.example'],
    ['http://site.example/x/../a', 'site.example'],
    ['http://site.example/', 'user@site.example'],
    ['http:/site.example/', 'site.example'],
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

t.test('where routes name hosts the target says which, whatever Host says', async (t) => {
  const [a, b] = [await openOrigin(t), await openOrigin(t)]
  const routes = [
    { host: 'a.example', upstreams: [a.url] },
    { host: 'b.example', upstreams: [b.url] },
  ]
  const { url } = await proxyBefore(t, OK, { upstream: undefined, routes })
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
