import fc from 'fast-check'
import t from 'tap'
import { compileExpression } from '../../src/policy/language/expression.ts'
import { compileGlob, splitGlob } from '../../src/policy/language/glob.ts'
import { compilePatterns, listNeedles } from '../../src/policy/language/text-pattern.ts'
import { splitWords } from '../support.ts'

t.test('a glob matches as the regular expression of its parts does', async (t) => {
  const letters = fc.array(fc.constantFrom('a', 'b', '*', '\\*', '\\\\'), { maxLength: 6 })
  const text = fc.array(fc.constantFrom('a', 'b', '*', '\\'), { maxLength: 9 })
  fc.assert(
    fc.property(letters, text, (glob, written) => {
      const meant = glob.map((part) => (part === '*' ? '.*' : `[${part.startsWith('\\') ? `\\${part.at(-1)}` : part}]`))
      const expected = new RegExp(`^${meant.join('')}$`, 's').test(written.join(''))
      return compileGlob(glob.join(''))(written.join('')) === expected
    }),
    { numRuns: 5_000 },
  )
  t.same(splitGlob('*a*bcd\\**'), ['', 'a', 'bcd*', ''])
})

t.test('a text that matches has the letters that are searched first', async (t) => {
  const letters = fc.array(fc.constantFrom('a', 'B', 'c', 'd', '*', '\\*'), { maxLength: 12 })
  const text = fc.array(fc.constantFrom('A', 'b', 'c', 'D', '*'), { maxLength: 16 })
  fc.assert(
    fc.property(letters, text, (glob, written) => {
      const pattern = glob.join('')
      if (pattern === '' || !compilePatterns([pattern])(written.join(''))) return true
      return listNeedles([pattern])?.some((needle) => written.join('').toLowerCase().includes(needle)) ?? true
    }),
    { numRuns: 5_000 },
  )
  t.same(listNeedles(['*ab*Cde*', 'x']), ['cde', 'x'])
  t.equal(listNeedles(['ab', '/c/']), undefined)
  t.equal(listNeedles(['ab', '*']), undefined)
})

/** Those that V8 alone would take seconds for, each with a text that makes it. */
const SLOW: readonly (readonly [source: string, text: string])[] = [
  ['(a+)+$', `${'a'.repeat(8_191)}!`],
  ['(a|aa)+$', `${'a'.repeat(8_191)}!`],
  ['a*a*a*a*a*!', 'a'.repeat(8_192)],
  ['.*.*.*=x', 'x='.repeat(4_096)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(8_192)],
  ['(?:x+x+)+y', 'x'.repeat(8_192)],
  ['a.*b', 'a'.repeat(8_192)],
  ['\\d+\\.\\d+$', '1'.repeat(8_192)],
  ['(?:a{1,30}){1,30}b', 'a'.repeat(8_192)],
  [`${'(a|a)'.repeat(20)}b`, 'a'.repeat(8_192)],
  ['a?a?a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaa$', 'a'.repeat(8_192)],
  ['^(.*?,){11}P', '1,'.repeat(4_096)],
]

t.test('no text makes an expression slow', async (t) => {
  for (const [source, text] of SLOW) {
    const compiled = compileExpression(source, '')
    if ('fault' in compiled) {
      t.fail(`${source}: ${compiled.fault}`)
      continue
    }
    for (let round = 0; round < 20; round++) compiled.test(text)
    const before = process.cpuUsage()
    for (let round = 0; round < 100; round++) compiled.test(text)
    const { user } = process.cpuUsage(before)
    // V8 alone takes seconds for one; ten times what the documents promise is no matter of the machine.
    t.ok(user / 100 < 2_000, `${source}: ${user / 100} µs`)
  }
})

t.test('expressions mean the same in both engines', async (t) => {
  const sources = splitWords('^(curl|wget) [0-9]{2,3}x a.c ^a*b (?:x+x+)+y \\bbot\\b \\/v[12]\\/ é \\d+\\.\\d+$')
  const texts = ['curl/8', 'Wget', 'a12x', 'abc', 'aaab', 'xxxy', 'a bot b', 'abbot', '/v2/', 'café', '1.25', '', 'x']
  for (const source of sources) {
    for (const flags of ['', 'i']) {
      const compiled = compileExpression(source, flags)
      for (const text of texts)
        t.equal('test' in compiled && compiled.test(text), new RegExp(source, flags).test(text), `${source} of ${text}`)
    }
  }
})
