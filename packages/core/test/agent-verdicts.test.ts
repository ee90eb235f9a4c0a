import t from 'tap'
import { compilePolicy, FORWARDING_HEADERS, parseTrust } from '../src/index.ts'
import { makeAddress, makeSnapshots } from '../src/testing/fakes.ts'
import { agentInspector, CHROME, CHROME_TEXT, FIREFOX, HOME, makeFields, makeRequest, PROXY, RACK } from './agents.ts'
import { splitWords } from './support.ts'

const { inspect, decide, check } = agentInspector()

function namedAs(userAgent: string, peer = HOME) {
  return inspect(makeRequest(['Host', 'example.com', 'User-Agent', userAgent], { peer })).agent
}

t.test('a client that says it is a program is one', async (t) => {
  for (const text of ['curl/8.5.0', 'python-requests/2.32.3', 'Go-http-client/2.0', 'node', 'MyCompany-Checker/1.0'])
    t.match(namedAs(text), { class: 'unverified_bot', basis: 'automation', headless: false }, text)
  const headless = CHROME_TEXT.replace('Chrome/', 'HeadlessChrome/')
  t.match(namedAs(headless), { class: 'unverified_bot', basis: 'automation', headless: true })
  const brand = makeFields(CHROME, { 'sec-ch-ua': '"HeadlessChrome";v="150", "Chromium";v="150"' })
  t.match(inspect(makeRequest(brand)).agent, { class: 'unverified_bot', headless: true })
  t.match(inspect(makeRequest(['Host', 'example.com'])).agent, { class: 'unverified_bot', basis: 'absence' })
})

t.test('an unknown product behind a whole browser’s is an absence: it can flag and not block', async (t) => {
  const judge = (userAgent: string) => inspect(makeRequest(makeFields(CHROME, { 'User-Agent': userAgent }))).agent
  const id = 'unknown-product'
  t.match(judge(`${CHROME_TEXT} Collapsify/2.1`), { class: 'human', reasons: [{ id }] })
  for (const known of [CHROME_TEXT, `${CHROME_TEXT} Edg/150.0.0.0`, `${CHROME_TEXT} (a comment; Word/1.0)`])
    t.notOk(JSON.stringify(judge(known).reasons).includes(id), known)
})

t.test('AI is named, whether or not anything can prove it', async (t) => {
  t.match(namedAs('Mozilla/5.0 (compatible; Bytespider; spider-feedback@bytedance.com)'), {
    class: 'ai_agent',
    basis: 'ai-name',
    ai: { name: 'Bytespider', vendor: 'ByteDance' },
    identity: { type: 'crawler', name: 'bytespider', verified: false },
    operator: 'ByteDance',
    purpose: 'training',
  })
  t.match(namedAs('img2dataset/1.0'), { class: 'ai_agent', ai: { name: 'img2dataset' }, purpose: 'training' })
  t.match(namedAs('Google-Extended'), { class: 'impostor', basis: 'crawler' }, 'it is for robots.txt alone')
  const search = namedAs('Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)')
  t.match(search, { class: 'unverified_bot', basis: 'crawler' })
  t.notOk('ai' in search)
})

t.test('network class is the last to speak, and only about how sure a verdict is', async (t) => {
  const home = inspect(makeRequest(makeFields(FIREFOX, { Cookie: 'a=b' }))).agent
  const rack = inspect(makeRequest(makeFields(FIREFOX, { Cookie: 'a=b' }), { peer: RACK })).agent
  t.match(home, { class: 'human', basis: 'none' })
  t.match(rack, { class: 'human', basis: 'network' })
  t.ok(rack.confidence < home.confidence)
})

t.test('nothing is suspected of reserved addresses and of the allowlist', async (t) => {
  const wrong = makeFields(CHROME, { 'sec-ch-ua-platform': '"Linux"' })
  t.match(inspect(makeRequest(wrong, { peer: '10.0.0.1' })).agent, { class: 'human', basis: 'none' })
  const policy = compilePolicy({
    preset: 'low-friction',
    rules: [{ id: 'all', match: {}, action: 'block' }],
    allowlist: ['8.1.0.0/16', '2001:db8::1'],
  })
  const friendly = agentInspector({ policy })
  t.match(friendly.decide(makeRequest(wrong)), {
    action: 'allow',
    enforced: true,
    reasons: [{ id: 'policy:allowlist' }, {}],
    inspection: { agent: { class: 'human', identity: { type: 'address', name: HOME, verified: true } } },
  })
  t.equal(friendly.decide(makeRequest(wrong, { peer: RACK })).action, 'block')
  t.match(friendly.decide(makeRequest(['User-Agent', 'Google-Extended'])).inspection.agent, { class: 'ai_agent' })
  for (const entry of ['8.1.0.0/33', 'everybody', ''])
    t.throws(() => compilePolicy({ preset: 'observe', rules: [], allowlist: [entry] }), { code: 'invalid_policy' })
})

/** The IANA registries list these kinds of addresses as reserved: one address is of each kind. */
const RESERVED = splitWords(`
  127.0.0.1 ::1 10.0.0.1 192.168.1.9 fd00::1 169.254.1.1 fe80::1 100.64.0.9 192.0.2.1 2001:db8::1 198.18.0.1
  ::ffff:10.0.0.1
`)
/** Addresses hold 185.220.101.10: as NAT64 and a local translator write it, in 6to4, in Teredo, compatible with IPv4; and class E. */
const HOLDING = splitWords(`
  64:ff9b::b9dc:650a 64:ff9b:1::b9dc:650a 2002:b9dc:650a::1 2001:0:4136:e378::4623:9af5 ::b9dc:650a 240.0.0.1
  254.252.239.103 255.255.255.255
`)
const HEADLESS = CHROME_TEXT.replace('Chrome/', 'HeadlessChrome/')
const CLAIMS = [HEADLESS, ...splitWords('curl/8 Mozilla/5.0 GPTBot/1.2 Googlebot/2.1 Google-Extended img2dataset/1')]
const PROTECTING = compilePolicy({ preset: 'protect-content', rules: [] })
const strict = agentInspector({ policy: PROTECTING })
const makeClaim = (userAgent: string, ...more: readonly string[]) =>
  ['Host', 'example.com', 'User-Agent', userAgent].concat(more)

