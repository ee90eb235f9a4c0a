import t from 'tap'
import { parseAddress } from '../src/address/address.ts'
import { parseTrust } from '../src/address/client.ts'
import { parsePrefix } from '../src/address/prefix.ts'
import { createCatalogue } from '../src/crawler/catalogue.ts'
import { createCrawlerRanges, type RangeList } from '../src/crawler/ranges.ts'
import { createReverseChecks, MAX_CONCURRENT, MAX_QUEUED } from '../src/crawler/reverse-checks.ts'
import { createCrawlerVerifier } from '../src/crawler/verifier.ts'
import { createInspector } from '../src/inspection/inspector.ts'
import { classify } from '../src/network/classify.ts'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import type { Policy, Rule } from '../src/policy/policy.ts'
import type { Clock, Dns, NameAnswer, ReverseAnswer, Snapshot } from '../src/ports/index.ts'
import {
  createFakeClock,
  createFakeDns,
  createFakeNetworks,
  makeAddress,
  makeSnapshot,
  makeSystem,
} from '../src/testing/fakes.ts'
import type { InspectionRequest } from '../src/values/request.ts'

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const APPLEBOT = 'Mozilla/5.0 (Macintosh) Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)'
const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: makeSystem({ asn: 15_169, name: 'Google', type: 'hosting', networkClass: 'datacenter' }) }],
  ['8.3.0.0/16', { system: makeSystem({ asn: 714, name: 'Apple', type: 'unknown', networkClass: 'unknown' }) }],
])

function list(id: string, cidr: string): RangeList {
  return {
    slug: id,
    state: 'fresh',
    date: '2026-11-20',
    prefixes: [parsePrefix(cidr)].flatMap((prefix) => prefix ?? []),
  }
}

const LISTS = [list('googlebot', '8.2.1.0/24'), list('applebot', '8.3.1.0/24'), list('gptbot', '8.4.1.0/24')]
const SNAPSHOT = makeSnapshot({ networks: NETWORKS, ...createCrawlerRanges(LISTS), rangesLoaded: true })

const DOWN: Dns = {
  resolve: async (): Promise<NameAnswer> => ({ state: 'failed', reason: 'ETIMEOUT' }),
  resolvePtr: async (): Promise<ReverseAnswer> => ({ state: 'failed', reason: 'ETIMEOUT' }),
}

function createTestInspector(
  options: {
    readonly dns?: Dns | undefined
    readonly snapshot?: Snapshot | undefined
    readonly policy?: Policy | undefined
    readonly trust?: string[] | undefined
    readonly clock?: Clock | undefined
  } = {},
) {
  const clock = options.clock ?? createFakeClock('2026-11-21T00:00:00Z')
  const reverse = createReverseChecks({ clock, dns: options.dns ?? createFakeDns({}) })
  return createInspector({
    clock,
    snapshots: { current: () => options.snapshot ?? SNAPSHOT },
    trust: parseTrust(options.trust ?? []),
    policy: compilePolicy(options.policy ?? { preset: 'low-friction', rules: [] }),
    mode: 'enforce',
    crawlers: createCrawlerVerifier(createCatalogue(), { reverse }),
  })
}

