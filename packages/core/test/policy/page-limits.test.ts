import t from 'tap'
import { type AnswerStatus, createCounter } from '../../src/counting/counter.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import { createFakeCounts } from '../../src/testing/fakes.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { refuses } from '../../src/vocabulary.ts'
import { agentInspector, CHROME, makeFields, makeRequest, RACK } from '../agents.ts'

const PAGES: Rule = {
  id: 'pages',
  match: {},
  limit: { key: 'client', max: 3, window: '1h', count: 'page' },
  action: 'throttle',
}

function createGate(policy: Partial<Policy>) {
  const compiled = compilePolicy({ preset: 'observe', rules: [], ...policy })
  const inspector = agentInspector({ policy: compiled })
  const counts = createFakeCounts({ now: () => 1_800_000_000_000 })
  const counter = createCounter({ counts, flights: 'test' })

  async function ask(request: Partial<InspectionRequest>, fields = makeFields(CHROME)) {
    const asked = makeRequest(fields, request)
    const { decision, ended } = await counter.count(inspector.decide(asked), fields)
    return { decision, ended, passes: !refuses(decision.action) }
  }

  /** How many of so many requests pass, each answered before the next one. */
  async function passed(
    times: number,
    status: AnswerStatus,
    contentType?: string,
    request: (at: number) => Partial<InspectionRequest> = () => ({}),
    fields?: readonly string[],
  ) {
    let sum = 0
    for (let at = 0; at < times; at++) {
      const { passes, ended } = await ask(request(at), fields)
      if (passes) sum++
      ended?.(passes ? status : undefined, undefined, contentType)
    }
    return sum
  }
  return { ask, passed, counts }
}

t.test('pages count, and no error, redirect, empty answer or other content', async (t) => {
  const { passed } = createGate({ rules: [PAGES] })
  const none: readonly (readonly [AnswerStatus, string | undefined])[] = [
    [200, 'application/json'],
    [200, 'image/png'],
    [200, 'text/css; charset=utf-8'],
    [200, 'text/event-stream'],
    [301, 'text/html'],
    [304, undefined],
    [204, undefined],
    [403, 'text/html'],
    [404, 'text/html; charset=utf-8'],
    [500, 'text/html'],
    [undefined, 'text/html'],
  ]
  for (const [status, type] of none) t.equal(await passed(9, status, type), 9, `${status} ${type}`)
  for (const type of [
    'text/html',
    'TEXT/HTML;charset=utf-8',
    ' application/xhtml+xml',
    'application/vnd.wap.xhtml+xml',
    'text/markdown',
    '',
    undefined,
  ]) {
    t.equal(await createGate({ rules: [PAGES] }).passed(9, 200, type), 3, `${type}`)
  }
})

t.test('no word of a request moves it to a wider count', async (t) => {
  const words: Readonly<Record<string, (at: number) => Partial<InspectionRequest>>> = {
    'a method': (at) => ({ method: ['POST', 'OPTIONS', 'QUERY'][at % 3] ?? '' }),
    'the name of a file': (at) => ({ target: `/viewtopic.php/${at}.css?t=${at}` }),
    'another file': (at) => ({ target: `/${at}.png` }),
  }
  for (const [name, request] of Object.entries(words)) {
    t.equal(await createGate({ rules: [PAGES] }).passed(200, 200, 'text/html', request), 3, name)
  }
  const asked: Rule = { ...PAGES, action: 'challenge', challenge: { level: 2 } }
  const preflight = ['Host', 'a.example', 'Origin', 'https://b.example', 'Access-Control-Request-Method', 'GET']
  const preflights = createGate({ rules: [asked] }).passed(
    200,
    200,
    'text/html',
    () => ({ method: 'OPTIONS' }),
    preflight,
  )
  t.equal(await preflights, 3, 'a preflight')
  for (const [name, value] of [
    ['X-Requested-With', 'XMLHttpRequest'],
    ['Accept', '*/*'],
    ['Sec-Fetch-Dest', 'image'],
    ['Sec-Fetch-Mode', 'cors'],
  ] as const) {
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
  for (const target of ['/list;.css', '/a.css/..', '/x.css%2f..%2flist']) {
    t.equal(await createGate({ rules: [PAGES] }).passed(20, 'unseen', undefined, () => ({ target })), 3, target)
  }
})

t.test('presets: one pass, one server, one feed address do not read a site', async (t) => {
  const pass = { id: 'aaaaaaaaaaa', level: 2, age: 60 } as const
  const xhr = makeFields(CHROME, {
    Accept: '*/*',
    'Upgrade-Insecure-Requests': undefined,
    'Sec-Fetch-User': undefined,
    'Sec-Fetch-Site': 'same-origin',
    'Sec-Fetch-Mode': 'cors',
    'Sec-Fetch-Dest': 'empty',
  })
  for (const preset of ['protect-content', 'jurisdiction-strict', 'stop-scrapers', 'under-attack'] as const) {
    for (const method of ['GET', 'POST']) {
      const read = await createGate({ preset }).passed(
        5_000,
        200,
        'text/html',
        () => ({ pass, method, peer: RACK }),
        xhr,
      )
      t.ok(read <= 120, `${preset}: ${read} of 5,000 pages by ${method}`)
    }
    const objects = await createGate({ preset }).passed(
      9_000,
      200,
      'application/json',
      () => ({ pass, peer: RACK }),
      xhr,
    )
    t.ok(objects <= 6_000, `${preset}: ${objects} of 9,000 other answers`)
  }
  const read = await createGate({ preset: 'stop-scrapers' }).passed(
    1_000,
    200,
    'text/html',
    () => ({ peer: RACK }),
    xhr,
  )
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
    'got (https://github.com/sindresorhus/got)',
    'got/9.6.0 (https://github.com/sindresorhus/got)',
    'Needle/3.3.1 (Node.js v20.11.0; linux x64)',
    'node-superagent/8.1.2',
    'HTTPie/3.2.2',
    'Mechanize/2.9.1 Ruby/3.2.2p53 (http://github.com/sparklemotion/mechanize/)',
    'WWW-Mechanize/2.17',
    'Faraday v2.9.0',
    'RestSharp/110.2.0.0',
    'reqwest/0.11.24',
    'libcurl-agent/1.0',
    'PycURL/7.45.2 libcurl/8.5.0 OpenSSL/3.0.11',
    'Typhoeus - https://github.com/typhoeus/typhoeus',
    'rest-client/2.1.0 (linux x86_64) ruby/3.2.2p53',
    'Java-http-client/17.0.9',
    'go-resty/2.11.0 (https://github.com/go-resty/resty)',
    'colly - https://github.com/gocolly/colly/v2',
    'Python-httplib2/0.22.0 (gzip)',
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
