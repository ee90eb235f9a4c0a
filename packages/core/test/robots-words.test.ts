import t from 'tap'
import { compilePolicy } from '../src/policy/compile.ts'
import type { Match, Rule } from '../src/policy/policy.ts'
import { robotsOf } from '../src/robots/robots-text.ts'

/** A value of each word that an unknown crawler's GET meets where nothing is known of its network; `user` has none. */
const WIDE: { readonly [Word in keyof Match]-?: NonNullable<Match[Word]> } = {
  networkClass: ['unknown'],
  networkConfidence: { atMost: 1 },
  provider: ['Any'],
  country: ['unknown'],
  asn: [64_500],
  path: ['/**'],
  method: ['GET'],
  class: ['unverified_bot'],
  basis: ['automation', 'none'],
  headless: false,
  confidence: { atLeast: 0 },
  crawler: ['googlebot'],
  crawlerOutcome: ['verified'],
  operator: ['Google'],
  vendor: ['Google'],
  purpose: ['search'],
  identity: ['*'],
  header: { absent: ['cookie'] },
  time: { from: '00:00' },
  user: ['*'],
  plan: ['*'],
}

/** What robots.txt can ask crawlers by: their names, what is proven of them, the path and the method. */
const SAID: readonly (keyof Match)[] = ['path', 'method', 'class', 'basis', 'headless']
const SAID_OF_CRAWLERS: readonly (keyof Match)[] = [
  'crawler',
  'crawlerOutcome',
  'operator',
  'vendor',
  'purpose',
  'identity',
]

function robotsBy(match: Match) {
  const rule: Rule = { id: 'shut', match: { path: ['/x/**'], ...match }, action: 'block' }
  return robotsOf({ parts: [{ policy: compilePolicy({ preset: 'observe', rules: [rule] }), mode: 'enforce' }] })
}

t.test('a rule by how sure a verdict about the network is disallows nothing', async (t) => {
  for (const bounds of [{ atMost: 0.5 }, { atLeast: 0 }, { atLeast: 0.2, atMost: 0.9 }]) {
    const { text, unspoken } = robotsBy({ networkConfidence: bounds })
    t.notMatch(text, 'Disallow', JSON.stringify(bounds))
    t.same(unspoken, ['shut'])
  }
})

for (const [word, value] of Object.entries(WIDE)) {
  const isSaid = [...SAID, ...SAID_OF_CRAWLERS].includes(word as keyof Match)
  t.test(`robots.txt ${isSaid ? 'can' : 'cannot'} say a rule by ${word}`, async (t) => {
    const { text, unspoken } = robotsBy({ [word]: value })
    t.same(unspoken, isSaid ? [] : ['shut'])
    const general = text.split('User-agent: *\n')[1] ?? ''
    t.equal(general.includes('Disallow: '), SAID.includes(word as keyof Match), 'for everybody')
    if (!isSaid) t.notMatch(text, 'Disallow')
  })
}
