import t from 'tap'
import { type AnswerStatus, type InspectionRequest, type Policy, type Rule, refuses } from '../../src/index.ts'
import { CHROME, makeFields, makeRequest, RACK } from '../agents.ts'
import { openGate } from './gate.ts'

const LIMIT = { key: 'client', max: 3, window: '1h', count: 'page' } as const
const PAGES: Rule = { id: 'pages', match: {}, limit: LIMIT, action: 'throttle' }

const FIELDS: readonly string[] = makeFields(CHROME)
const NOTHING: (at: number) => Partial<InspectionRequest> = () => ({})

function createGate(policy: Partial<Policy>) {
  const gate = openGate(policy)

  async function ask(request: Partial<InspectionRequest>, fields = FIELDS) {
    const { decision, ended } = await gate.ask(makeRequest(fields, request))
    return { decision, ended, passes: !refuses(decision.action) }
  }

  /** How many of so many requests pass, each answered before the next one. */
  async function passed(times: number, status: AnswerStatus, contentType?: string, request = NOTHING, fields = FIELDS) {
    let sum = 0
    for (let at = 0; at < times; at++) {
      const { passes, ended } = await ask(request(at), fields)
      if (passes) sum++
      ended?.(passes ? status : undefined, undefined, contentType)
    }
    return sum
  }
  return { ask, passed }
}

t.test('pages count, and no error, redirect, empty answer or other content', async (t) => {
  const { passed } = createGate({ rules: [PAGES] })
  for (const type of ['application/json', 'image/png', 'text/css; charset=utf-8', 'text/event-stream'])
    t.equal(await passed(9, 200, type), 9, type)
  for (const status of [301, 403, 404, 500, undefined]) t.equal(await passed(9, status, 'text/html'), 9, `${status}`)
  for (const status of [204, 304]) t.equal(await passed(9, status), 9, `${status}`)
  const pages = ['TEXT/HTML;charset=utf-8', ' application/xhtml+xml', 'application/vnd.wap.xhtml+xml', 'text/markdown']
  for (const type of [...pages, '', undefined])
    t.equal(await createGate({ rules: [PAGES] }).passed(9, 200, type), 3, `${type}`)
})

t.test('no word of a request moves it to a wider count', async (t) => {
  const words: Readonly<Record<string, (at: number) => Partial<InspectionRequest>>> = {
    'a method': (at) => ({ method: ['POST', 'OPTIONS', 'QUERY'][at % 3] ?? '' }),
    'the name of a file': (at) => ({ target: `/viewtopic.php/${at}.css?t=${at}` }),
    'another file': (at) => ({ target: `/${at}.png` }),
  }
  for (const [name, request] of Object.entries(words))
    t.equal(await createGate({ rules: [PAGES] }).passed(200, 200, 'text/html', request), 3, name)
  const asked: Rule = { ...PAGES, action: 'challenge', challenge: { level: 2 } }
  const preflight = ['Host', 'a.example', 'Origin', 'https://b.example', 'Access-Control-Request-Method', 'GET']
  const { passed } = createGate({ rules: [asked] })
  t.equal(await passed(200, 200, 'text/html', () => ({ method: 'OPTIONS' }), preflight), 3, 'a preflight')
  const sent = { 'Sec-Fetch-Dest': 'image', 'Sec-Fetch-Mode': 'cors' }
  const said = { 'X-Requested-With': 'XMLHttpRequest', Accept: '*/*', ...sent }
  for (const [name, value] of Object.entries(said)) {
    const { passed } = createGate({ rules: [PAGES] })
    t.equal(await passed(200, 200, 'text/html', undefined, makeFields(CHROME, { [name]: value })), 3, name)
  }
})

t.test('each request in flight counts until its answer is known, but for files, which load together', async (t) => {
  const { ask, passed } = createGate({ rules: [PAGES] })
  const burst = await Promise.all(Array.from({ length: 200 }, () => ask({})))
  t.equal(burst.filter(({ passes }) => passes).length, 3)
  t.match(burst[2]?.decision.limits, [{ used: 2, max: 3, counts: 'page', exceeded: false }])
  const files = await Promise.all(Array.from({ length: 90 }, (_, at) => ask({ target: `/${at}.woff2` })))
  t.equal(files.filter(({ passes }) => passes).length, 90)
  t.match(files[0]?.decision.limits, [{ used: 0, max: 3, counts: 'page' }])
  for (const { ended } of burst) ended?.(200, undefined, 'application/json')
  for (const { ended } of files) ended?.(200, undefined, 'font/woff2')
  t.equal(await passed(9, 200, 'text/html'), 3, 'nothing is left of them')
  t.equal(await passed(50, 200, 'text/css', (at) => ({ target: `/${at}.css` })), 50, 'the last page has its styles')
})

