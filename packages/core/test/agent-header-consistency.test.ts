import t from 'tap'
import type { SignalId } from '../src/agent/signals.ts'
import { compilePolicy, type InspectionRequest } from '../src/index.ts'
import {
  agentInspector,
  CHROME,
  CHROME_TEXT,
  FIREFOX,
  FIREFOX_TEXT,
  HOME,
  makeFields,
  makeRequest,
  PROXY,
  RACK,
  SAFARI_TEXT,
  SCHOOL,
} from './agents.ts'

const { inspect } = agentInspector()

function against(request: InspectionRequest): readonly string[] {
  return inspect(request)
    .agent.reasons.filter(({ weight = 0 }) => weight > 0)
    .map(({ id }) => id)
}

type Changes = Readonly<Record<string, string | undefined>>

const PHONE_TEXT =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Mobile Safari/537.36'
const NO_FETCH = { 'Sec-Fetch-Site': undefined, 'Sec-Fetch-Mode': undefined, 'Sec-Fetch-Dest': undefined }
const NO_HINTS = { 'sec-ch-ua': undefined, 'sec-ch-ua-mobile': undefined, 'sec-ch-ua-platform': undefined }

t.test('a browser as it is has nothing against it', async (t) => {
  const bare = makeFields(CHROME, { ...NO_HINTS, ...NO_FETCH, 'Accept-Encoding': 'gzip, deflate' })
  const direct = [makeRequest(makeFields(CHROME)), makeRequest(makeFields(FIREFOX))]
  const proxied = makeRequest(makeFields(CHROME), { peer: PROXY })
  for (const request of [...direct, proxied, makeRequest(bare, { scheme: 'http' })])
    t.match(inspect(request).agent, { class: 'human', basis: 'none', headerConsistency: 1, headless: false })
})

type Row = readonly [id: SignalId, changes: Changes, overrides?: Partial<InspectionRequest>]

