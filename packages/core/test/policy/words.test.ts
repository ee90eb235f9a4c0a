import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compilePolicy, policyFaults, type Rule, writeRobots } from '../../src/index.ts'
import { givenWords, isAboutEvents, MATCH_WORDS, type Match } from '../../src/policy/words/match-words.ts'

/** A value of each word; one that an unknown crawler's GET meets where there is such a value. */
const WIDE: { readonly [Word in keyof Match]-?: NonNullable<Match[Word]> } = {
  networkClass: ['unknown'],
  networkConfidence: { atMost: 1 },
  provider: ['Any'],
  country: ['unknown'],
  region: ['US-TX'],
  asn: [64_500],
  path: ['/**'],
  method: ['GET'],
  class: ['unverified_bot'],
  basis: ['automation', 'none'],
  headless: false,
  confidence: { atLeast: 0 },
  botProbability: { atLeast: 0 },
  behaviour: { pagesWithoutFiles: { atLeast: 0 } },
  crawler: ['googlebot'],
  crawlerOutcome: ['verified'],
  operator: ['Google'],
  vendor: ['Google'],
  purpose: ['search'],
  identity: ['*'],
  header: { absent: ['cookie'] },
  time: { from: '00:00' },
  address: ['198.51.100.0/24'],
  userAgent: ['*'],
  host: ['*'],
  query: { page: ['*'] },
  cookie: { theme: ['*'] },
  headerValue: { accept: ['*'] },
  referer: ['*'],
  contentType: ['*'],
  language: ['*'],
  httpVersion: ['1.1'],
  ja4: ['*'],
  mcp: { method: ['*'] },
  weight: { atLeast: 0 },
  load: { atLeast: 0 },
  pass: { atLeast: 1 },
  share: 0.5,
  robots: ['disallowed'],
  not: { country: ['DE'] },
  user: ['*'],
  plan: ['*'],
  event: ['login'],
  mail: { disposable: true },
  account: { known: false },
}

/** Words that robots.txt can ask crawlers by: their names, what is proven of them, the path and the method. */
const SAID: readonly (keyof Match)[] = ['path', 'method', 'class', 'basis', 'headless']
const SAID_OF_CRAWLERS: readonly string[] = 'crawler crawlerOutcome operator vendor purpose identity'.split(' ')

function robotsBy(match: Match) {
  const about = { path: ['/x/**'], ...match }
  const rule: Rule = { id: 'shut', match: about, action: 'block', ...(match.region && { unknown: 'ignore' }) }
  return writeRobots({ parts: [{ policy: compilePolicy({ preset: 'observe', rules: [rule] }), mode: 'enforce' }] })
}

t.test('a rule by how sure a verdict is disallows nothing, and one by a signed identity its crawler', async (t) => {
  for (const bounds of [{ atMost: 0.5 }, { atLeast: 0 }, { atLeast: 0.2, atMost: 0.9 }]) {
    const { text, unspoken } = robotsBy({ networkConfidence: bounds })
    t.notMatch(text, 'Disallow', JSON.stringify(bounds))
    t.same(unspoken, ['shut'])
  }
  t.match(robotsBy({ identity: ['https://chatgpt.com'] }).text, 'User-agent: ChatGPT Agent\nDisallow: /x$\n')
})

for (const [word, value] of Object.entries(WIDE)) {
  const isSaid = [...SAID, ...SAID_OF_CRAWLERS].includes(word)
  t.test(`robots.txt ${isSaid ? 'can' : 'cannot'} say a rule by ${word}`, async (t) => {
    const { text, unspoken } = robotsBy({ [word]: value })
    // No crawler causes an event of an account.
    t.same(unspoken, isSaid || isAboutEvents({ [word]: value }) ? [] : ['shut'])
    const general = text.split('User-agent: *\n')[1] ?? ''
    t.equal(general.includes('Disallow: '), SAID.includes(word as keyof Match), 'for everybody')
    if (!isSaid) t.notMatch(text, 'Disallow')
  })
}

t.test('a value of each word is usable, and the documents have every word', async (t) => {
  const rules: readonly Rule[] = [{ id: 'all', match: WIDE, action: 'flag', unknown: 'match' }]
  t.same(policyFaults({ preset: 'observe', rules }), [])
  t.same(Object.keys(WIDE).sort(), Object.keys(MATCH_WORDS).sort())
  const page = (name: string) => readFileSync(join(import.meta.dirname, '../../../../sallyport/docs', name), 'utf8')
  const text = page('policy.md') + page('crawlers.md')
  const told = [...text.matchAll(/^\| (`\w+`(?:, `\w+`)*) \|/gm)].flatMap(([, words = '']) => words.split(/[`, ]+/))
  for (const word of Object.keys(MATCH_WORDS)) t.ok(told.includes(word), word)
})

t.test('faults are named in the order in which words are written, and only what is a word is read', async (t) => {
  const match: Match = { time: { from: '9' }, asn: [-1], confidence: { atMost: 2 }, header: { absent: ['a b'] } }
  const faults = policyFaults({ preset: 'observe', rules: [{ id: 'all', match, action: 'flag' }] })
  const places = faults.map(({ path }) => path.slice(2).join('.'))
  t.same(places, ['match.time.from', 'match.asn.0', 'match.confidence.atMost', 'match.header.absent.0'])
  t.same(givenWords({ ...JSON.parse('{"toString":["a"],"constructor":["b"]}'), asn: undefined }), [])
})
