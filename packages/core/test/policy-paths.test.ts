import fc from 'fast-check'
import t from 'tap'
import { canonicalPath } from '../src/policy/path.ts'
import { parsePathPattern } from '../src/policy/path-pattern.ts'

t.test('one path has one form, and the others are known not to be it', async (t) => {
  const rows: readonly (readonly [target: string, path: string, canonical: boolean])[] = [
    ['/', '/', true],
    ['/admin', '/admin', true],
    ['/admin/', '/admin/', true],
    ['/admin?x=/../y#z', '/admin', true],
    ['/a.b/c-d_e~f', '/a.b/c-d_e~f', true],
    ['/.well-known/x', '/.well-known/x', true],
    ['/caf%C3%A9', '/caf%C3%A9', true],
    ['/a+b:c@d!', '/a+b:c@d!', true],
    ['/caf%c3%a9', '/caf%C3%A9', false],
    // As bytes, which Node hands on as they came.
    ['/caf\u00c3\u00a9', '/caf%C3%A9', false],
    ['/caf\u00c3\u00a9/\u20ac', '/caf%C3%A9/%E2%82%AC', false],
    ['/%40admin', '/@admin', false],
    ['/a%21%2B%3a', '/a!+:', false],
    ['/a|b"c', '/a%7Cb%22c', false],
    ['/a%7cb', '/a%7Cb', false],
    ['/%', '/%25', false],
    ['/%%361', '/%2561', false],
    ['/%2561', '/%2561', true],
    ['//admin', '/admin', false],
    ['/\\admin', '/admin', false],
    ['\\admin', '/admin', false],
    ['/admin#x', '/admin', false],
    ['/%61dmin', '/admin', false],
    ['/x/../admin', '/admin', false],
    ['/x/%2e%2E/admin', '/admin', false],
    ['/x/..%2fadmin', '/admin', false],
    ['/x/..%5Cadmin', '/admin', false],
    ['/./admin/.', '/admin/', false],
    ['/../../admin', '/admin', false],
    ['/..', '/', false],
    ['http://host/admin', '/admin', false],
    ['http://host', '/', false],
    ['HTTPS://host:8443//admin', '/admin', false],
    ['*', '/', false],
    ['', '/', false],
    ['host:443', '/', false],
  ]
  const found = rows.map(([target]) => {
    const { path, canonical } = canonicalPath(target)
    return [target, path, canonical]
  })
  t.same(found, rows)
})

t.test('a canonical path is canonical again', async () => {
  const piece = fc.constantFrom(
    '/',
    '.',
    '..',
    '%2e',
    '%2F',
    '%5c',
    '\\',
    'a',
    'B',
    '%41',
    '%ff',
    '%40',
    '\u00e9',
    '|',
    '%',
    '4',
    '?',
    '#',
    '//',
    'http://h',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const { path } = canonicalPath(`/${pieces.join('')}`)
      const again = canonicalPath(path)
      return again.path === path && again.canonical
    }),
  )
})

t.test('patterns match whole segments', async (t) => {
  const rows: readonly (readonly [pattern: string, path: string, matches: boolean])[] = [
    ['/login', '/login', true],
    ['/login', '/login/', true],
    ['/login', '/LOGIN', true],
    ['/login', '/login/x', false],
    ['/login', '/loginx', false],
    ['/admin/**', '/admin', true],
    ['/admin/**', '/Admin/users/1', true],
    ['/admin/**', '/administrator', false],
    ['/**', '/', true],
    ['/**', '/anything/at/all', true],
    ['/files/*.pdf', '/files/a.pdf', true],
    ['/files/*.pdf', '/files/a/b.pdf', false],
    ['/files/*.pdf', '/files/.pdf', true],
    ['/*/edit', '/post/edit', true],
    ['/*/edit', '/post/1/edit', false],
    ['/a*b*c', '/aXbYc', true],
    ['/a*b*c', '/aXc', false],
    ['/ab*ba', '/aba', false],
  ]
  t.same(
    rows.map(([pattern, path]) => [pattern, path, parsePathPattern(pattern)(path, false)]),
    rows,
  )
})

t.test('an exact match asks for the same case and trailing slash', async (t) => {
  const login = parsePathPattern('/login')
  t.equal(login('/login', true), true)
  t.equal(login('/Login', true), false)
  t.equal(login('/login/', true), false)
  t.equal(parsePathPattern('/admin/**')('/admin/', true), true)
})

t.test('many wildcards against a long path stay linear', async (t) => {
  t.equal(parsePathPattern(`/${'a*'.repeat(200)}b`)(`/${'a'.repeat(8_000)}`, false), false)
})
