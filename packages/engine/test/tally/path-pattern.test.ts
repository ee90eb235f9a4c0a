import t from 'tap'
import { isPagePath, pathPattern } from '../../src/tally/path-pattern.ts'

t.test('what stands for a record or a person is folded, words are not', async (t) => {
  const patterns = {
    '/': '/',
    '/orders/1734/items': '/orders/*/items',
    '/users/0197a5c4-8f3e-7c1a-9d2b-5b1f6a7c8d9e': '/users/*',
    '/reset/eyJhbGciOiJIUzI1NiJ9.abc123def456': '/reset/*',
    '/commit/5d7e38ee': '/commit/*',
    '/assets/app.3f9a2c1b.js': '/assets/app.3f9a2c1b.js',
    '/img/20261126.jpg': '/img/*.jpg',
    '/blog/how-to-cook-an-egg': '/blog/how-to-cook-an-egg',
    '/facade/decade': '/facade/decade',
    '/a/b/c/d/e/f/g': '/a/b/c/d/e/**',
    [`/${'x'.repeat(100)}`]: '/*',
    '//double/': '//double/',
  }
  for (const [path, pattern] of Object.entries(patterns)) t.equal(pathPattern(path), pattern, path)
})

t.test('a page is no part of one', async (t) => {
  for (const path of ['/', '/about', '/about.html', '/feed.xml', '/llms.txt', '/v1.2']) t.ok(isPagePath(path), path)
  for (const path of ['/app.js', '/style.css', '/logo.SVG', '/font.woff2']) t.notOk(isPagePath(path), path)
})
