import { parsePrefix } from '@sallyport/core'
import { createCrawlerRanges } from '@sallyport/core/testing'
import t from 'tap'
import { AgentscanCheckResponse } from '../../src/api/schemas/agents.ts'
import { ADDRESSES, callKeyed, createWire, SNAPSHOT } from './wire.ts'

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
const LINUX = { ...HEADERS, 'sec-ch-ua-platform': '"Linux"' }
const JA4 = 't13d1516h2_8daaf6152771_02713d6af862'
const IP = ADDRESSES.residential_clean

/** Checks a request; a text is sent as it is, and members are those beside the address of a home. */
function check(body: string | object, wire = createWire()) {
  const text = typeof body === 'string' ? body : JSON.stringify({ ip: IP, ...body })
  return callKeyed('POST', '/v1/agentscan/check', text, wire)
}

t.test('every class has its request, and each answer every signal', async (t) => {
  const flagged = { class: 'unverified_bot', action: 'flag' }
  const flags = { webdriver: true, plugins: false }
  const browser = {
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
    ja4: JA4,
    reasons: [{ id: 'hints-agree', weight: -1 }, {}],
  }
  const spider = { ai_crawler: true, ai_ident: 'Bytespider', ai_vendor: 'ByteDance', allowlist_type: 'crawler' }
  const rows: readonly (readonly [body: object, answer: object, signals?: object])[] = [
    [{ request_id: 'r-1', headers: HEADERS, ja4: JA4 }, { class: 'human', action: 'allow' }, browser],
    [{ user_agent: CHROME }, { class: 'human', action: 'allow' }, { header_consistency: null }],
    [{ user_agent: 'Bytespider' }, { class: 'ai_agent' }, { ...spider, allowlist_verified: false }],
    [{ user_agent: 'Google-Extended' }, { class: 'impostor', action: 'block' }],
    [{ user_agent: 'curl/8.5.0' }, { class: 'unverified_bot' }, { headless: false }],
    [{ user_agent: CHROME, headless_flags: flags }, flagged, { headless: true, headless_flags: flags }],
    [{ user_agent: CHROME, headless_flags: {} }, { class: 'human' }, { headless: false, headless_flags: {} }],
    [{ headers: LINUX }, flagged],
    [{ headers: HEADERS, user_agent: 'curl/8' }, { class: 'unverified_bot' }],
    [{ headers: HEADERS, ja4: 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6' }, flagged],
    [
      { ip: ADDRESSES.tor, user_agent: CHROME },
      { class: 'human', action: 'flag' },
      { network_origin: 'tor', anonymized: true },
    ],
    [
      { ip: '127.0.0.1', headers: LINUX },
      { class: 'human', action: 'allow' },
    ],
    [{}, { class: 'human' }, { header_consistency: null }],
  ]
  for (const [body, answer, signals = {}] of rows) {
    const { status, json } = await check(body)
    t.equal(status, 200)
    t.match(json, { ...answer, signals }, JSON.stringify(body).slice(0, 100))
    t.same(AgentscanCheckResponse.parse(json), json)
  }
})

t.test('a verified crawler is one, and DNS is waited for', async (t) => {
  const prefixes = [parsePrefix('11.0.0.0/24')].filter((prefix) => prefix !== undefined)
  const ranges = createCrawlerRanges([{ slug: 'gptbot', state: 'fresh', date: '2026-02-09', prefixes }])
  const wire = createWire({ snapshots: { current: () => ({ ...SNAPSHOT, ...ranges }) } })
  t.match((await check({ ip: '11.0.0.1', user_agent: 'GPTBot/1.2' }, wire)).json, {
    class: 'verified_crawler',
    action: 'allow',
    signals: { ai_ident: 'GPTBot', ai_vendor: 'OpenAI', allowlist_type: 'crawler', allowlist_verified: true },
  })
  const forged = await check({ ip: '12.0.0.1', user_agent: 'GPTBot/1.2' }, wire)
  t.match(forged.json, { class: 'impostor', action: 'block' })
})

t.test('an error names the field', async (t) => {
  const rows: readonly (readonly [body: object, message: RegExp, error?: string])[] = [
    [{ ip: undefined }, /^ip: /],
    [{ ip: 'nonsense' }, /address/, 'invalid_ip'],
    [{ ip: 7 }, /^ip: /],
    [{ user_agent: 7 }, /^user_agent: /],
    [{ headers: { accept: 7 } }, /^headers\.accept: /],
    [{ headers: [] }, /^headers: /],
    [{ headless_flags: { webdriver: 'yes' } }, /^headless_flags\.webdriver: /],
    [{ ja4: null }, /^ja4: /],
  ]
  for (const [body, message, error = 'invalid_request'] of rows) {
    t.match(await check(body), { status: 400, json: { error, message } }, JSON.stringify(body))
  }
})

t.test('texts that nobody should send change nothing', async (t) => {
  for (const body of [
    { user_agent: 'x'.repeat(16_384) },
    { user_agent: '\u0000\u0007\u001b[31m' },
    { headers: { ...HEADERS, 'User-Agent': `${CHROME}${' '.repeat(16_384)}` } },
    { headers: { constructor: 'x', toString: 'y' } },
    { ja4: 'x'.repeat(4096), user_agent: CHROME },
  ]) {
    t.equal((await check(body)).status, 200, JSON.stringify(body).slice(0, 60))
  }
  const proto = await check(
    `{"ip":"${IP}","__proto__":{"user_agent":"curl/8"},"headers":{"__proto__":"x","User-Agent":"${CHROME}"}}`,
  )
  t.match(proto, { status: 200, json: { class: 'human' } })
})
