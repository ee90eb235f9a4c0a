import t from 'tap'
import { compilePolicy, type Match, policyFaults, type Rule, type Surroundings } from '../../src/index.ts'
import { createNamedList, readListEntries } from '../../src/lists/named-list.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { agentInspector, CHROME, HOME, makeFields, makeRequest } from '../agents.ts'

const PARTNERS = createNamedList(readListEntries(['8.8.0.0/16', 'AS64500', '*Wget*', '/^Lib-[0-9]+/']))
const SURROUNDINGS: Surroundings = { lists: new Map([['partners', PARTNERS]]) }

function decided(rule: Partial<Rule> & { readonly match: Match }, request: InspectionRequest, given = SURROUNDINGS) {
  const rules: readonly Rule[] = [{ id: 'rule', action: 'block', ...rule }]
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'observe', rules }, given) })
  return decide(request)
}

const asking = (lines: Readonly<Record<string, string>>, overrides: Partial<InspectionRequest> = {}) =>
  makeRequest(['Host', 'Shop.Example.com:8443', ...Object.entries(lines).flat()], overrides)

t.test('what servers read in several ways is refused in any of them, and permitted in all', async (t) => {
  for (const [match, request] of [
    [{ query: { role: ['admin'] } }, asking({}, { target: '/?role[]=admin' })],
    [{ query: { role: ['admin'] } }, asking({}, { target: '/?x=1;role=admin' })],
    [{ query: { role: ['admin'] } }, asking({}, { target: '/?%20role=admin' })],
    [{ query: { role: ['admin'] } }, asking({}, { target: '/?Role=admin' })],
    [{ query: { role: ['admin'] } }, asking({}, { target: '/?role%00x=admin' })],
    [{ query: { 'my.role': ['admin'] } }, asking({}, { target: '/?my_role=%61dmin' })],
    [{ cookie: { role: ['admin'] } }, asking({ Cookie: 'role=%61dmin' })],
    [{ cookie: { role: ['admin'] } }, asking({ Cookie: 'r%6fle=admin' })],
    [{ cookie: { role: ['admin'] } }, asking({ Cookie: 'ROLE=admin' })],
    [{ headerValue: { 'x-debug': ['1'] } }, asking({ X_Debug: '1' })],
    [{ header: { present: ['x-debug'] } }, asking({ 'X.Debug': '1' })],
    [{ header: { absent: ['x-debug'] } }, asking({ X_Debug: '1' })],
  ] as const) {
    const what = JSON.stringify(match)
    t.equal(decided({ match, action: 'block' }, request).action, 'block', what)
    t.not(decided({ match, action: 'allow', trustClaim: true }, request).reasons[0]?.id, 'policy:rule', what)
  }
  const permitted = { match: { query: { role: ['user'] } }, action: 'allow', trustClaim: true } as const
  const targets = ['/?role=user', '/?role=user&role[]=user', '/?role=user&role[]=admin', '/?role=user;role=admin']
  const found = [...targets, '/?Role=user'].filter((target) => {
    return decided(permitted, asking({}, { target })).reasons[0]?.id === 'policy:rule'
  })
  t.same(found, targets.slice(0, 2))
})

