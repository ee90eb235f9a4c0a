import fc from 'fast-check'
import t from 'tap'
import { KeptRobots } from '../src/robots/kept-robots.ts'
import { MAX_ROBOTS_BYTES, parseRobots, robotsText } from '../src/robots/robots-file.ts'

const CHROME = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

t.test('robots.txt is read for the name that a user agent has', async (t) => {
  const { refuses } = parseRobots(
    [
      'User-agent: GPTBot\nUser-agent: Ai2Bot-Dolma\nUser-agent: Mail.Ru/2\nDisallow: /\nAllow: /open/\n',
      'User-agent: Mozilla\nDisallow: /\n',
      'User-agent: *\nDisallow: /private/\n',
    ].join('\n'),
  )
  for (const [userAgent, target, refused] of [
    ['Mozilla/5.0 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)', '/x', true],
    ['GPTBot/1.2', '/open/x?y=1', false],
    ['Ai2Bot-Dolma', '/', true],
    ['GPTBotany/1', '/', false],
    ['curl/8.1', '/private/x', true],
    ['', '/private/x', true],
    ['Mozilla/5.0 (compatible; OtherBot/1.0)', '/private/', true],
    [CHROME, '/private/x', false],
    ['GPTBot/1.2', '*', false],
    ['GPTBot/1.2', 'http://site.example/x', true],
    ['GPTBot/1.2', 'http://site.example/open/x', false],
    ['GPTBot/1.2', '/robots.txt', false],
  ] as const)
    t.equal(refuses(userAgent, target), refused, `${userAgent} ${target}`)
})

/** Rules of `*`, what is asked for, and whether it is refused. */
const PATHS: readonly (readonly [rules: string, target: string, refused: boolean])[] = [
  ['Disallow: /fish/', '/fish', false],
  ['Disallow:', '/x', false],
  ['Disallow: x', '/x', false],
  ['Disallow: /foo/bar/ツ', '/foo/bar/%E3%83%84', true],
  ['Disallow: /foo/bar/%E3%83%84', '/foo/bar/\xe3\x83\x84', true],
  ['Disallow: /foo/bar/baz', '/foo/bar/%62az', true],
  ['Disallow: /a%2Fb', '/a/b', false],
  ['Disallow: /\ud800', '/%EF%BF%BD', true],
  ['DISALLOW : /x # not this', '/x', true],
  ['Noindex: /x\nCrawl-delay: 1', '/x', false],
]

t.test('the longest rule counts, and escapes are one spelling', async (t) => {
  for (const [rules, target, refused] of PATHS)
    t.equal(parseRobots(`User-agent: *\n${rules}`).refuses('a', target), refused, `${rules} of ${target}`)
})

t.test('groups of one name are one, and other lines end none', async (t) => {
  const text =
    '\ufeffuser-agent: a\r\nSitemap: /s\r\n\r\nUser-Agent: b\rDisallow: /one\n<html>\nUser-agent: a\nDisallow: /two'
  const { refuses, size } = parseRobots(text)
  t.equal(size, 2)
  const found = ['a', 'b', 'c'].map((name) => [refuses(name, '/one'), refuses(name, '/two')])
  t.same(found.join(' '), 'true,true true,false false,false')
  t.notOk(parseRobots('').refuses('a', '/'))
  t.notOk(parseRobots('Disallow: /').refuses('a', '/'), 'a rule of nobody')
})

t.test('of a long file the first 500 KiB are read, whole lines alone', async (t) => {
  const head = 'User-agent: *\nDisallow: /first\n'
  const text = `${head}${'#'.repeat(MAX_ROBOTS_BYTES - head.length - 12)}\nDisallow: /last-of-all\n`
  const read = robotsText(new TextEncoder().encode(text))
  t.equal(parseRobots(read).size, 1)
  t.equal(robotsText(new TextEncoder().encode(head)), head)
})

/** The most texts and patterns that a target is held against. */
function countSteps(text: string, userAgent: string, targets: readonly string[]): number {
  const { refuses } = parseRobots(text)
  const count = (target: string): number => {
    let steps = 0
    refuses(userAgent, target, () => steps++)
    return steps
  }
  return Math.max(...targets.map(count))
}

const lines = (count: number, line: (at: number) => string) => Array.from({ length: count }, (_, at) => line(at))

t.test('no file and no path cost many steps', async (t) => {
  const numbered = lines(25_000, (at) => `Disallow: /${at.toString(36)}`)
  const nested = lines(900, (at) => `Disallow: /${'a'.repeat(at)}`)
  const ended = lines(25_000, (at) => `Disallow: /a${at}$`)
  const starred = lines(2_000, (at) => `Disallow: /*a*a*a*a*a*a*a*a*${at}$`)
  const shared = [...lines(12_000, (at) => `User-agent: n${at}`), ...lines(20_000, (at) => `Disallow: /${at}`)]
  const repeated = lines(10_000, (at) => `User-agent: bot\nDisallow: /p${at}`)
  const long = `/${'a'.repeat(8_000)}`
  for (const [name, text, userAgent, most] of [
    ['thousands of prefixes', ['User-agent: *', ...numbered], 'x', 30],
    ['each within the one before', ['User-agent: *', ...nested], 'x', 920],
    ['whole paths', ['User-agent: *', ...ended], 'x', 30],
    ['stars', ['User-agent: *', ...starred], 'x', 2_030],
    ['thousands of names', shared, 'n7', 30],
    ['a name thousands of times', repeated, 'bot', 30],
  ] as const) {
    const targets = ['/', '/7', '/a777', '/a777x', '/zzz', `/${'a'.repeat(450)}b`, long]
    const steps = countSteps(text.join('\n'), userAgent, targets)
    t.ok(steps > 0 && steps <= most, `${name}: ${steps}`)
  }
})

