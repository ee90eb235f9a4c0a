import t from 'tap'
import { agentInspector, CHROME, CHROME_TEXT, FIREFOX, makeFields, makeRequest, RACK, SAFARI_TEXT } from './agents.ts'
import { readShared, skipWithout, splitWords } from './support.ts'

const { inspect, decide } = agentInspector()

/** A browser sends these fields of a request: site, mode, destination, and the user where a person clicked. */
type Sent = readonly [site: string, mode: string, destination: string, user?: string | undefined]

function makeFetch([site, mode, destination, user]: Sent, more: Readonly<Record<string, string | undefined>> = {}) {
  return makeFields(CHROME, {
    'Sec-Fetch-Site': site,
    'Sec-Fetch-Mode': mode,
    'Sec-Fetch-Dest': destination,
    'Sec-Fetch-User': user,
    ...more,
  })
}

const POSSIBLE: readonly (readonly [what: string, sent: Sent, more?: Readonly<Record<string, string>>])[] = [
  ['an address that was typed', ['none', 'navigate', 'document', '?1']],
  ['a link, through a service worker', ['same-origin', 'navigate', 'empty']],
  ['a reload, through a service worker', ['none', 'navigate', 'empty']],
  ['a page that a service worker asks for in other words', ['same-origin', 'same-origin', 'empty']],
  ['a frame in a draft of 2019', ['same-site', 'nested-navigate', 'iframe']],
  ['a download by <a download>', ['same-origin', 'navigate', 'empty', '?1']],
  ['chrome.downloads', ['none', 'no-cors', 'empty'], { Accept: '*/*' }],
  ['an extension that may read the site', ['none', 'cors', 'empty'], { Accept: '*/*' }],
  ['an icon', ['same-origin', 'no-cors', 'image'], { Accept: 'image/avif,*/*' }],
  ['a worker', ['same-origin', 'same-origin', 'worker'], { Accept: '*/*' }],
  ['an object with a picture', ['same-origin', 'no-cors', 'object'], { Accept: '*/*' }],
  ['an account of a site that signs people in', ['cross-site', 'cors', 'webidentity'], { Accept: 'application/json' }],
  ['a report', ['cross-site', 'no-cors', 'report'], { Accept: '*/*' }],
  ['a destination that nobody knows yet', ['same-origin', 'navigate', 'hologram']],
  ['a mode that nobody knows yet', ['same-origin', 'teleport', 'image']],
]

t.test('what the Fetch standard allows is a person’s', async (t) => {
  for (const [what, sent, more] of POSSIBLE) {
    const agent = { class: 'human', basis: 'none', headerConsistency: 1 }
    t.match(decide(makeRequest(makeFetch(sent, more))), { action: 'allow', inspection: { agent } }, what)
  }
  const posted = makeRequest(makeFetch(['same-origin', 'navigate', 'empty']), { method: 'POST' })
  t.match(inspect(posted).agent, { class: 'human', headerConsistency: 1 }, 'a form, through a service worker')
  const server = makeRequest(makeFetch(['same-origin', 'navigate', 'empty'], { Cookie: 'a=b' }), { peer: RACK })
  t.equal(inspect(server).agent.class, 'human')
})

t.test('what it does not allow is a contradiction', async (t) => {
  const impossible = splitWords(`
    none/cors/document same-origin/no-cors/iframe same-origin/navigate/image same-origin/navigate/script
    cross-site/navigate/webidentity same-origin/websocket/document same-origin/cors/empty/?1 none/navigate/document/?0
    none/navigate/document/1
  `)
  const found = { class: 'unverified_bot', basis: 'contradiction', reasons: [{ id: 'impossible-fetch-metadata' }] }
  for (const text of impossible) {
    const [site = '', mode = '', destination = '', user] = text.split('/')
    t.match(inspect(makeRequest(makeFetch([site, mode, destination, user]))).agent, found, text)
  }
})

const HANDSHAKE = {
  Host: 'zoo.example',
  Connection: 'Upgrade',
  Pragma: 'no-cache',
  'User-Agent': CHROME_TEXT,
  Upgrade: 'websocket',
  Origin: 'https://zoo.example',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
}

t.test('a WebSocket’s handshake lacks nothing that browsers leave out of it', async (t) => {
  const bare = inspect(makeRequest(makeFields(HANDSHAKE)))
  t.match(bare.agent, { class: 'human', basis: 'none', headerConsistency: 1 })
  t.same(bare.agent.reasons, [])
  const { Host, ...others } = HANDSHAKE
  const older = { ...others, Host }
  t.same(inspect(makeRequest(makeFields(older))).agent.reasons, [], 'one whose first field is not Host')
  const silent = 't13d151400_8daaf6152771_02713d6af862'
  t.same(inspect(makeRequest(makeFields(HANDSHAKE), { ja4: silent })).agent.reasons, [], 'TLS without a protocol')
  const connect = makeFields({ 'User-Agent': CHROME_TEXT, Origin: 'https://zoo.example' })
  t.same(inspect(makeRequest(connect, { method: 'CONNECT', httpVersion: '2.0' })).agent.reasons, [], 'over HTTP/2')
})