t.test('each word of what a request says is asked', async (t) => {
  const ja4 = 't13d1516h2_8daaf6152771_02713d6af862'
  for (const [match, request, matches] of [
    [{ userAgent: ['*scrapy*'] }, asking({ 'User-Agent': 'Scrapy/2.11 (+https://scrapy.org)' }), true],
    [{ userAgent: ['Scrapy'] }, asking({ 'User-Agent': 'Scrapy/2.11' }), true],
    [{ userAgent: ['=Scrapy'] }, asking({ 'User-Agent': 'Scrapy/2.11' }), false],
    [{ userAgent: ['/^Scrapy\\/[0-9]/'] }, asking({ 'User-Agent': 'Scrapy/2.11' }), true],
    [{ userAgent: ['/^scrapy/i'] }, asking({ 'User-Agent': 'Scrapy/2.11' }), true],
    [{ userAgent: ['list:partners'] }, asking({ 'user-agent': 'GNU wget 1.2' }), true],
    [{ userAgent: ['list:partners'] }, asking({ 'user-agent': 'curl/8' }), false],
    [{ host: ['shop.example.com'] }, asking({}), true],
    [{ host: ['*.example.com'] }, makeRequest([':authority', 'a.b.example.com.', 'user-agent', 'x']), true],
    [{ host: ['example.com'] }, asking({}), false],
    [{ host: ['*.bücher.example'] }, makeRequest(['Host', 'a.xn--bcher-kva.example:8443']), true],
    [{ query: { page: ['/^[0-9]{4}/'] } }, asking({}, { target: '/list?page=1234' }), true],
    [{ query: { page: ['/^[0-9]{4}/'] } }, asking({}, { target: '/list?page=12&p%61ge=99999' }), true],
    [{ query: { 'a b': ['c d'] } }, asking({}, { target: '/?a+b=c%20d#x=y' }), true],
    [{ query: { a: ['b'] } }, asking({}, { target: '/?a=%zz&a=b' }), true],
    [{ cookie: { theme: ['dark'] } }, asking({ Cookie: 'id=1; theme="dark"; x' }), true],
    [{ cookie: { a: ['1'], b: ['2'] } }, asking({ Cookie: 'a=1' }), false],
    [{ cookie: { a: ['1'], b: ['2'] } }, makeRequest(['Host', 'x', 'cookie', 'a=1', 'cookie', 'b=2']), true],
    [{ headerValue: { accept: ['\\*/\\*'] } }, asking({ Accept: '*/*' }), true],
    [{ referer: ['https://*.spam.example/*'] }, asking({ Referer: 'https://a.spam.example/x' }), true],
    [{ contentType: ['multipart/*'] }, asking({ 'Content-Type': 'Multipart/Form-Data; boundary=x' }), true],
    [{ contentType: ['text/xml'] }, asking({ 'Content-Type': 'text/xmlx' }), false],
    [{ language: ['de'] }, asking({ 'Accept-Language': 'en, de-AT;q=0.5' }), true],
    [{ language: ['de'] }, asking({ 'Accept-Language': 'en, de;q=0' }), false],
    [{ language: ['zh-*'] }, asking({ 'Accept-Language': 'zh-TW' }), true],
    [{ httpVersion: ['2'] }, asking({}, { httpVersion: '2.0' }), true],
    [{ ja4: ['chromium'] }, asking({}, { ja4 }), true],
    [{ ja4: ['t13d1516h2_*'] }, asking({}, { ja4 }), true],
    [{ ja4: ['program', 't13d1516h2'] }, asking({}, { ja4 }), false],
    [{ address: ['8.8.8.0/24'] }, asking({}, { peer: '8.8.8.9' }), true],
    [{ address: ['8.8.4.4', '2001:db8::/32'] }, asking({}, { peer: '8.8.8.9' }), false],
    [{ address: ['list:partners'] }, asking({}, { peer: '8.8.8.9' }), true],
    [{ not: { address: ['list:partners'] } }, asking({}, { peer: '8.9.8.9' }), true],
    [{ not: { userAgent: ['*Chrome*'] } }, makeRequest(makeFields(CHROME)), false],
    [{ not: { userAgent: ['*Chrome*'], method: ['POST'] } }, makeRequest(makeFields(CHROME)), true],
    [{ path: ['/**'], not: { cookie: { session: ['*'] } } }, asking({}), true],
    [{ path: ['/**'], not: { cookie: { session: ['*'] } } }, asking({ Cookie: 'session=1' }), false],
  ] as const) {
    const about = `${JSON.stringify(match)} of ${request.target} ${request.fields.join(' ')}`
    t.equal(decided({ match }, request).action, matches ? 'block' : 'allow', about)
  }
})

