import { parsePrefix } from '@sallyport/core'
import { createCrawlerRanges } from '@sallyport/core/testing'
import t from 'tap'
import * as schemas from './schemas.ts'
import { ADDRESSES, createWire, SNAPSHOT } from './wire.ts'

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'
const HEADERS = {
  'User-Agent': CHROME,
  'sec-ch-ua': '"Chromium";v="150"',
  'sec-ch-ua-platform': '"Windows"',
  Accept: 'text/html',
  'Accept-Language': 'en',
  'Accept-Encoding': 'gzip, deflate, br',
}
const IP = ADDRESSES.residential_clean

async function check(body: unknown, wire = createWire()) {
  const key = await wire.keyFor('free')
  return wire.call('POST', '/v1/agentscan/check', { key, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

t.test('a browser, with every signal', async (t) => {
  const { status, json } = await check({
    ip: IP,
    request_id: 'r-1',
    headers: HEADERS,
    ja4: 't13d1516h2_8daaf6152771_02713d6af862',
  })
  t.equal(status, 200)
  t.match(json, {
    class: 'human',
    action: 'allow',
    signals: {
      network_origin: 'residential_clean',
      anonymized: false,
      headless: false,
      headless_flags: null,
      header_consistency: 1,
      ai_crawler: false,
      ai_ident: null,
      ai_vendor: null,
      allowlist_type: null,
      allowlist_verified: false,
      ja4: 't13d1516h2_8daaf6152771_02713d6af862',
      reasons: [{ id: 'hints-agree', weight: -1 }, {}],
    },
  })
  t.same(schemas.AgentscanCheckResponse.parse(json), json)
})

t.test('every class has its request', async (t) => {
  const rows: readonly (readonly [body: object, answer: object])[] = [
    [
      { ip: IP, user_agent: CHROME },
      { class: 'human', action: 'allow', signals: { header_consistency: null } },
    ],
    [
      { ip: IP, user_agent: 'Bytespider' },
      {
        class: 'ai_agent',
        signals: {
          ai_crawler: true,
          ai_ident: 'Bytespider',
          ai_vendor: 'ByteDance',
          allowlist_type: 'crawler',
          allowlist_verified: false,
        },
      },
    ],
    [
      { ip: IP, user_agent: 'Google-Extended' },
      { class: 'impostor', action: 'block' },
    ],
    [
      { ip: IP, user_agent: 'curl/8.5.0' },
      { class: 'unverified_bot', signals: { headless: false } },
    ],
    [
      { ip: IP, user_agent: CHROME, headless_flags: { webdriver: true, plugins: false } },
      {
        class: 'unverified_bot',
        action: 'flag',
        signals: { headless: true, headless_flags: { webdriver: true, plugins: false } },
      },
    ],
    [
      { ip: IP, user_agent: CHROME, headless_flags: {} },
      { class: 'human', signals: { headless: false, headless_flags: {} } },
    ],
    [
      { ip: IP, headers: { ...HEADERS, 'sec-ch-ua-platform': '"Linux"' } },
      { class: 'unverified_bot', action: 'flag' },
    ],
    [{ ip: IP, headers: HEADERS, user_agent: 'curl/8' }, { class: 'unverified_bot' }],
    [
      { ip: IP, headers: HEADERS, ja4: 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6' },
      { class: 'unverified_bot', action: 'flag' },
    ],
    [
      { ip: ADDRESSES.tor, user_agent: CHROME },
      { class: 'human', action: 'flag', signals: { network_origin: 'tor', anonymized: true } },
    ],
    [
      { ip: '127.0.0.1', headers: { ...HEADERS, 'sec-ch-ua-platform': '"Linux"' } },
      { class: 'human', action: 'allow' },
    ],
    [{ ip: IP }, { class: 'human', signals: { header_consistency: null } }],
  ]
  for (const [body, answer] of rows) {
    const { status, json } = await check(body)
    t.equal(status, 200)
    t.match(json, answer, JSON.stringify(body).slice(0, 100))
    t.same(schemas.AgentscanCheckResponse.parse(json), json)
  }
})

t.test('a verified crawler is one, and DNS is waited for', async (t) => {
  const prefixes = [parsePrefix('11.0.0.0/24')].filter((prefix) => prefix !== undefined)
  const ranges = createCrawlerRanges([{ slug: 'gptbot', state: 'fresh', date: '2026-02-09', prefixes }])
  const wire = () => createWire({ snapshots: { current: () => ({ ...SNAPSHOT, ...ranges }) } })
  t.match((await check({ ip: '11.0.0.1', user_agent: 'GPTBot/1.2' }, wire())).json, {
    class: 'verified_crawler',
    action: 'allow',
    signals: { ai_ident: 'GPTBot', ai_vendor: 'OpenAI', allowlist_type: 'crawler', allowlist_verified: true },
  })
  t.match((await check({ ip: '12.0.0.1', user_agent: 'GPTBot/1.2' }, wire())).json, {
    class: 'impostor',
    action: 'block',
  })
})

t.test('an error names the field', async (t) => {
  const rows: readonly (readonly [body: unknown, error: string, message: RegExp])[] = [
    [{}, 'invalid_request', /^ip: /],
    [{ ip: 'nonsense' }, 'invalid_ip', /address/],
    [{ ip: 7 }, 'invalid_request', /^ip: /],
    [{ ip: IP, user_agent: 7 }, 'invalid_request', /^user_agent: /],
    [{ ip: IP, headers: { accept: 7 } }, 'invalid_request', /^headers\.accept: /],
    [{ ip: IP, headers: [] }, 'invalid_request', /^headers: /],
    [{ ip: IP, headless_flags: { webdriver: 'yes' } }, 'invalid_request', /^headless_flags\.webdriver: /],
    [{ ip: IP, ja4: null }, 'invalid_request', /^ja4: /],
    ['['.repeat(200_000) + ']'.repeat(200_000), 'invalid_request', /nested deeper/],
    ['{"ip":', 'invalid_request', /JSON/],
    [
      { ip: IP, headers: Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`h${at}`, 'x'])) },
      'invalid_request',
      /more than 1000 keys/,
    ],
  ]
  for (const [body, error, message] of rows) {
    const { status, json } = await check(body)
    t.equal(status, 400)
    t.match(json, { error, message }, JSON.stringify(body).slice(0, 60))
  }
})

t.test('texts that nobody should send change nothing', async (t) => {
  for (const body of [
    { ip: IP, user_agent: 'x'.repeat(16_384) },
    { ip: IP, user_agent: '\u0000\u0007\u001b[31m' },
    { ip: IP, headers: { ...HEADERS, 'User-Agent': `${CHROME}${' '.repeat(16_384)}` } },
    { ip: IP, headers: { constructor: 'x', toString: 'y' } },
    { ip: IP, ja4: 'x'.repeat(4096), user_agent: CHROME },
  ]) {
    t.equal((await check(body)).status, 200, JSON.stringify(body).slice(0, 60))
  }
  const proto = await check(
    `{"ip":"${IP}","__proto__":{"user_agent":"curl/8"},"headers":{"__proto__":"x","User-Agent":"${CHROME}"}}`,
  )
  t.match(proto, { status: 200, json: { class: 'human' } })
})
