import fc from 'fast-check'
import t from 'tap'
import { compilePolicy, type Inspection, parsePathPattern, pathFault, type Rule, readPath } from '../../src/index.ts'
import { evaluate } from '../../src/policy/compile/evaluate.ts'
import { Asked } from '../../src/policy/language/asked.ts'
import { splitWords } from '../support.ts'

/** Each step of an origin makes another path of it. */
const MANIFOLD = `/${'%253b;%2f//%255c%2523..;%3f'.repeat(4)}`

t.test('one path has one form, and what else it may be taken for is known', async (t) => {
  for (const [target, expected, ...others] of [
    ['/', '/'],
    ['/admin?x=/../y#z', '/admin'],
    ['/caf%c3%a9', '/caf%C3%A9'],
    // As bytes, which Node hands on as they came.
    ['/caf\u00c3\u00a9', '/caf%C3%A9'],
    ['/a|b"c', '/a%7Cb%22c'],
    ['/%', '/%25'],
    ['/%40admin', '/@admin', '/%40admin'],
    ['/%%361', '/%2561', '/%25%361', '/a'],
    ['//admin', '/admin', '//admin', '/'],
    ['/\\admin', '/admin', '/%5Cadmin', '//admin', '/'],
    ['/admin#x', '/admin', '/admin%23x'],
    ['/%61dmin', '/admin', '/%61dmin'],
    ['/x/..%2fadmin', '/admin', '/x/..%2Fadmin', '/x/../admin'],
    ['/./admin/.', '/admin/', '/./admin/.'],
    ['/adm%C1%A9n', '/adm%C1%A9n', '/admin'],
    ['/%F0%80%81%A1dmin', '/%F0%80%81%A1dmin', '/admin'],
    ['/%FC%80%80%80%81%A1dmin', '/%FC%80%80%80%81%A1dmin', '/admin'],
    ['/a//../admin', '/admin', '/a//../admin', '/a/../admin', '/a/admin'],
    ['/admin;x', '/admin;x', '/admin'],
    ['/;/admin', '/;/admin', '//admin', '/', '/admin'],
    ['/public/..;/admin', '/public/..;/admin', '/public/../admin', '/public/..', '/admin', '/'],
    ['http://host', '/'],
    ['HTTPS://host:8443//admin', '/admin', '//admin', '/'],
    ['*', '/'],
    ['', '/'],
  ] as const) {
    const { path, readings = [path] } = readPath(target)
    t.equal(path, expected, target)
    t.same(readings.filter((reading) => reading !== path).sort(), others.sort(), target)
  }
})

t.test('a canonical path is canonical again', async () => {
  const piece = fc.constantFrom(...splitWords('/ . .. %2e %2F %5c \\ a B %41 %ff %40 \u00e9 | % 4 ? # // http://h'))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const { path } = readPath(`/${pieces.join('')}`)
      return readPath(path).path === path
    }),
  )
})

t.test('a fault of a target is named, however it is spelt', async (t) => {
  const faults: Readonly<Record<string, string>> = {
    'a dot segment': '/a/../b /.%2e/a /a/.%252E/b /a/..%2fb /a/..;x=1/b /a/..%3fx',
    'a backslash': '/a\\b /a%5cb /a%255Cb',
    'a NUL': '/a%00 /a%2500',
    'a percent sign that starts no escape': '/a%zz /%u002e',
    'overlong UTF-8': `/a/%c0%ae%c0%ae/b /a%c1%9Cb /a%E0%81%9Cb /a%F0%80%80%AEb /a/%f8%80%80%80%ae%f8%80%80%80%ae/b
      /a%25fc%2580%2580%2580%2580%25a5 /a%25c0%25afb`,
    'too many escapes': MANIFOLD,
  }
  for (const [fault, targets] of Object.entries(faults))
    for (const target of splitWords(targets)) t.equal(pathFault(target), fault, target)
  // The second line holds bytes of EUC-JP, GBK, windows-1251 and ISO 8859-1, which begin like overlong UTF-8.
  const sound = splitWords(`
    /a%2Fb;c=d/%E2%82%AC/%25?d=../e /.hidden/..x /repo/./InRelease /%2e/a /a/.;x/b
    /keyword/%C0%B5%B5%AC%C9%BD /%C1%E0%E7%E0/%E0%80%B0 /caf%E9/%C0%C1 /%F8%E0%F8%EB%FB%EA/%FC%80
  `)
  for (const target of sound) t.equal(pathFault(target), undefined, target)
  t.same(readPath(MANIFOLD).readings, [], 'it has more readings than anybody needs')
})