t.test('what would cost each request more is no robots.txt', async (t) => {
  const stars = lines(2_001, (at) => `Disallow: /*a${at}b*c`)
  const message = 'has more than 2000 rules with a star within'
  t.throws(() => parseRobots(`User-agent: *\n${stars.join('\n')}`), { message })
  const names = lines(65, (at) => `User-agent: a\nUser-agent: b${at}\nDisallow: /`)
  t.throws(() => parseRobots(names.join('\n')), { message: 'has a among more than 64 lists of names' })
  t.doesNotThrow(() => parseRobots(names.slice(1).join('\n')))
})

/** Whether rules of one group refuse a path, each asked as a regular expression: the way of RFC 9309, step by step. */
function refusedSlowly(rules: readonly (readonly [word: string, pattern: string])[], path: string): boolean {
  let verdict = { length: -1, allow: true }
  for (const [word, pattern] of rules) {
    if (pattern === '') continue
    const ends = pattern.endsWith('$')
    const stem = (ends ? pattern.slice(0, -1) : pattern).replace(/[$.?\\]/g, '\\$&').replaceAll('*', '.*')
    if (!new RegExp(`^${stem}${ends ? '$' : ''}`, 's').test(path)) continue
    const allow = word === 'Allow'
    if (pattern.length > verdict.length || (pattern.length === verdict.length && allow))
      verdict = { length: pattern.length, allow }
  }
  return !verdict.allow
}

t.test('whatever the rules, the answer is that of each asked in turn', async (t) => {
  const letter = fc.constantFrom('a', 'b', '/', '*', '$', '.', '?', '\\')
  const path = fc.array(letter, { maxLength: 8 }).map((parts) => `/${parts.join('')}`)
  const rule = fc.tuple(fc.constantFrom('Allow', 'Disallow'), path)
  let refused = 0
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 25 }), fc.array(path, { minLength: 10, maxLength: 30 }), (rules, paths) => {
      const lines = rules.map(([word, written]) => `${word}: ${written}`)
      const { refuses } = parseRobots(['User-agent: *', ...lines].join('\n'))
      for (const path of paths) {
        const expected = refusedSlowly(rules, path)
        if (expected) refused++
        if (refuses('x', path) !== expected) throw new Error(`${path} of ${JSON.stringify(rules)}`)
      }
    }),
    { numRuns: 500 },
  )
  t.ok(refused > 500, `${refused} were refused`)
})

t.test('the last good one is kept, and it is asked for again after its time', async (t) => {
  let now = Date.parse('2026-11-21T12:00:00Z')
  let answer: () => Promise<string> = async () => 'User-agent: *\nDisallow: /a'
  let asked = 0
  const said: string[] = []
  const robots = new KeptRobots({
    id: 'robots:a.example',
    title: 'robots.txt of a.example',
    every: 3_600_000,
    ask: () => {
      asked++
      return answer()
    },
    now: () => now,
    onTurned: (message) => void said.push(message),
  })
  const refuses = () => robots.refuses('x', '/a')
  t.match(robots.status, { state: 'absent', reason: undefined, checked: undefined })

  answer = () => Promise.reject(new Error('has the status 503'))
  t.equal(refuses(), undefined)
  t.equal(refuses(), undefined)
  await robots.read()
  t.equal(asked, 1, 'once at a time')
  t.match(robots.status, { state: 'absent', reason: 'has the status 503' })
  t.equal(refuses(), undefined)
  t.equal(asked, 1, 'not again at once')

  answer = async () => 'User-agent: *\nDisallow: /a'
  now += 60_000
  t.equal(refuses(), undefined, 'nobody waits for it')
  await robots.read()
  t.equal(refuses(), true)
  t.match(robots.status, { id: 'robots:a.example', state: 'loaded', entries: 1, checked: '2026-11-21T12:01:00.000Z' })

  now += 3_599_999
  refuses()
  t.equal(asked, 2)
  answer = () => Promise.reject(new Error('has the status 500'))
  now += 1
  t.equal(refuses(), true)
  await robots.read()
  t.equal(refuses(), true, 'the last good one')
  t.match(robots.status, { state: 'loaded', error: 'has the status 500', checked: '2026-11-21T12:01:00.000Z' })
  t.same(said, [
    'robots.txt of a.example has the status 503: rules with match.robots ignore it.',
    'robots.txt of a.example can be read again.',
    'robots.txt of a.example has the status 500: the last copy stays in use.',
  ])
})
