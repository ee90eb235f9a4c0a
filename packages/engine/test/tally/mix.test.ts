import { join } from 'node:path'
import { type Decision, type ObservedRequest, type Prefix, parseHostOrPrefix } from '@sallyport/core'
import t, { type Test } from 'tap'
import { type ConfigInput, open, readTally, type Sallyport } from '../../src/open/index.ts'

/*
 * A mix that a real gate decides: programs that copy a browser's user agent on rented servers, people with whole browsers at home,
 * people behind a VPN, of whom some solve their challenge, and a crawler that names itself.
 */
const SCRAPERS = 2_000
const AT_HOME = 180
const BEHIND_VPN = 40
const SOLVED = 20

/** People are counted once a day: all come on one. */
const DAY_MS = 86_400_000
const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36'

/** Chrome sends these fields of a navigation over HTTPS. */
const WHOLE = [
  'Sec-Ch-Ua',
  '"Not;A=Brand";v="8", "Chromium";v="150", "Google Chrome";v="150"',
  'Sec-Ch-Ua-Mobile',
  '?0',
  'Sec-Ch-Ua-Platform',
  '"Windows"',
  'Upgrade-Insecure-Requests',
  '1',
  'User-Agent',
  CHROME,
  'Accept',
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'Sec-Fetch-Site',
  'none',
  'Sec-Fetch-Mode',
  'navigate',
  'Sec-Fetch-User',
  '?1',
  'Sec-Fetch-Dest',
  'document',
  'Accept-Encoding',
  'gzip, deflate, br, zstd',
  'Accept-Language',
  'en-US,en;q=0.9',
]
const COPIED = ['User-Agent', CHROME, 'Accept', '*/*', 'Accept-Encoding', 'gzip, deflate']

const POLICY: ConfigInput['policy'] = {
  preset: 'observe',
  rules: [
    { id: 'servers', match: { networkClass: ['hosting'], path: ['/shop/**'] }, action: 'block' },
    { id: 'ask-vpn', match: { networkClass: ['vpn'] }, action: 'challenge' },
    { id: 'shut', match: { path: ['/shut'] }, action: 'block' },
  ],
}

const EMBEDDED = ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6']

async function gate(t: Test) {
  const folder = t.testdir()
  const config: ConfigInput = {
    dataDir: join(folder, 'state'),
    // The test sets the networks below.
    data: { refresh: false, sources: Object.fromEntries(EMBEDDED.map((id) => [id, { enabled: false }])) },
    net: { outbound: false },
    trustProxy: ['loopback'],
    policy: POLICY,
  }
  const sallyport = await open(config, { onNotice() {} })
  for (const [prefix, networkClass] of [
    ['5.9.0.0/16', 'hosting'],
    ['73.162.0.0/16', 'residential_clean'],
    ['45.83.0.0/16', 'vpn'],
  ] as const)
    await sallyport.overrides.set(parseHostOrPrefix(prefix) as Prefix, { networkClass })
  return sallyport
}

/** Decides a request, and observes its end as a host does. */
function visit(
  sallyport: Sallyport,
  client: string,
  fields: readonly string[],
  more: Partial<ObservedRequest> = {},
): Decision {
  const path = more.path ?? '/'
  const asked = { peer: '127.0.0.1', method: 'GET', target: path, scheme: 'https', httpVersion: '1.1' } as const
  const decision = sallyport.decide({
    ...asked,
    fields: ['Host', 'shop.example', ...fields, 'X-Forwarded-For', client, 'X-Forwarded-Proto', 'https'],
  })
  const isRefused = decision.enforced && ['block', 'challenge'].includes(decision.action)
  const isAsked = decision.action === 'challenge'
  sallyport.observe({
    id: `${client}-${path}`,
    decision,
    answeredBy: isRefused ? 'refusal' : 'origin',
    peer: '127.0.0.1',
    client,
    method: 'GET',
    host: 'shop.example',
    path,
    userAgent: CHROME,
    status: isRefused ? 403 : 200,
    at: NOON,
    milliseconds: 1,
    ...(isAsked && { challenge: { outcome: 'asked', rule: 'ask-vpn', level: 2 } }),
    ...more,
  })
  return decision
}

t.test('a report of 2,000 scrapers and 200 people names the right 200', async (t) => {
  const sallyport = await gate(t)
  for (let at = 0; at < SCRAPERS; at++) {
    const client = `5.9.${at >> 8}.${at & 255}`
    visit(sallyport, client, COPIED)
    visit(sallyport, client, COPIED, { path: '/shop/1' })
  }
  for (let at = 0; at < AT_HOME; at++) {
    const path = at < 18 ? '/shut' : '/'
    visit(sallyport, `73.162.${at >> 8}.${at & 255}`, WHOLE, { path })
  }
  for (let at = 0; at < BEHIND_VPN; at++) {
    const client = `45.83.0.${at}`
    visit(sallyport, client, WHOLE)
    const challenge = { outcome: 'solved', rule: 'ask-vpn', level: 2, seconds: 1 } as const
    if (at < SOLVED) visit(sallyport, client, WHOLE, { challenge, status: 303 })
  }
  await sallyport.close()

  const tally = await readTally(sallyport.config, NOON, NOON + 3_600_000)
  if (tally === undefined) throw new Error('Nothing was counted.')
  const { visitors, rules } = tally.all
  const near = (found: number, wanted: number, least = 2): void => {
    t.ok(Math.abs(found - wanted) <= Math.max(least, wanted * 0.07), `${found} of ${wanted}`)
  }
  // The difference of two sketches of some 200 clients, whose key is random: three times its deviation.
  const apart = 12
  near(visitors.people, AT_HOME + SOLVED)
  near(visitors.hit.people, 18 + SOLVED)
  near(visitors.unclear.people, BEHIND_VPN - SOLVED, apart)
  near(visitors.unclear.hit.people, BEHIND_VPN - SOLVED, apart)
  t.same(
    rules.filter(({ action }) => action !== 'flag').map(({ rule }) => rule),
    ['servers', 'ask-vpn', 'shut'],
    'by what was stopped',
  )
  t.equal(rules[0]?.real, 0, 'no scraper is a person')
})