t.test('patterns match whole segments', async (t) => {
  for (const [pattern, matching, others] of [
    ['/login', '/login /login/ /LOGIN', '/loginx'],
    ['/admin/**', '/admin /Admin/users/1', '/administrator'],
    ['/**', '/anything/at/all', ''],
    ['/files/*.pdf', '/files/a.pdf', '/files/a/b.pdf'],
    ['/*/edit', '', '/post/1/edit'],
    ['/a*b*c', '/aXbYc', '/aXc'],
    ['/ab*ba', '', '/aba'],
    ['/kiosk', '/%E2%84%AAiosk', ''],
    ['/caf%C3%A9/**', '/CAF%C3%89/x', ''],
    ['/*', '/%FF', ''],
  ] as const) {
    const matches = (path: string) => path !== '' && parsePathPattern(pattern)(path, false)
    for (const path of splitWords(matching)) t.equal(matches(path), path !== '', `${pattern} of ${path}`)
    for (const path of splitWords(others)) t.equal(matches(path), false, `${pattern} of ${path}`)
  }
})

t.test('an exact match asks for the same case and trailing slash', async (t) => {
  const login = parsePathPattern('/login')
  t.equal(login('/login', true), true)
  t.equal(login('/Login', true), false)
  t.equal(login('/login/', true), false)
  t.equal(parsePathPattern('/admin/**')('/admin/', true), true)
  t.equal(parsePathPattern(`/${'a*'.repeat(200)}b`)(`/${'a'.repeat(8_000)}`, false), false, 'it stays linear')
})

t.test('a long target has few readings, or any', async (t) => {
  const short = `/a%2f;b${'/x'.repeat(400)}`
  t.ok((readPath(short).readings ?? []).length > 4)
  for (const part of ['/a/../b;c%2f%5c//x', '/', '/a;b/%2f%3b..', '%2f']) {
    const target = `/a%2f..;b%5c//c${part.repeat(8_000 / part.length)}`
    t.same(readPath(target).readings, [], part)
    t.equal(pathFault(target), 'too many escapes')
  }
  const wide = readPath(`/${'\u20ac'.repeat(60_000)}`)
  t.equal(wide.path.length, 1 + 60_000 * '%E2%82%AC'.length, 'text that a caller wrote')
})

t.test('a thousand rules with a star cost a long path little', async (t) => {
  const makeRule = (at: number): Rule => ({ id: `r${at}`, match: { path: [`/a/*/x${at}/**`] }, action: 'block' })
  const rules = Array.from({ length: 1000 }, (_, at) => makeRule(at))
  const policy = compilePolicy({ preset: 'observe', rules })
  const targets = [`/a${'/b'.repeat(3_500)}`, `/%61;a${'/b'.repeat(3_400)}`]
  const before = process.cpuUsage()
  for (const target of targets) {
    const request = { method: 'GET', ...readPath(target) }
    const inspection = { request, degraded: [] } as unknown as Inspection
    t.equal(evaluate(policy, inspection, new Asked({})).decided.id, 'default')
  }
  const { user, system } = process.cpuUsage(before)
  t.ok(user + system < 250_000, 'of 750 ms when each rule split the path')
})
