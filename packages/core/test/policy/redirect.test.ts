import fc from 'fast-check'
import t from 'tap'
import { parseTrust } from '../../src/address/client.ts'
import { parsePrefix } from '../../src/address/prefix.ts'
import { createCounter } from '../../src/counting/counter.ts'
import { createCatalogue } from '../../src/crawler/catalogue.ts'
import { createCrawlerRanges } from '../../src/crawler/ranges.ts'
import { createReverseChecks } from '../../src/crawler/reverse-checks.ts'
import { createCrawlerVerifier } from '../../src/crawler/verifier.ts'
import { createInspector } from '../../src/inspection/inspector.ts'
import { policyFaults } from '../../src/policy/check/faults.ts'
import { policyWarnings } from '../../src/policy/check/warnings.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Rule } from '../../src/policy/policy.ts'
import { writeRobots } from '../../src/robots/robots-text.ts'
import { createFakeClock, createFakeCounts, createFakeDns, makeSnapshots } from '../../src/testing/fakes.ts'
import { plainAction } from '../../src/vocabulary.ts'

const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot'
const PROVEN = '8.3.0.9'
const catalogue = createCatalogue()
const slug = catalogue.crawlers.find(({ slug }) => slug === 'gptbot')?.ranges ?? ''
const prefixes = [parsePrefix('8.3.0.0/24')].flatMap((prefix) => prefix ?? [])

interface Described {
  readonly peer?: string | undefined
  readonly method?: string | undefined
  readonly host?: string | undefined
  readonly fields?: readonly string[] | undefined
}

function createGate(rules: readonly Rule[], mode: 'enforce' | 'monitor' = 'enforce') {
  const clock = createFakeClock('2026-11-26T00:00:00Z')
  const inspector = createInspector({
    clock,
    crawlers: createCrawlerVerifier(catalogue, { reverse: createReverseChecks({ clock, dns: createFakeDns({}, {}) }) }),
    snapshots: makeSnapshots({
      ...createCrawlerRanges([{ slug, state: 'fresh', date: '2026-11-20', prefixes }]),
      rangesLoaded: true,
    }),
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'observe', rules }),
    mode,
  })
  return (target: string, { peer = PROVEN, method = 'GET', host = 'a.example', fields = [] }: Described = {}) =>
    inspector.decide({
      peer,
      method,
      target,
      scheme: 'https',
      httpVersion: '1.1',
      fields: ['Host', host, 'User-Agent', GPTBOT, ...fields],
    })
}

const led = (to: string): Rule => ({ id: 'elsewhere', match: { purpose: ['training'] }, action: 'redirect', to })

t.test('a proven crawler that reads is sent elsewhere, and nobody else', async (t) => {
  const decide = createGate([led('/llms.txt')])
  t.match(decide('/a?b=1'), { action: 'redirect', enforced: true, location: '/llms.txt' })
  t.match(decide('/a', { method: 'HEAD' }), { action: 'redirect' })
  t.equal(plainAction('redirect'), 'allow')
  for (const [name, request] of Object.entries<Described>({
    'who only says so': { peer: '8.9.9.9' },
    'who sends': { method: 'POST' },
    'who would speak another protocol': { fields: ['Upgrade', 'websocket'] },
  })) {
    const { action, location } = decide('/a', request)
    t.same([action, location], ['allow', undefined], name)
  }
  t.match(createGate([led('/llms.txt')], 'monitor')('/a'), { action: 'redirect', enforced: false })
  t.match(createGate([{ ...led('/llms.txt'), monitor: true }])('/a'), {
    action: 'allow',
    trial: { rule: 'elsewhere', action: 'redirect' },
  })
})