function from(peer: string, userAgent: string, more: readonly string[] = []): InspectionRequest {
  const fields = ['Host', 'example.com', 'uSeR-aGeNt', userAgent, ...more]
  return { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('a browser claims nothing, and nor does a request without a user agent', async (t) => {
  const inspector = createTestInspector()
  for (const request of [from('8.1.1.1', BROWSER), { ...from('8.1.1.1', ''), fields: ['Host', 'example.com'] }]) {
    const inspection = inspector.inspect(request)
    t.notOk('crawler' in inspection || 'identity' in inspection.agent)
  }
})

t.test('a crawler in its operator’s ranges is verified at first sight, and allowed from its datacenter', async (t) => {
  const decision = createTestInspector().decide(from('8.2.1.7', GOOGLEBOT))
  t.strictSame(decision.inspection.crawler, {
    slug: 'googlebot',
    name: 'Googlebot',
    operator: 'Google',
    purpose: 'search',
    outcome: 'verified',
    method: 'published ranges',
    pending: false,
    summary:
      'The client is Googlebot of Google, verified. 8.2.1.7 is in the ranges that Google publishes for Googlebot (as of 2026-11-20).',
  })
  t.match(decision.inspection.agent, {
    class: 'verified_crawler',
    identity: { type: 'crawler', name: 'googlebot', verified: true },
  })
  t.equal(decision.action, 'allow')
  t.match(decision.reasons[2], { id: 'crawler:verified', source: 'crawlers' })
  t.ok(Object.isFrozen(decision.inspection.crawler))
  t.same(JSON.parse(JSON.stringify(decision.inspection)), decision.inspection)
  t.equal(createTestInspector().decide(from('8.2.1.7', BROWSER)).action, 'flag', 'without the claim it is a datacenter')
})

t.test('inline, DNS is never waited for: pending at first, then the outcome', async (t) => {
  let answer = (_: ReverseAnswer) => {}
  let asked = 0
  const dns: Dns = {
    resolve: async () => ({ state: 'absent' }),
    resolvePtr() {
      asked++
      return new Promise((resolve) => {
        answer = resolve
      })
    },
  }
  const inspector = createTestInspector({ dns })
  const request = from('8.1.1.1', GOOGLEBOT)
  for (let sight = 0; sight < 3; sight++) {
    t.match(inspector.decide(request), {
      action: 'block',
      reasons: [{ id: 'policy:impostor' }],
      inspection: { crawler: { outcome: 'unverifiable', pending: true, forged: true } },
    })
    await turn()
  }
  t.equal(asked, 1, 'one question for them all')
  answer({ state: 'absent' })
  await turn()
  t.match(inspector.decide(request), {
    action: 'block',
    inspection: {
      crawler: { outcome: 'spoofed', method: 'published ranges, reverse DNS', pending: false },
      agent: { class: 'impostor' },
    },
  })
  t.equal(asked, 1)
})

t.test('an answer waits for DNS as long as there is patience', async (t) => {
  const dns: Dns = { resolve: async () => ({ state: 'absent' }), resolvePtr: () => new Promise(() => {}) }
  const reverse = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns })
  const verifier = createCrawlerVerifier(createCatalogue(), { reverse, patience: async () => {} })
  const crawler = verifier.catalogue.find('googlebot')
  const address = parseAddress('8.1.1.1')
  if (crawler === undefined || address === undefined) throw new TypeError('8.1.1.1')
  const claimed = { address, finding: classify(address, SNAPSHOT), snapshot: SNAPSHOT }
  const { judgement } = await verifier.verify(crawler, claimed)
  t.match(
    [judgement.outcome, judgement.checks.at(-1)],
    ['unverifiable', { detail: /DNS did not return the reverse name in time/ }],
  )
})

t.test('a claim that finds the queue full is unverifiable, inline and awaited, not pending', async (t) => {
  const dns: Dns = { resolve: async () => ({ state: 'absent' }), resolvePtr: () => new Promise(() => {}) }
  const reverse = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns })
  const verifier = createCrawlerVerifier(createCatalogue(), { reverse })
  const crawler = verifier.catalogue.find('googlebot')
  if (crawler === undefined) throw new TypeError('googlebot')
  const claimedBy = (index: number) => {
    const address = makeAddress(`8.1.${index >> 8}.${index & 255}`)
    return { address, finding: classify(address, SNAPSHOT), snapshot: SNAPSHOT }
  }
  const room = MAX_CONCURRENT + MAX_QUEUED
  for (let index = 0; index < room; index++) void verifier.verify(crawler, claimedBy(index))
  await turn()
  for (const { judgement, pending } of [
    await verifier.verify(crawler, claimedBy(room)),
    verifier.look(crawler, claimedBy(room)),
  ]) {
    t.match([judgement.outcome, pending], ['unverifiable', false])
    t.match(judgement.checks.at(-1), {
      status: 'could-not-run',
      detail: 'Too many checks are already waiting for DNS.',
    })
  }
})