const ONE_CONTRADICTION: readonly Row[] = [
  ['chromium-version', { 'User-Agent': CHROME_TEXT.replace('150', '149') }],
  ['platform', { 'sec-ch-ua-platform': '"Linux"' }],
  ['foreign-hints', { 'User-Agent': FIREFOX_TEXT }],
  ['foreign-hints', { 'User-Agent': SAFARI_TEXT }],
  ['phone-hint', { 'User-Agent': PHONE_TEXT, 'sec-ch-ua-platform': '"Android"' }],
  ['partial-fetch-metadata', { 'Sec-Fetch-Site': undefined, 'Sec-Fetch-Dest': undefined }],
  ['impossible-fetch-metadata', { 'Sec-Fetch-Dest': 'image' }],
  ['document-accepts-anything', { Accept: '*/*' }],
  ['ja4-family', {}, { ja4: 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6' }],
  ['ja4-family', {}, { ja4: 't13d1717h2_5b57614c22b0_e6dcd7ae0a9e' }],
  ['ja4-family', {}, { ja4: 't13d151600_8daaf6152771_02713d6af862' }],
]

t.test('one contradiction is challenged at most beside two absences, and no JA4 blocks', async (t) => {
  const bare = { 'Accept-Language': undefined, 'Accept-Encoding': 'gzip' }
  const wrong: string[] = []
  for (const preset of ['low-friction', 'protect-content', 'agents-welcome', 'jurisdiction-strict'] as const) {
    const { decide } = agentInspector({ policy: compilePolicy({ preset, rules: [] }) })
    const expected = preset === 'protect-content' || preset === 'jurisdiction-strict' ? 'challenge' : 'flag'
    for (const [id, changes, overrides] of ONE_CONTRADICTION) {
      for (const more of [{}, bare]) {
        const request = makeRequest(makeFields(CHROME, { ...changes, ...more }), overrides)
        if (decide(request).action !== expected) wrong.push(`${preset} ${id} ${JSON.stringify(more)}`)
      }
    }
    const ja4 = 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6'
    const school = makeRequest(makeFields(CHROME, { 'sec-ch-ua-platform': '"Linux"' }), { peer: SCHOOL, ja4 })
    if (decide(school).action !== expected) wrong.push(`${preset} from behind a gateway`)
  }
  t.same(wrong, [])
})

t.test('each contradiction is named and makes a program of a browser', async (t) => {
  const found = ONE_CONTRADICTION.map(([, changes, overrides]) => {
    const request = makeRequest(makeFields(CHROME, changes), overrides)
    const { class: name, basis, headerConsistency = 1, confidence } = inspect(request).agent
    return [against(request), name, basis, headerConsistency < 0.7 && confidence >= 0.6]
  })
  const expected = ONE_CONTRADICTION.map(([id]) => [[id], 'unverified_bot', 'contradiction', true])
  t.same(found, expected)
})

t.test('two contradictions are nearly certain, and a network of servers excuses none', async (t) => {
  const once = { 'sec-ch-ua-platform': '"Linux"' }
  const twice = { ...once, 'User-Agent': CHROME_TEXT.replace('150', '138') }
  const confidence = (changes: Changes, peer: string) =>
    inspect(makeRequest(makeFields(CHROME, changes), { peer })).agent.confidence
  t.ok(confidence(once, HOME) < 0.9)
  t.ok(confidence(twice, HOME) >= 0.95)
  t.ok(confidence(once, RACK) >= confidence(once, HOME))
  const bare = { ...once, ...NO_FETCH, 'Accept-Language': undefined }
  t.ok(confidence(bare, RACK) > confidence(bare, HOME))
})

t.test('each absence is named and leaves a person a person', async (t) => {
  const rows: readonly Row[] = [
    ['no-client-hints', NO_HINTS],
    ['no-language', { 'Accept-Language': undefined }],
    ['no-language', { 'Accept-Language': '*' }],
    ['no-compression', { 'Accept-Encoding': 'gzip, deflate' }],
    ['no-compression', { 'Accept-Encoding': undefined }, { scheme: 'http' }],
    ['old-http', {}, { httpVersion: '1.0' }],
    ['ja4-inspected', {}, { peer: SCHOOL, ja4: 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6' }],
    // A network of no known type may be a company's own.
    ['ja4-inspected', {}, { peer: '8.77.1.1', ja4: 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6' }],
  ]
  const found = rows.map(([, changes, overrides]) => {
    const request = makeRequest(makeFields(CHROME, changes), overrides)
    return [against(request), inspect(request).agent.class]
  })
  const expected = rows.map(([id]) => [[id], 'human'])
  t.same(found, expected)
  const lowerCase = makeFields(CHROME).map((text, at) => (at % 2 === 0 ? text.toLowerCase() : text))
  t.same(against(makeRequest(lowerCase)), ['field-names'])
})

t.test('what one middlebox removes accuses nobody, and what a program leaves out does', async (t) => {
  const stripped = (peer: string) =>
    inspect(makeRequest(makeFields(CHROME, { ...NO_HINTS, ...NO_FETCH }), { peer })).agent
  t.match(stripped(HOME), { class: 'human', basis: 'none', botProbability: 0.62 })
  t.match(stripped(RACK), { class: 'human', basis: 'absence', botProbability: 0.92, confidence: 0.08 })
  const bare = makeRequest(['Host', 'example.com', 'User-Agent', CHROME_TEXT, 'Accept', '*/*'])
  t.match(inspect(bare).agent, { class: 'unverified_bot', basis: 'absence', botProbability: 0.99, confidence: 0.99 })
  for (const preset of ['low-friction', 'protect-content', 'jurisdiction-strict'] as const) {
    const { decide } = agentInspector({ policy: compilePolicy({ preset, rules: [] }) })
    t.equal(decide({ ...bare, method: 'POST' }).action, 'flag', `${preset}, a form or a webhook`)
  }
})

t.test('an unavailable field is not missing', async (t) => {
  const plain = { ...NO_HINTS, ...NO_FETCH, 'Accept-Encoding': 'gzip, deflate' }
  t.same(against(makeRequest(makeFields(CHROME, plain), { scheme: 'http' })), [], 'plain http has no hints')
  t.same(against(makeRequest(makeFields(CHROME, plain), { scheme: 'unknown' })), [], 'who knows the scheme')
  const between = { ...plain, 'X-Forwarded-For': HOME }
  t.same(against(makeRequest(makeFields(CHROME, between))), [], 'TLS to us says nothing of the visitor behind a proxy')
  const told = { ...between, 'X-Forwarded-Proto': 'https' }
  t.same(against(makeRequest(makeFields(CHROME, told))), [], 'a proxy that is not trusted says nothing')
  const missing = ['no-client-hints', 'no-fetch-metadata', 'no-compression']
  t.same(against(makeRequest(makeFields(CHROME, told), { peer: PROXY })), missing)
  const behind = makeFields(CHROME, { 'X-Forwarded-For': HOME })
  const renamed = behind.map((text, at) => (at % 2 ? text : text.toLowerCase()))
  t.same(against(makeRequest(renamed, { peer: PROXY, httpVersion: '1.0' })), [], 'a proxy rewrites names and versions')
  const firefox = makeFields(FIREFOX, NO_FETCH)
  t.same(against(makeRequest(firefox)), ['no-fetch-metadata'])
})

t.test('an application under the name of a WebView fetches by libraries that write little', async (t) => {
  const text = CHROME_TEXT.replace('Windows NT 10.0; Win64; x64', 'Linux; Android 14; K; wv')
  t.same(against(makeRequest(makeFields(CHROME, { ...NO_HINTS, 'User-Agent': text, 'Accept-Encoding': 'gzip' }))), [])
  const library = makeRequest(['Host', 'a.example', 'User-Agent', text, 'Accept-Encoding', 'gzip'])
  t.same(against(library), ['no-fetch-metadata-of-application', 'no-language', 'accepts-anything'])
  t.match(inspect(library).agent, { class: 'human', basis: 'none' })
  t.match(inspect({ ...library, peer: RACK }).agent, { class: 'human', basis: 'absence' })
})

t.test('what was copied in part supports nothing, and leaves a whole browser in doubt at most', async (t) => {
  const look = (changes: Changes, peer = HOME) => inspect(makeRequest(makeFields(CHROME, changes), { peer })).agent
  const noWish = { 'Upgrade-Insecure-Requests': undefined }
  for (const changes of [NO_FETCH, noWish]) {
    t.match(look(changes), { class: 'human', basis: 'none' }, 'a middlebox removes one of them')
    const ids = look(changes).reasons.map(({ id }) => id)
    t.ok(ids.includes('half-copied'))
    t.notOk(ids.includes('hints-agree') || ids.includes('fetch-metadata-agrees'))
  }
  for (const missing of [NO_FETCH, NO_HINTS]) {
    t.match(look({ ...missing, ...noWish }), { class: 'human', basis: 'absence' }, 'what is left of a copy')
    t.match(look({ ...missing, ...noWish }, RACK), { class: 'unverified_bot', basis: 'absence' }, 'from servers')
  }
  t.notOk(against(makeRequest(makeFields(CHROME, { ...NO_HINTS, ...NO_FETCH }))).includes('half-copied'))
  const sent = { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-User': undefined, 'Sec-Fetch-Dest': 'empty' }
  const part = { ...noWish, Accept: '*/*', ...sent }
  t.same(against(makeRequest(makeFields(CHROME, part))), [], 'a script wishes nothing')
  const bare = { ...noWish, Accept: undefined }
  t.same(against(makeRequest(makeFields(CHROME, bare))), ['accepts-anything', 'no-upgrade-wish', 'half-copied'])
})

t.test('sub-resources, prefetches and upgrades are asked for in other ways', async (t) => {
  const sent = { 'Sec-Fetch-User': undefined, 'Sec-Fetch-Dest': 'script', 'Sec-Fetch-Mode': 'no-cors' }
  const script = { ...sent, Accept: '*/*', Referer: 'https://example.com/', 'Sec-Fetch-Site': 'same-origin' }
  t.same(against(makeRequest(makeFields(CHROME, script))), [])
  t.same(against(makeRequest(makeFields(CHROME, { Accept: '*/*', 'Sec-Purpose': 'prefetch' }))), [])
  const upgrade = { Upgrade: 'websocket', Accept: undefined, 'Accept-Encoding': undefined, ...NO_FETCH }
  t.same(against(makeRequest(makeFields(CHROME, upgrade), { scheme: 'http' })), [])
})

t.test('over HTTP/2 the order of the pseudo-headers and the window are the browser’s', async (t) => {
  const sent = (order: string, headers: Readonly<Record<string, string>>, http2Window?: number) => {
    const names = { m: ':method', a: ':authority', s: ':scheme', p: ':path' }
    const pseudo = [...order].flatMap((letter) => [names[letter as keyof typeof names], 'x'])
    return against(makeRequest([...pseudo, ...makeFields(headers)], { httpVersion: '2.0', http2Window }))
  }
  t.same(sent('masp', CHROME), [])
  t.same(sent('mpsa', CHROME), ['h2-order'])
  t.same(sent('masp', FIREFOX), ['h2-order'])
  t.same(sent('masp', CHROME, 6_291_456), [])
  t.same(sent('mpas', FIREFOX, 131_072), [])
  t.same(sent('mpas', FIREFOX, 32_768), [], 'a small device')
  t.same(sent('masp', CHROME, 65_535), ['h2-settings'])
  t.same(sent('mpas', FIREFOX, 6_291_456), ['h2-settings'])
  t.same(sent('mpsa', CHROME, 65_535), ['h2-order'], 'one cause counts once')
  t.same(sent('', CHROME, 65_535), [], 'a host that hides the names')
})

t.test('client hints that say nothing contradict nothing', async (t) => {
  for (const changes of [
    { 'sec-ch-ua-platform': '""' },
    { 'sec-ch-ua-platform': '"Unknown"' },
    { 'sec-ch-ua': '"Google Chrome";v="151"' },
    { 'sec-ch-ua': '' },
    { 'sec-ch-ua': '"Chromium";v="99', 'User-Agent': CHROME_TEXT.replace('Chrome/150.0.0.0', 'Chrome/x') },
  ])
    t.same(against(makeRequest(makeFields(CHROME, changes))), [], JSON.stringify(changes))
})

const SILENT = 't13d291200_723694b0fccc_5671b5df5029'
const webKit = (system: string, behind: string) =>
  `Mozilla/5.0 (${system}) AppleWebKit/605.1.15 (KHTML, like Gecko) ${behind}`
const ofMac = (version: string) => webKit('Macintosh; Intel Mac OS X 10_10_5', `Version/${version} Safari/605.1.15`)
const firefox = (version: string) => `Mozilla/5.0 (Windows NT 5.1; rv:${version}) Gecko/20100101 Firefox/${version}`
const chrome = (version: string) => CHROME_TEXT.replace('150.0.0.0', version)

t.test('TLS without a protocol is held against browsers since they have one', async (t) => {
  const found = (text: string) => {
    const ids = against(makeRequest(makeFields(FIREFOX, { 'User-Agent': text }), { ja4: SILENT }))
    return ids.filter((id) => id === 'ja4-family')
  }
  const phone = webKit('iPhone; CPU iPhone OS 8_4 like Mac OS X', 'Version/8.0 Mobile/12H143 Safari/600.1.4')
  for (const old of [chrome('37.0.2062.124'), firefox('33.0'), ofMac('10.1.2'), phone]) t.same(found(old), [], old)
  for (const since of [chrome('38.0.2125.101'), firefox('34.0'), ofMac('11.0')])
    t.same(found(since), ['ja4-family'], since)
})

t.test('TLS and HTTP/2 are held against Safari of Apple’s systems, and not against applications', async (t) => {
  const pseudo = [':method', 'GET', ':path', '/', ':authority', 'example.com', ':scheme', 'https']
  const found = (text: string) => {
    const http2 = makeRequest([...pseudo, ...makeFields(FIREFOX, { 'User-Agent': text })], { httpVersion: '2.0' })
    const kinds = [SILENT, 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6', 't13d1516h2_8daaf6152771_02713d6af862']
    const http1 = kinds.map((ja4) => makeRequest(makeFields(FIREFOX, { 'User-Agent': text }), { ja4 }))
    return [...http1, http2].flatMap(against).filter((id) => /^(?:ja4|h2)-/.test(id))
  }
  const system = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
  const safari = `${system} Version/18.5 Mobile/15E148 Safari/604.1`
  const all = ['ja4-family', 'ja4-family', 'ja4-family', 'h2-order']
  for (const text of [SAFARI_TEXT, safari]) t.same(found(text), all, text)
  for (const text of [
    `${system} CriOS/150.0.0.0 Mobile/15E148 Safari/604.1`,
    `${system} FxiOS/150.0 Mobile/15E148 Safari/604.1`,
    `${system} Version/18.5 EdgiOS/150.0 Mobile/15E148 Safari/604.1`,
    `${safari} Shop/3.4`,
    `${system} Version/18.5 Mobile/15E148 Snapchat/13.1 (like Safari/604.1)`,
    `${system} Mobile/15E148 [FBAN/FBIOS;FBAV/440.0]`,
    safari.replace('iPhone;', 'iPad;').replace('Version/18.5', 'GSA/400.0'),
    'Shop/3.4 CFNetwork/1494.0.7 Darwin/23.4.0',
    webKit('X11; Linux x86_64', 'Version/16.0 Safari/605.1.15'),
    webKit('BB10; Touch', 'Version/10.3.3.2205 Mobile Safari/537.35+'),
    webKit('Symbian/3; Series60/5.3 NokiaN8-00/111.040.1511', 'Version/3.0 NokiaBrowser/8.3.1.4 Mobile Safari/535.1'),
  ])
    t.same(found(text), [], text)
  const linux = { 'User-Agent': webKit('X11; Linux x86_64', 'Version/16.0 Safari/605.1.15') }
  t.same(against(makeRequest(makeFields(CHROME, linux))), ['foreign-hints'], 'it never sends them')
})