t.test('a limit before it that is kept changes nothing', async (t) => {
  const limit: Rule = { id: 'few', match: {}, action: 'throttle', limit: { key: 'client', max: 1, window: '1m' } }
  const decide = createGate([limit, led('/llms.txt')])
  const counts = createFakeCounts(createFakeClock('2026-11-26T00:00:00Z'))
  const counter = createCounter({ counts, flights: 'test' })
  const within = await counter.count(decide('/a'))
  t.match(within.decision, { action: 'redirect', location: '/llms.txt', limits: [{ exceeded: false }] })
  const { action, location } = (await counter.count(decide('/a'))).decision
  t.same([action, location], ['throttle', undefined], 'beyond it')
})

t.test('who was sent there arrives', async (t) => {
  const rows: readonly (readonly [to: string, path: string, at: string])[] = [
    ['/llms.txt', '/a', '/llms.txt'],
    ['/llms.txt?v=2', '/a', '/llms.txt'],
    ['{path}.md', '/a/b', '/a/b.md'],
    ['/md{path}', '/a/b', '/md/a/b'],
    ['{path}?format=md', '/a', '/a'],
  ]
  for (const [to, path, at] of rows) {
    const decide = createGate([led(to)])
    const { location } = decide(path)
    if (at !== path) t.equal(location?.replace(/\?.*/, ''), at, to)
    t.equal(decide(at).action, 'allow', `${to}: ${at}`)
  }
  const decide = createGate([led('https://www.a.example{path}')])
  t.equal(decide('/x/../y?z').location, 'https://www.a.example/y')
  t.equal(decide('/y', { host: 'www.a.example' }).action, 'allow')
})

t.test('no target leads to another site', async () => {
  const decide = createGate([led('{path}.md')])
  const piece = fc.constantFrom(
    '/',
    '//',
    '\\',
    '%2f',
    '%5c',
    'evil.example',
    '.',
    '..',
    '%09',
    '@',
    ':',
    '%0d%0a',
    'é',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const { location } = decide(`/${pieces.join('')}`)
      if (location === undefined) return true
      return new URL(location, 'https://a.example/').host === 'a.example' && /^\/[!-~]*$/.test(location)
    }),
    { numRuns: 2_000, seed: 52 },
  )
})

t.test('a place is a path, or a URL that the configuration names', async (t) => {
  const listFaults = (rule: Rule) => policyFaults({ preset: 'observe', rules: [rule] }).map(({ path }) => path.at(-1))
  for (const to of [
    '/',
    '/llms.txt',
    '{path}.md',
    '/md{path}',
    'https://www.a.example{path}',
    'http://a.example/x?y=1#z',
  ]) {
    t.same(listFaults(led(to)), [], to)
  }
  for (const to of [
    '',
    'llms.txt',
    '//evil.example',
    '/\\evil.example',
    '{path}',
    '/{path}',
    '/a/{path}',
    '{path}{path}',
    '{query}',
    'https://{path}',
    'https://a@b{path}',
    'javascript:alert(1)',
    '/é',
    '/a b',
    '/a\nb',
  ]) {
    t.same(listFaults(led(to)), ['to'], JSON.stringify(to))
  }
  t.same(listFaults({ id: 'a', match: {}, action: 'redirect' }), ['to'])
  t.same(listFaults({ id: 'a', match: {}, action: 'block', to: '/a' }), ['to'])
  const limit = { key: 'client', max: 1, window: '1h' } as const
  t.same(listFaults({ ...led('/a'), limit }), ['action'])
})

t.test('a rule that redirects covers none after it, and robots.txt disallows nothing of it', async (t) => {
  const rules: readonly Rule[] = [led('/llms.txt'), { id: 'none', match: { purpose: ['training'] }, action: 'block' }]
  t.same(policyWarnings({ preset: 'observe', rules }), [])
  t.equal(createGate(rules)('/a', { peer: '8.9.9.9' }).action, 'block')
  const { text, unspoken } = writeRobots({
    parts: [{ policy: compilePolicy({ preset: 'observe', rules: [led('/llms.txt')] }), mode: 'enforce' }],
  })
  t.notMatch(text, /Disallow/)
  t.same(unspoken, [])
})