t.test('DNS down, a list missing or no table of systems: never an impostor', async (t) => {
  const { networks: _, ...unrouted } = SNAPSHOT
  const { crawlerRanges: _ranges, crawlerStatus: _status, ...unlisted } = SNAPSHOT
  const rows = [
    [{ dns: DOWN }, true],
    [{ snapshot: unlisted }, true],
    [{ snapshot: unrouted }, undefined],
  ] as const
  for (const [options, forged] of rows) {
    const inspector = createTestInspector(options)
    const request = from('8.1.1.1', APPLEBOT)
    inspector.decide(request)
    await turn()
    const { action, inspection } = inspector.decide(request)
    t.match(inspection.crawler, { outcome: 'unverifiable', pending: false })
    t.match(inspection.agent, { class: 'unverified_bot', identity: { verified: false } })
    // The operator does not send it from that system: a policy takes the name for a forged one, whatever could not run.
    t.equal(inspection.crawler?.forged, forged)
    t.equal(action, forged ? 'block' : 'flag')
  }
  const inspector = createTestInspector()
  inspector.decide(from('8.1.1.1', APPLEBOT))
  await turn()
  t.equal(inspector.decide(from('8.1.1.1', APPLEBOT)).action, 'block', 'with all three it is one')
})

t.test('an operator’s own system confirms; one that others use does neither', async (t) => {
  t.match(createTestInspector().inspect(from('8.3.9.9', APPLEBOT)).crawler, {
    outcome: 'verified',
    method: 'operator ASN',
  })
  const google = createTestInspector().inspect(from('8.2.9.9', GOOGLEBOT)).crawler
  t.match(google, { outcome: 'unverifiable', pending: true }, 'AS15169 is a public cloud')
  const nowhere = createTestInspector().inspect(from('8.9.9.9', APPLEBOT)).crawler
  t.equal(nowhere?.outcome, 'unverifiable', 'a system that is not known refutes nothing')
})

t.test('a program that customers run too is verified by addresses, and never an impostor', async (t) => {
  const monitors = [list('datadog-synthetics', '8.2.2.0/24'), list('pingdom', '8.2.3.0/24')]
  const all = [...monitors, list('stripe-webhook', '8.2.4.0/24')]
  const snapshot = makeSnapshot({ networks: NETWORKS, ...createCrawlerRanges(all), rangesLoaded: true })
  const seen = (peer: string, userAgent: string) => createTestInspector({ snapshot }).decide(from(peer, userAgent))
  t.match(seen('8.2.2.1', 'Datadog/Synthetics').inspection.crawler, {
    outcome: 'verified',
    method: 'published ranges',
  })
  const away = seen('8.1.1.1', 'Datadog/Synthetics')
  t.match(away, {
    action: 'flag',
    inspection: { crawler: { outcome: 'unverifiable' }, agent: { class: 'unverified_bot' } },
  })
  const event = seen('8.1.1.1', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)').inspection
  t.match(event, { crawler: { outcome: 'unverifiable' }, agent: { class: 'unverified_bot' } }, 'stripe listen')
  t.match(seen('8.1.1.1', 'Pingdom.com_bot_version_1.4'), { action: 'block' }, 'one that its operator alone runs')
  const [made] = createCatalogue([
    {
      slug: 'x',
      name: 'X',
      operator: 'Y',
      purpose: 'monitor',
      tokens: ['xprobe'],
      names: ['*.x.example'],
      selfHosted: true,
      source: 'operator',
      date: '2026-11',
    },
  ]).crawlers
  if (made === undefined) throw new Error('no crawler')
  const reverse = createReverseChecks({ clock: createFakeClock('2026-11-21T00:00:00Z'), dns: createFakeDns({}) })
  const address = makeAddress('8.1.1.1')
  const { judgement } = await createCrawlerVerifier(createCatalogue(), { reverse }).verify(made, {
    address,
    finding: classify(address, snapshot),
    snapshot,
  })
  t.match(
    judgement.checks.at(-1),
    { status: 'could-not-run', detail: /Customers of Y also run X/ },
    'a reverse name neither',
  )
})