t.test('an upgrade to something else excuses nothing, and a handshake no contradiction', async (t) => {
  const ids = (fields: Readonly<Record<string, string>>, ja4?: string) =>
    inspect(makeRequest(makeFields(fields), { ja4 })).agent.reasons.map(({ id }) => id)
  t.ok(ids({ ...HANDSHAKE, Upgrade: 'h2c' }).includes('no-client-hints'))
  t.ok(ids(HANDSHAKE, 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6').includes('ja4-family'))
  t.ok(ids({ ...HANDSHAKE, 'sec-ch-ua': '"Chromium";v="99"' }).includes('chromium-version'))
})

t.test('players and parts are asked for in no language', async (t) => {
  const speechless = { 'Accept-Language': undefined, 'Sec-Fetch-User': undefined }
  const ids = (more: Readonly<Record<string, string | undefined>>) =>
    inspect(makeRequest(makeFields(CHROME, { ...speechless, ...more }))).agent.reasons.map(({ id }) => id)
  t.ok(ids({}).includes('no-language'))
  for (const more of [
    { Range: 'bytes=0-' },
    { Accept: 'video/webm,video/ogg,*/*;q=0.5' },
    { 'Sec-Fetch-Dest': 'audio', 'Sec-Fetch-Mode': 'no-cors', Accept: '*/*' },
    { 'Sec-Fetch-Dest': 'video', 'Sec-Fetch-Mode': 'cors', Accept: '*/*' },
  ])
    t.notOk(ids(more).includes('no-language'), JSON.stringify(more))
  const player = makeRequest(makeFields(FIREFOX, { 'Accept-Language': undefined, Range: 'bytes=1024-' }))
  t.match(inspect(player).agent, { class: 'human', headerConsistency: 1 })
  const bare = ['Host', 'a.example', 'User-Agent', SAFARI_TEXT, 'Range', 'bytes=0-']
  const lacking = inspect(makeRequest(bare)).agent
  t.match(lacking, { class: 'human', reasons: [{ id: 'no-fetch-metadata' }] }, 'a player that writes nothing else')
  t.equal(lacking.reasons.length, 1)
})

t.test('parts of a browser that leave most fields out accuse nobody', async (t) => {
  const phone = CHROME_TEXT.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 10; K')
  const from = (fields: readonly string[], method = 'GET', target = '/') =>
    inspect(makeRequest(['Host', 'a.example', ...fields], { method, target })).agent
  const report = ['User-Agent', CHROME_TEXT, 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate, br, zstd']
  const reporting = [...report, 'Content-Type', 'application/reports+json']
  t.match(from(reporting, 'POST'), { class: 'human', basis: 'none' }, 'a report about the network')
  t.not(from(reporting).basis, 'none', 'and no page is asked for so')
  const handed = ['User-Agent', phone, 'Accept-Encoding', 'gzip']
  for (const target of ['/film/index.m3u8', '/film/1.ts?x=1', '/report.pdf'])
    t.match(from(handed, 'GET', target), { class: 'human', basis: 'none' }, target)
  t.equal(from(handed, 'GET', '/film').class, 'unverified_bot')
  const preflight = { 'Access-Control-Request-Method': 'GET', Origin: 'http://b.example', 'Sec-Fetch-Mode': 'cors' }
  const http = makeRequest(makeFields({ Host: 'a', 'User-Agent': CHROME_TEXT, Accept: '*/*', ...preflight }), {
    method: 'OPTIONS',
    scheme: 'http',
  })
  t.match(inspect(http).agent, { class: 'human', basis: 'none' }, 'Chromium’s preflight over http')
  t.match(inspect({ ...http, method: 'GET' }).agent, { basis: 'contradiction' })
})

t.test('requests of people that were reported elsewhere are people’s', { skip: skipWithout('cases') }, async (t) => {
  for (const file of splitWords(`
    k04-service-worker-navigation k05-extension-fetch clients/1-service-worker-navigation clients/3-extension-fetch
    clients/4-websocket-of-an-older-chrome
  `)) {
    const { headers, 'user-agent': userAgent } = JSON.parse(readShared(`cases/${file}.json`))
    const lines: readonly string[] = Array.isArray(headers) ? [`User-Agent: ${userAgent}`, ...headers] : []
    const fields = Array.isArray(headers)
      ? lines.flatMap((line) => line.split(/: (.*)/).slice(0, 2))
      : Object.entries<string>(headers).flat()
    const decision = decide(makeRequest(fields, { httpVersion: '2.0' }))
    t.match(decision, { action: 'allow', inspection: { agent: { class: 'human', basis: 'none' } } }, file)
  }
})