t.test('at a reserved address of the client’s own headers count for nothing', async (t) => {
  const wrong: string[] = []
  const asks = (peer: string, fields: readonly string[]): void => {
    const { action, inspection } = strict.decide(makeRequest(fields, { peer }))
    const { agent, crawler } = inspection
    if (action !== 'allow' || agent.class !== 'human' || agent.headless || crawler) wrong.push(`${peer} ${fields}`)
  }
  for (const peer of RESERVED) {
    for (const userAgent of CLAIMS) asks(peer, makeClaim(userAgent))
    asks(peer, makeFields(CHROME, { 'sec-ch-ua': '"HeadlessChrome";v="150", "Chromium";v="150"' }))
    asks(peer, makeFields(CHROME, { 'sec-ch-ua-platform': '"Linux"' }))
    asks(peer, [])
  }
  // A trusted proxy says that the client is inside.
  asks(PROXY, makeClaim(HEADLESS, 'X-Forwarded-For', '10.0.0.1', 'Via', '1.1 gate'))
  t.same(wrong, [])
  t.equal(strict.decide(makeRequest(makeClaim(HEADLESS))).action, 'block', 'elsewhere they do')
  const contradicting = makeFields(CHROME, { 'sec-ch-ua-platform': '"Linux"' })
  for (const peer of HOLDING) {
    const decided = strict.decide(makeRequest(makeClaim(HEADLESS), { peer }))
    t.match(decided, { action: 'block', inspection: { network: { reserved: { reserved: true } } } }, peer)
    t.equal(inspect(makeRequest(contradicting, { peer })).agent.basis, 'contradiction', peer)
  }
  const address = makeAddress('127.0.0.1')
  const described = { fields: makeClaim(HEADLESS), headersKnown: true }
  t.match(await strict.check(address, described), { action: 'allow', inspection: { agent: { class: 'human' } } })
  const seen = await strict.check(address, { ...described, headlessFlags: ['webdriver'] })
  t.equal(seen.action, 'block', 'what the caller saw itself is no header')
})

t.test('a proxy that nobody named is no way round: its clients are not inside', async (t) => {
  const wrong: string[] = []
  const blocks = (peer: string, ...more: readonly string[]): void => {
    for (const userAgent of [HEADLESS, 'GPTBot/1.2']) {
      const { action } = strict.decide(makeRequest(makeClaim(userAgent, ...more), { peer }))
      if (action !== 'block') wrong.push(`${peer} ${userAgent} ${more}`)
    }
  }
  for (const peer of RESERVED)
    for (const name of [...FORWARDING_HEADERS, 'Via', 'X-Forwarded-Proto']) blocks(peer, name, '8.1.1.1')
  t.same(wrong, [])

  // Nor is a header of a trusted proxy that cannot be read.
  for (const header of ['client-ip', 'x-forwarded-for', 'my-client']) {
    const trust = parseTrust(['loopback', 'private'], header)
    const { decide } = agentInspector({ policy: PROTECTING, trust })
    for (const value of ['garbage', '', '8.1.1.1, garbage', 'garbage, 10.0.0.1', '8.1.1.1:99999']) {
      const fields = makeClaim(HEADLESS, header, value)
      t.equal(decide(makeRequest(fields, { peer: '127.0.0.1' })).action, 'block', `${header}: ${value}`)
    }
  }
})

t.test('a described request is judged on its description, and without data on the request', async (t) => {
  const address = makeAddress(HOME)
  const checkFields = (fields: readonly string[], headersKnown: boolean) => check(address, { fields, headersKnown })
  const unseen = await checkFields(['user-agent', CHROME_TEXT], false)
  t.match(unseen.inspection.agent, { class: 'human', basis: 'none' })
  t.notOk('headerConsistency' in unseen.inspection.agent, 'without headers it cannot be said')
  const seen = await checkFields(makeFields(CHROME), true)
  t.match(seen.inspection.agent, { class: 'human', headerConsistency: 1 })
  const flagged = await check(address, { fields: makeFields(CHROME), headersKnown: true, headlessFlags: ['webdriver'] })
  t.match(flagged, { action: 'flag', inspection: { agent: { headless: true, reasons: [{ text: /webdriver/ }] } } })
  const bare = agentInspector({ snapshots: makeSnapshots() })
  t.match(bare.inspect(makeRequest(makeFields(CHROME))).agent, { class: 'human', basis: 'none' })
  t.match(bare.inspect(makeRequest(['User-Agent', 'curl/8'])).agent, { class: 'unverified_bot' })
})

t.test('no text of a header breaks or slows a verdict', async (t) => {
  const texts = [
    ...['x'.repeat(16_384), '(compatible; '.repeat(1300), 'Chrome/'.repeat(2000), 'é'.repeat(5000)],
    ...['\u0000\u0001\u007f\t', '__proto__', 'constructor', '"Chromium";v="'],
  ]
  for (const text of texts) {
    const fields = Object.keys(CHROME).flatMap((name) => [name, text])
    t.type(decide(makeRequest(fields, { ja4: text })).action, 'string')
    t.type(decide(makeRequest([...fields, ...fields, text])).action, 'string')
  }
})