/** A peer that passes on what others sent is a proxy, also at a reserved address. */
const PASSED_ON = ['Via', '1.1 proxy']

t.test('a name that no request carries is refuted wherever it comes from', async (t) => {
  for (const userAgent of ['Google-Extended', 'Applebot-Extended/1.0', 'anthropic-ai/1.0', 'ia_archiver']) {
    for (const peer of ['8.1.1.1', '127.0.0.1', '173.245.48.1']) {
      const { agent, crawler } = createTestInspector({ dns: DOWN }).inspect(from(peer, userAgent, PASSED_ON))
      t.match([agent, crawler], [{ class: 'impostor' }, { outcome: 'spoofed', method: 'catalogue' }], userAgent)
    }
  }
})

t.test('a claim that cannot be checked is unverifiable and accuses nobody', async (t) => {
  for (const userAgent of [
    'WhatsApp/2.23.20.0 A',
    'Discordbot/2.0',
    'facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  ]) {
    const { crawler, agent } = createTestInspector().inspect(from('8.1.1.1', userAgent))
    t.match(crawler, { outcome: 'unverifiable', pending: false })
    t.match(agent, { class: 'unverified_bot', identity: { verified: false } })
  }
})

t.test('an address that need not be the visitor’s own refutes nothing', async (t) => {
  const dns: Dns = {
    resolve: () => Promise.reject(new Error('asked')),
    resolvePtr: () => Promise.reject(new Error('asked')),
  }
  for (const peer of ['127.0.0.1', '10.1.2.3', 'fd00::1', '173.245.48.1', '']) {
    for (const userAgent of [GOOGLEBOT, APPLEBOT, GPTBOT]) {
      const { crawler } = createTestInspector({ dns }).inspect(from(peer, userAgent, PASSED_ON))
      t.match(crawler, { outcome: 'unverifiable', pending: false }, `${peer} ${userAgent}`)
    }
  }
  const behind = createTestInspector({ trust: ['cloudflare'] })
  const request = from('173.245.48.1', GPTBOT, ['X-Forwarded-For', '8.1.1.1'])
  t.equal(behind.inspect(request).crawler?.outcome, 'spoofed', 'once the proxy is named, the visitor is judged')
})

async function decided(rules: readonly Rule[], peer: string, userAgent: string) {
  const inspector = createTestInspector({ policy: { preset: 'observe', rules } })
  inspector.decide(from(peer, userAgent))
  await turn()
  const { action, reasons } = inspector.decide(from(peer, userAgent))
  return [action, reasons[0]?.id]
}

t.test('a rule that allows believes no bare name', async (t) => {
  const open = (match: Rule['match']): readonly Rule[] => [
    { id: 'open', match, action: 'allow' },
    { id: 'closed', match: {}, action: 'block' },
  ]
  for (const match of [{ crawler: ['gptbot'] }, { operator: ['OpenAI'] }, { purpose: ['training'] }] as const) {
    t.same(await decided(open(match), '8.4.1.1', GPTBOT), ['allow', 'policy:open'])
    t.same(await decided(open(match), '8.1.1.1', GPTBOT), ['block', 'policy:closed'])
  }
  t.same(await decided(open({ crawler: ['discordbot'] }), '8.1.1.1', 'Discordbot/2.0'), ['block', 'policy:closed'])
  const asked = open({ crawler: ['discordbot'], crawlerOutcome: ['unverifiable'] })
  t.same(await decided(asked, '8.1.1.1', 'Discordbot/2.0'), ['block', 'policy:closed'])
})
