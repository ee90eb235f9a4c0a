import fc from 'fast-check'
import t from 'tap'
import { createTokenMatcher, MAX_CHARACTERS } from '../src/crawler/token-matcher.ts'

const TOKENS = [
  'Googlebot',
  'Googlebot-Image',
  'compatible; bot',
  'archive.org_bot',
  'Pinterest/0.',
  'Y!J-',
  'bot',
] as const
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

t.test('tokens are found on word boundaries, in any case, the first and of those the longest', async (t) => {
  for (const [text, token] of [
    ['Googlebot', 'Googlebot'],
    ['GOOGLEBOT/2.1', 'Googlebot'],
    ['Mozilla/5.0 (compatible; googlebot/2.1; +http://x)', 'Googlebot'],
    ['Googlebot-Image/1.0', 'Googlebot-Image'],
    ['Googlebot-Images', 'Googlebot'],
    ['(compatible; bot)', 'compatible; bot'],
    ['compatible; bots', undefined],
    ['archive.org_bot_x', 'archive.org_bot'],
    ['Pinterest/0.2', 'Pinterest/0.'],
    ['Y!J-ASR/0.1', 'Y!J-'],
    ['my-bot', 'bot'],
    ['robot Googlebot', 'Googlebot'],
    ['MyGooglebot', undefined],
    ['Googlebot2', undefined],
    ['éGooglebot', undefined],
    ['Googlebotí', undefined],
    ['jackpot', undefined],
    ['', undefined],
  ] as const) {
    t.equal(found(text), token, text)
  }
})

t.test('it agrees with trying every token at every place', async (t) => {
  const part = fc.constantFrom(
    ...TOKENS,
    'google',
    'Googlebot-',
    ' ',
    '; ',
    '/',
    '-',
    '_',
    'é',
    'x',
    '7',
    'compatible;',
    '.',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const text = parts.join('')
      return found(text) === plainly(text, TOKENS)
    }),
    { numRuns: 2000 },
  )
  t.pass('no counterexample')
})

t.test('a search goes on from the given position, within the same words', async (t) => {
  const text = 'Googlebot bot'
  t.strictSame(matcher.find(text), { token: 0, start: 0, end: 9 })
  t.strictSame(matcher.find(text, 9), { token: 6, start: 10, end: 13 })
  t.equal(matcher.find(text, 11), undefined, 'not from inside a word')
})

t.test('only the first 1,024 characters are looked at', async (t) => {
  t.ok(matcher.find(`${' '.repeat(MAX_CHARACTERS - 3)}bot`))
  t.notOk(matcher.find(`${' '.repeat(MAX_CHARACTERS - 2)}bot`), 'a token that is cut is none')
  t.notOk(matcher.find(`${' '.repeat(20_000)}bot`))
})

t.test('tokens that cannot be matched are refused', async (t) => {
  for (const tokens of [[' bot'], ['-bot'], ['bot', 'BOT'], ['bót'], ['']]) {
    t.throws(() => createTokenMatcher(tokens), TypeError, tokens.join())
  }
})