t.test('of repeated values one is enough to refuse, and all earn permission', async (t) => {
  const request = asking({}, { target: '/?key=good&key=bad' })
  t.equal(decided({ match: { query: { key: ['bad'] } } }, request).action, 'block')
  const policy = compilePolicy({
    preset: 'observe',
    default: 'block',
    rules: [
      { id: 'open', match: { query: { key: ['good'] } }, action: 'allow' },
      { id: 'rest', match: { not: { query: { key: ['bad'] } }, path: ['/x'] }, action: 'allow' },
    ],
  })
  const { decide } = agentInspector({ policy })
  t.equal(decide(request).action, 'block')
  t.equal(decide(asking({}, { target: '/?key=good&key=good' })).action, 'allow')
  t.equal(decide(asking({}, { target: '/x?key=other&key=bad' })).action, 'block', 'one bad value is not "not bad"')
})

t.test('what a source does not keep is neither so nor otherwise', async (t) => {
  const rules: readonly Rule[] = [
    { id: 'cookie', match: { cookie: { a: ['1'] } }, action: 'block' },
    { id: 'no-cookie', match: { not: { cookie: { a: ['1'] } } }, action: 'block' },
    { id: 'no-ja4', match: { not: { ja4: ['program'] } }, action: 'block' },
    { id: 'absent', match: { header: { absent: ['accept'] } }, action: 'block' },
    { id: 'load', match: { not: { load: { atLeast: 0.5 } } }, action: 'block' },
    { id: 'robots', match: { not: { robots: ['disallowed'] } }, action: 'block' },
    { id: 'country', match: { not: { country: ['DE'] } }, action: 'block' },
    { id: 'agent', match: { userAgent: ['curl*'] }, action: 'flag' },
  ]
  const inspector = agentInspector({ policy: compilePolicy({ preset: 'observe', rules }) })
  const address = { family: 4, a: 0, b: 0, c: 0, d: 0x08080808 } as const
  const { reasons } = await inspector.check(address, { fields: ['User-Agent', 'curl/8'], headersKnown: false })
  t.equal(reasons[0]?.id, 'policy:agent')
  t.equal(decided({ match: { not: { address: ['0.0.0.0/0', '::/0'] } } }, asking({}, { peer: '' })).action, 'block')
  t.equal(decided({ match: { address: ['0.0.0.0/0', '::/0'] } }, asking({}, { peer: HOME })).action, 'block')
})

t.test('the load and robots.txt are asked at each request', async (t) => {
  let load = 0.2
  const surroundings: Surroundings = {
    load: { now: () => load, latch: (atLeast) => () => load >= atLeast },
    robots: (userAgent, path) => userAgent.startsWith('Bad') && path.startsWith('/private'),
  }
  const busy = { match: { load: { atLeast: 0.8 } } }
  t.equal(decided(busy, asking({}), surroundings).action, 'allow')
  load = 0.9
  t.equal(decided(busy, asking({}), surroundings).action, 'block')
  const rude = { match: { robots: ['disallowed'] } } as const
  const asked = (userAgent: string, target: string) =>
    decided(rude, asking({ 'User-Agent': userAgent }, { target }), surroundings).action
  t.same([asked('Bad/1', '/private/x?y'), asked('Bad/1', '/'), asked('Good', '/private')], ['block', 'allow', 'allow'])
})

t.test('a share is of clients, each of which is within it at every request or at none', async (t) => {
  const rules: readonly Rule[] = [{ id: 'some', match: { share: 0.1 }, action: 'block' }]
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'observe', rules }) })
  const isWithin = (peer: string, target = '/') => decide(makeRequest([], { peer, target })).action === 'block'
  const peers = Array.from({ length: 4_000 }, (_, index) => `8.${index % 200}.${index % 7}.${index % 251}`)
  t.ok(peers.every((peer) => isWithin(peer) === isWithin(peer, '/other')))
  const share = peers.filter((peer) => isWithin(peer)).length / peers.length
  t.ok(share > 0.07 && share < 0.13, String(share))
  const homes = Array.from({ length: 200 }, (_, home) => `2a02:8106:1:${home}`)
  t.ok(homes.some((home) => isWithin(`${home}:1:2:3:4`)))
  const changed = homes.filter((home) => isWithin(`${home}:1:2:3:4`) !== isWithin(`${home}:a:b:c:d`))
  t.same(changed, [], 'a home keeps its part as its IPv6 address changes')
})