t.test('where nobody sees the answer, every request counts that does not end in the extension of a file', async (t) => {
  const { passed } = createGate({ rules: [PAGES] })
  t.equal(await passed(20, 'unseen', undefined, () => ({ target: '/a/logo.svg?v=3' })), 20)
  t.equal(await passed(20, 'unseen', undefined, () => ({ target: '/list?x=.css' })), 3)
  for (const target of ['/list;.css', '/a.css/..', '/x.css%2f..%2flist'])
    t.equal(await createGate({ rules: [PAGES] }).passed(20, 'unseen', undefined, () => ({ target })), 3, target)
})

t.test('presets: one pass, one server, one feed address do not read a site', async (t) => {
  const pass = { id: 'aaaaaaaaaaa', level: 2, age: 60 } as const
  const page = { 'Upgrade-Insecure-Requests': undefined, 'Sec-Fetch-User': undefined }
  const fetched = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' }
  const xhr = makeFields(CHROME, { ...page, ...fetched, Accept: '*/*' })
  for (const preset of ['protect-content', 'jurisdiction-strict', 'stop-scrapers', 'under-attack'] as const) {
    for (const method of ['GET', 'POST']) {
      const byOne = () => ({ pass, method, peer: RACK })
      const read = await createGate({ preset }).passed(5_000, 200, 'text/html', byOne, xhr)
      t.ok(read <= 120, `${preset}: ${read} of 5,000 pages by ${method}`)
    }
    const held = () => ({ pass, peer: RACK })
    const objects = await createGate({ preset }).passed(9_000, 200, 'application/json', held, xhr)
    t.ok(objects <= 6_000, `${preset}: ${objects} of 9,000 other answers`)
  }
  const stopping = createGate({ preset: 'stop-scrapers' })
  const read = await stopping.passed(1_000, 200, 'text/html', () => ({ peer: RACK }), xhr)
  t.equal(read, 60, 'of 1,000 pages')
  const person = createGate({ preset: 'under-attack' })
  for (let page = 0; page < 60; page++) {
    t.equal(await person.passed(1, 200, 'text/html', () => ({ pass, peer: RACK })), 1)
    const files = await person.passed(60, 200, 'image/webp', (at) => ({ pass, peer: RACK, target: `/${at}.webp` }), xhr)
    t.equal(files, 60)
  }
  for (const preset of ['stop-scrapers', 'under-attack'] as const) {
    const feed = (at: number) => ({ target: '/anything/feed/', peer: RACK.replace(/\d+$/, `${at % 200}`) })
    const library = ['Host', 'a.example', 'User-Agent', 'Python/3.11 aiohttp/3.9.1']
    t.equal(await createGate({ preset }).passed(2_000, 200, 'application/rss+xml', feed, library), 240, 'of a /24')
    const named = ['Host', 'a.example', 'User-Agent', 'my-status-checker/1.0']
    t.equal(await createGate({ preset }).passed(2_000, 200, 'text/html', (at) => ({ peer: feed(at).peer }), named), 240)
  }
})

t.test('libraries that name themselves are blocked on servers, applications are not', async (t) => {
  const libraries = [
    'Python/3.11 aiohttp/3.9.1',
    'got/9.6.0 (https://github.com/sindresorhus/got)',
    'Mechanize/2.9.1 Ruby/3.2.2p53 (http://github.com/sparklemotion/mechanize/)',
    'PycURL/7.45.2 libcurl/8.5.0 OpenSSL/3.0.11',
    'rest-client/2.1.0 (linux x86_64) ruby/3.2.2p53',
    'colly - https://github.com/gocolly/colly/v2',
    'Symfony HttpClient (Curl)',
  ]
  for (const userAgent of libraries) {
    const { decision } = await createGate({ preset: 'stop-scrapers' }).ask({ peer: RACK }, ['User-Agent', userAgent])
    t.equal(decision.reasons[0]?.id, 'policy:server-libraries', userAgent)
  }
  for (const userAgent of ['okhttp/4.12.0', 'Dart/3.4 (dart:io)', 'Gotham/2.1 (iPhone; iOS 18.5)']) {
    const { passes } = await createGate({ preset: 'stop-scrapers' }).ask({ peer: RACK }, ['User-Agent', userAgent])
    t.ok(passes, userAgent)
  }
})
