import fc from 'fast-check'
import t from 'tap'
import { createTokenMatcher, MAX_CHARACTERS } from '../src/crawler/token-matcher.ts'

const TOKENS = ['Googlebot', 'Googlebot-Image', 'compatible; bot', 'x.org_bot', 'Pinterest/0.', 'Y!J-', 'bot'] as const
const matcher = createTokenMatcher(TOKENS)

/** The matches to find, by the plainest way there is: every token at every place. */
function plainly(text: string, tokens: readonly string[]): string | undefined {
  const lower = text.slice(0, MAX_CHARACTERS).toLowerCase()
  const word = (at: number) => /[a-z0-9\u0080-\uffff]/i.test(text.charAt(at))
  for (let start = 0; start < lower.length; start++) {
    if (start > 0 && word(start - 1)) continue
    const here = tokens
      .filter((token) => lower.startsWith(token.toLowerCase(), start))
      .filter((token) => !(/[a-z0-9]$/i.test(token) && word(start + token.length)))
    if (here.length > 0) return here.reduce((longest, token) => (token.length > longest.length ? token : longest))
  }
  return undefined
}

function found(text: string): string | undefined {
  const match = matcher.find(text)
  return match === undefined ? undefined : TOKENS[match.token]
}

t.test('it agrees with trying every token at every place', async () => {
  const between = ['google', 'Googlebot-', ' ', '; ', '/', '-', '_', 'é', 'x', '7', 'compatible;', '.']
  const part = fc.constantFrom(...TOKENS, ...between)
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      return found(text) === plainly(text, TOKENS)
    }),
    { numRuns: 2000 },
  )
})

t.test('a search goes on within the same words, up to 1,024 characters, and odd tokens are refused', async (t) => {
  const text = 'Googlebot bot'
  t.strictSame(matcher.find(text), { token: 0, start: 0, end: 9 })
  t.strictSame(matcher.find(text, 9), { token: 6, start: 10, end: 13 })
  t.equal(matcher.find(text, 11), undefined, 'not from inside a word')
  t.ok(matcher.find(`${' '.repeat(MAX_CHARACTERS - 3)}bot`))
  t.notOk(matcher.find(`${' '.repeat(MAX_CHARACTERS - 2)}bot`), 'a token that is cut is none')
  t.notOk(matcher.find(`${' '.repeat(20_000)}bot`))
  for (const tokens of [[' bot'], ['-bot'], ['bot', 'BOT'], ['bót'], ['']])
    t.throws(() => createTokenMatcher(tokens), TypeError, tokens.join())
})