t.test('weights of several signs come to one decision, and are among its reasons', async (t) => {
  const rules: readonly Rule[] = [
    { id: 'old', match: { httpVersion: ['1.0'] }, action: 'flag', weight: 3 },
    { id: 'trial', match: { path: ['/**'] }, action: 'flag', weight: 50, monitor: true },
    { id: 'no-language', match: { header: { absent: ['accept-language'] } }, action: 'flag', weight: 4 },
    { id: 'enough', match: { weight: { atLeast: 7 } }, action: 'block' },
  ]
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'observe', rules }) })
  const both = decide(asking({}, { httpVersion: '1.0' }))
  t.equal(both.action, 'block')
  const sum = 'The weights of the policy\'s rules add up to 7: "old" 3, "no-language" 4.'
  t.match(both.reasons, [{ text: /"enough"/ }, { text: sum }])
  const one = decide(asking({}))
  t.match(one, { action: 'flag', reasons: [{ id: 'policy:no-language' }, { text: /add up to 4/ }] })
  t.equal(decide(asking({ 'Accept-Language': 'de' })).action, 'allow')
})

t.test('words that cannot be meant are named at their places', async (t) => {
  for (const [rule, path, message] of [
    [{ match: { userAgent: ['/(/'] } }, ['match', 'userAgent', 0], /Unterminated group/],
    [{ match: { userAgent: ['ok', '/a/g'] } }, ['match', 'userAgent', 1], /flag "g"/],
    [{ match: { userAgent: ['/(a)\\1/'] } }, ['match', 'userAgent', 0], /backreference/],
    [{ match: { userAgent: ['a'.repeat(1_001)] } }, ['match', 'userAgent', 0], /the maximum is 1000/],
    [{ match: { headerValue: { Accept: ['x'] } } }, ['match', 'headerValue', 'Accept'], /did you mean "accept"/],
    [{ match: { cookie: { 'a b': ['x'] } } }, ['match', 'cookie', 'a b'], /unknown/],
    [{ match: { cookie: {} } }, ['match', 'cookie'], /names nothing/],
    [{ match: { address: ['10.0.0.300'] } }, ['match', 'address', 0], /expected an address/],
    [{ match: { address: ['list:none'] } }, ['match', 'address', 0], /no list "none"\. Use one of partners/],
    [{ match: { not: { userAgent: ['list:none'] } } }, ['match', 'not', 'userAgent', 0], /no list/],
    [{ match: { not: {} } }, ['match', 'not'], /not is empty/],
    [{ match: { not: { country: ['UK'] } } }, ['match', 'not', 'country', 0], /did you mean "GB"/],
    [{ match: { share: 1 } }, ['match', 'share'], /between 0 and 1/],
    [{ match: {}, weight: 3, action: 'block' }, ['weight'], /needs the action flag/],
    [{ match: { userAgent: ['Mine'] }, action: 'allow' }, ['match', 'userAgent'], /clients can forge this/],
    [{ match: { header: { present: ['x'] }, path: ['/x'] }, action: 'allow' }, ['match', 'header'], /trustClaim/],
    [{ match: { cookie: { s: ['*'] }, class: ['human'] }, action: 'allow' }, ['match', 'cookie'], /can forge this/],
  ] as const) {
    const rules = [{ id: 'r', action: 'block', ...rule }] as readonly Rule[]
    const faults = policyFaults({ preset: 'observe', rules }, new Set(['partners']))
    t.match(faults, [{ path: ['rules', 0, ...path], message }], JSON.stringify(rule))
  }
  const allowed: readonly Partial<Rule>[] = [
    { match: { userAgent: ['Mine'] }, trustClaim: true },
    { match: { userAgent: ['Mine'], address: ['198.51.100.0/24'] } },
    { match: { cookie: { s: ['*'] }, user: ['*'] } },
    { match: { referer: ['x'], crawlerOutcome: ['verified'] } },
    { match: { host: ['a.example'], path: ['/open'] } },
  ]
  for (const rule of allowed) {
    const rules = [{ id: 'r', action: 'allow', ...rule }] as readonly Rule[]
    t.same(policyFaults({ preset: 'observe', rules }), [], JSON.stringify(rule))
  }
})
