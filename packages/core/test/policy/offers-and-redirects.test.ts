import fc from 'fast-check'
import t from 'tap'
import { createCrawlerRanges } from '../../src/crawler/ranges.ts'
import {
  compilePolicy,
  createCounter,
  plainAction,
  policyFaults,
  type Rule,
  strictest,
  writeRobots,
} from '../../src/index.ts'
import { policyWarnings } from '../../src/policy/check/warnings.ts'
import { createFakeClock, createFakeCounts, makeSnapshots, readPrefix } from '../../src/testing/fakes.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { isStricter } from '../../src/vocabulary.ts'
import { agentInspector, CATALOGUE, makeRequest } from '../agents.ts'
import { splitWords } from '../support.ts'

const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; +https://openai.com/gptbot'
const PROVEN = '8.3.0.9'
const slug = CATALOGUE.crawlers.find(({ slug }) => slug === 'gptbot')?.ranges ?? ''

interface Described extends Partial<InspectionRequest> {
  readonly host?: string
}

function createGate(rules: readonly Rule[], mode: 'enforce' | 'monitor' = 'enforce') {
  const snapshots = makeSnapshots({
    ...createCrawlerRanges([{ slug, state: 'fresh', date: '2026-11-20', prefixes: [readPrefix('8.3.0.0/24')] }]),
    rangesLoaded: true,
  })
  const inspector = agentInspector({ snapshots, policy: compilePolicy({ preset: 'observe', rules }), mode })
  return (target: string, { host = 'a.example', fields = [], ...more }: Described = {}) =>
    inspector.decide(makeRequest(['Host', host, 'User-Agent', GPTBOT, ...fields], { peer: PROVEN, target, ...more }))
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
  const trial = { rule: 'elsewhere', action: 'redirect' }
  t.match(createGate([{ ...led('/llms.txt'), monitor: true }])('/a'), { action: 'allow', trial })
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
  for (const [to, path, at] of [
    ['/llms.txt?v=2', '/a', '/llms.txt'],
    ['{path}.md', '/a/b', '/a/b.md'],
    ['/md{path}', '/a/b', '/md/a/b'],
    ['{path}?format=md', '/a', '/a'],
  ] as const) {
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
  const piece = fc.constantFrom(...splitWords('/ // \\ %2f %5c evil.example . .. %09 @ : %0d%0a é'), ' ')
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
  for (const to of splitWords('/ /llms.txt {path}.md /md{path} https://www.a.example{path} http://a.example/x?y=1#z'))
    t.same(listFaults(led(to)), [], to)
  const wrong = splitWords(`
    llms.txt //evil.example /\\evil.example {path} /{path} /a/{path} {path}{path} {query} https://{path} https://a@b{path}
    javascript:alert(1) /é
  `)
  for (const to of [...wrong, '', '/a b', '/a\nb']) t.same(listFaults(led(to)), ['to'], JSON.stringify(to))
  t.same(listFaults({ id: 'a', match: {}, action: 'redirect' }), ['to'])
  t.same(listFaults({ id: 'a', match: {}, action: 'block', to: '/a' }), ['to'])
  const limit = { key: 'client', max: 1, window: '1h' } as const
  t.same(listFaults({ ...led('/a'), limit }), ['action'])
})

const OFFER = { price: 'USD 0.01', licence: 'https://a.example/l.xml' }
const paid: Rule = { id: 'paid', match: { path: ['/a/**'] }, action: 'offer', offer: OFFER }
const TERMS = { network: 'eip155:8453', asset: '0xA', amount: '10000', payTo: '0xB' }

t.test('a rule offers, and decides before the rules after it', async (t) => {
  const block: Rule = { id: 'rest', match: {}, action: 'block' }
  const decide = createGate([paid, block])
  t.match(decide('/a/b'), { action: 'offer', enforced: true, offer: OFFER, reasons: [{ id: 'policy:paid' }] })
  t.equal(decide('/b').action, 'block')
  const few: Rule = { id: 'few', match: {}, action: 'throttle', limit: { key: 'client', max: 1, window: '1m' } }
  const limited = createGate([few, paid])
  const counter = createCounter({ counts: createFakeCounts(createFakeClock('2026-11-26T00:00:00Z')), flights: 'test' })
  t.match((await counter.count(limited('/a/b'))).decision, { action: 'offer', offer: OFFER }, 'within another limit')
  t.match((await counter.count(limited('/a/b'))).decision, { action: 'throttle', offer: undefined }, 'beyond it')
  t.ok(isStricter('offer', 'challenge') && isStricter('throttle', 'offer'))
  t.equal(plainAction('offer'), 'block', 'for /v1, whose callers cannot pay')
  t.equal(strictest([decide('/a/b'), createGate([])('/a/b')]).action, 'offer')
})

t.test('what a rule cannot offer is said', async (t) => {
  const listFaults = (more: object) =>
    policyFaults({ preset: 'observe', rules: [{ ...paid, ...more }] }).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    )
  const offer = (more: object) => listFaults({ offer: { ...OFFER, ...more } })
  t.same(listFaults({}), [])
  for (const price of ['USD 1', 'EUR 0.00000001', 'JPY 100']) t.same(offer({ price }), [], price)
  for (const price of ['', '0.01', 'USD 0.00', 'usd 1', 'USD  1', 'USD -1', 'USD 1e3', 'USD 1,5', 'USD 1\r\nx: y'])
    t.match(offer({ price }), [/^rules\.0\.offer\.price: .* is not a price such as USD 0\.01$/], price)
  for (const licence of ['javascript:1', '/l.xml', 'https://a.example/<l>', 'https://a.example/ x'])
    t.match(offer({ licence }), [/^rules\.0\.offer\.licence: .* is not an http URL$/], licence)
  t.same(offer({ x402: [TERMS] }), [])
  t.match(offer({ x402: [] }), [/the list of payments is empty/])
  t.match(offer({ x402: [TERMS, { ...TERMS, network: 'base', amount: '0.01' }] }), [
    /^rules\.0\.offer\.x402\.1\.network: "base" is not a CAIP-2 network/,
    /^rules\.0\.offer\.x402\.1\.amount: "0\.01" is not an amount in the smallest unit/,
  ])
  t.match(listFaults({ offer: undefined }), [/needs a price/])
  t.match(listFaults({ action: 'block' }), [/applies only to the action offer/])
  t.match(listFaults({ match: { event: ['login'] } }), [/events cannot have a price/])
})

t.test('a rule that redirects covers none after it, and robots.txt refuses no redirect and no offer', async (t) => {
  const rules: readonly Rule[] = [led('/llms.txt'), { id: 'none', match: { purpose: ['training'] }, action: 'block' }]
  t.same(policyWarnings({ preset: 'observe', rules }), [])
  t.equal(createGate(rules)('/a', { peer: '8.9.9.9' }).action, 'block')
  for (const rule of [led('/llms.txt'), { ...paid, match: { path: ['/a/**'], purpose: ['training'] } } as const]) {
    const policy = compilePolicy({ preset: 'observe', rules: [rule] })
    const { text, unspoken } = writeRobots({ parts: [{ policy, mode: 'enforce' }] })
    t.notMatch(text, /Disallow: \//)
    t.same(unspoken, [])
  }
})
