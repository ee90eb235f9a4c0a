import { createHash } from 'node:crypto'
import t from 'tap'
import { isPagePath, pathPattern } from '../../src/tally/path-pattern.ts'
import { estimateCount, mergeInto, noteIn, packPlace, REGISTERS } from '../../src/tally/sketch.ts'

t.test('records and persons are folded in a path, words are not, and parts of a page are no pages', async (t) => {
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
  for (const path of ['/', '/about', '/about.html', '/feed.xml', '/llms.txt', '/v1.2']) t.ok(isPagePath(path), path)
  for (const path of ['/app.js', '/style.css', '/logo.SVG', '/font.woff2']) t.notOk(isPagePath(path), path)
})

function placeFor(client: number): number {
  const hash = createHash('sha256').update(`client ${client}`).digest()
  return packPlace(hash.readUInt32BE(0), hash.readUInt32BE(4))
}

function makeSketch(from: number, until: number): Uint8Array {
  const registers = new Uint8Array(REGISTERS)
  for (let client = from; client < until; client++) noteIn(registers, placeFor(client))
  return registers
}

t.test('clients are counted within four standard errors, and a client that comes again is the same one', async (t) => {
  t.equal(estimateCount(new Uint8Array(REGISTERS)), 0)
  for (const clients of [1, 2, 3, 10, 30])
    t.ok(Math.abs(estimateCount(makeSketch(0, clients)) - clients) <= 1, `${clients}`)
  for (const clients of [100, 1_000, 5_000, 20_000, 200_000]) {
    const count = estimateCount(makeSketch(0, clients))
    t.ok(Math.abs(count - clients) < clients * 4 * 0.023, `${clients}: ${count}`)
  }
  const one = makeSketch(0, 2_000)
  t.notOk(noteIn(one, placeFor(7)), 'nothing changes')
  const both = makeSketch(1_000, 3_000)
  mergeInto(both, one)
  t.same(both, makeSketch(0, 3_000), 'two sketches are that of all')
})
