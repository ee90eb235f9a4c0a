import t from 'tap'
import { createCrawlerRanges, type RangeList } from '../src/crawler/ranges.ts'
import { createReverseChecks, MAX_CONCURRENT, MAX_QUEUED } from '../src/crawler/reverse-checks.ts'
import { createCrawlerVerifier } from '../src/crawler/verifier.ts'
import { classify, compilePolicy, createCatalogue, parseTrust } from '../src/index.ts'
import type { Policy, Rule } from '../src/policy/policy.ts'
import type { Dns, ReverseAnswer, Snapshot } from '../src/ports/index.ts'
import { createFakeDns, createFakeNetworks, makeAddress, makeSnapshot, makeSystem } from '../src/testing/fakes.ts'
import { readPrefix } from '../src/testing/index.ts'
import { agentInspector, makeRequest } from './agents.ts'

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const APPLEBOT = 'Mozilla/5.0 (Macintosh) Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)'
const GPTBOT = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: makeSystem({ asn: 15_169, name: 'Google', type: 'hosting', networkClass: 'datacenter' }) }],
  ['8.3.0.0/16', { system: makeSystem({ asn: 714, name: 'Apple', type: 'unknown', networkClass: 'unknown' }) }],
])

function list(slug: string, cidr: string): RangeList {
  return { slug, state: 'fresh', date: '2026-11-20', prefixes: [readPrefix(cidr)] }
}

const LISTS = [list('googlebot', '8.2.1.0/24'), list('applebot', '8.3.1.0/24'), list('gptbot', '8.4.1.0/24')]
const SNAPSHOT: Snapshot = makeSnapshot({ networks: NETWORKS, ...createCrawlerRanges(LISTS), rangesLoaded: true })

const fail = async () => ({ state: 'failed', reason: 'ETIMEOUT' }) as const
const DOWN: Dns = { resolve: fail, resolvePtr: fail }
const NOBODY = createFakeDns({})
const LENIENT: Policy = { preset: 'low-friction', rules: [] }

const clock = { now: () => Date.parse('2026-11-21T00:00:00Z') }

function createTestInspector({ dns = NOBODY, snapshot = SNAPSHOT, policy = LENIENT, trust = [] as string[] } = {}) {
  const crawlers = createCrawlerVerifier(createCatalogue(), { reverse: createReverseChecks({ clock, dns }) })
  const snapshots = { current: () => snapshot }
  return agentInspector({ clock, snapshots, trust: parseTrust(trust), policy: compilePolicy(policy), crawlers })
}

const from = (peer: string, userAgent: string, more: readonly string[] = []) =>
  makeRequest(['Host', 'example.com', 'uSeR-aGeNt', userAgent, ...more], { peer, scheme: 'http' })

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('a crawler in its operator’s ranges is verified at first sight, and allowed from its datacenter', async (t) => {
  const decision = createTestInspector().decide(from('8.2.1.7', GOOGLEBOT))
  const crawler = { slug: 'googlebot', name: 'Googlebot', operator: 'Google', purpose: 'search', pending: false }
  const summary = 'verified. 8.2.1.7 is in the ranges that Google publishes for Googlebot (as of 2026-11-20).'
  const proof = { outcome: 'verified', method: 'published ranges', summary }
  t.match(decision.inspection.crawler, { ...crawler, ...proof })
  const identity = { type: 'crawler', name: 'googlebot', verified: true }
  t.match(decision.inspection.agent, { class: 'verified_crawler', identity })
  t.equal(decision.action, 'allow')
  t.match(decision.reasons[2], { id: 'crawler:verified', source: 'crawlers' })
  t.ok(Object.isFrozen(decision.inspection.crawler))
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
  const crawler = { outcome: 'spoofed', method: 'published ranges, reverse DNS', pending: false }
  t.match(inspector.decide(request), { action: 'block', inspection: { crawler, agent: { class: 'impostor' } } })
  t.equal(asked, 1)
})

const SILENT: Dns = { resolve: async () => ({ state: 'absent' }), resolvePtr: () => new Promise(() => {}) }
const claimedBy = (text: string, snapshot = SNAPSHOT) => {
  const address = makeAddress(text)
  return { address, finding: classify(address, snapshot), snapshot }
}

t.test('an answer waits for DNS as long as there is patience, and where the queue is full not at all', async (t) => {
  const reverse = createReverseChecks({ clock, dns: SILENT })
  const patient = createCrawlerVerifier(createCatalogue(), { reverse, patience: async () => {} })
  const crawler = patient.catalogue.find('googlebot')
  if (crawler === undefined) throw new TypeError('googlebot')
  const { judgement } = await patient.verify(crawler, claimedBy('8.1.1.1'))
  const late = { detail: /DNS did not return the reverse name in time/ }
  t.match([judgement.outcome, judgement.checks.at(-1)], ['unverifiable', late])

  const verifier = createCrawlerVerifier(createCatalogue(), { reverse: createReverseChecks({ clock, dns: SILENT }) })
  const room = MAX_CONCURRENT + MAX_QUEUED
  for (let at = 0; at < room; at++) void verifier.verify(crawler, claimedBy(`8.1.${at >> 8}.${at & 255}`))
  await turn()
  const beyond = claimedBy('8.1.99.1')
  for (const { judgement, pending } of [await verifier.verify(crawler, beyond), verifier.look(crawler, beyond)]) {
    t.match([judgement.outcome, pending], ['unverifiable', false])
    const detail = 'Too many checks are already waiting for DNS.'
    t.match(judgement.checks.at(-1), { status: 'could-not-run', detail })
  }
})

t.test('DNS down, a list missing or no table of systems: never an impostor', async (t) => {
  const { networks: _, ...unrouted } = SNAPSHOT
  const { crawlerRanges: _ranges, crawlerStatus: _status, ...unlisted } = SNAPSHOT
  for (const [options, forged] of [
    [{ dns: DOWN }, true],
    [{ snapshot: unlisted }, true],
    [{ snapshot: unrouted }, undefined],
  ] as const) {
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
})

t.test('an operator’s own system confirms; one that others use does neither', async (t) => {
  const apple = createTestInspector().inspect(from('8.3.9.9', APPLEBOT)).crawler
  t.match(apple, { outcome: 'verified', method: 'operator ASN' })
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
  const verified = { outcome: 'verified', method: 'published ranges' }
  t.match(seen('8.2.2.1', 'Datadog/Synthetics').inspection.crawler, verified)
  for (const userAgent of ['Datadog/Synthetics', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)']) {
    const { action, inspection } = seen('8.1.1.1', userAgent)
    t.equal(action, 'flag')
    t.match(inspection, { crawler: { outcome: 'unverifiable' }, agent: { class: 'unverified_bot' } }, userAgent)
  }
  t.match(seen('8.1.1.1', 'Pingdom.com_bot_version_1.4'), { action: 'block' }, 'one that its operator alone runs')
  const row = { slug: 'x', name: 'X', operator: 'Y', tokens: ['xprobe'], names: ['*.x.example'] } as const
  const about = { purpose: 'monitor', selfHosted: true, source: 'operator', date: '2026-11' } as const
  const [made] = createCatalogue([{ ...row, ...about }]).crawlers
  if (made === undefined) throw new Error('no crawler')
  const verifier = createCrawlerVerifier(createCatalogue(), {
    reverse: createReverseChecks({ clock, dns: createFakeDns({}) }),
  })
  const { judgement } = await verifier.verify(made, claimedBy('8.1.1.1', snapshot))
  const refused = { status: 'could-not-run', detail: /Customers of Y also run X/ }
  t.match(judgement.checks.at(-1), refused, 'a reverse name neither')
})

/** A peer that passes on what others sent is a proxy, also at a reserved address. */
const PASSED_ON = ['Via', '1.1 proxy']

t.test('a name that no request carries is refuted, and a claim that cannot be checked accuses nobody', async (t) => {
  for (const userAgent of ['Google-Extended', 'Applebot-Extended/1.0', 'anthropic-ai/1.0', 'ia_archiver']) {
    for (const peer of ['8.1.1.1', '127.0.0.1', '173.245.48.1', '']) {
      const { agent, crawler } = createTestInspector({ dns: DOWN }).inspect(from(peer, userAgent, PASSED_ON))
      t.match([agent, crawler], [{ class: 'impostor' }, { outcome: 'spoofed', method: 'catalogue' }], userAgent)
    }
  }
  for (const userAgent of ['WhatsApp/2.23.20.0 A', 'facebookexternalhit/1.1 Facebot Twitterbot/1.0']) {
    const { crawler, agent } = createTestInspector().inspect(from('8.1.1.1', userAgent))
    t.match(crawler, { outcome: 'unverifiable', pending: false })
    t.match(agent, { class: 'unverified_bot', identity: { verified: false } })
  }
})

t.test('an address that need not be the visitor’s own refutes nothing', async (t) => {
  const ask = () => Promise.reject(new Error('asked'))
  const dns: Dns = { resolve: ask, resolvePtr: ask }
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

t.test('a rule that allows believes no bare name', async (t) => {
  const opened = async (match: Rule['match'], peer: string, userAgent = GPTBOT) => {
    const rules: readonly Rule[] = [{ id: 'open', match, action: 'allow' }]
    const inspector = createTestInspector({ policy: { preset: 'observe', rules, default: 'block' } })
    inspector.decide(from(peer, userAgent))
    await turn()
    return inspector.decide(from(peer, userAgent)).reasons[0]?.id === 'policy:open'
  }
  for (const match of [{ crawler: ['gptbot'] }, { operator: ['OpenAI'] }, { purpose: ['training'] }] as const)
    t.same([await opened(match, '8.4.1.1'), await opened(match, '8.1.1.1')], [true, false])
  t.notOk(await opened({ purpose: ['ai'] }, '8.1.1.1', 'Bytespider'))
  for (const more of [{}, { crawlerOutcome: ['unverifiable'] }] as const)
    t.notOk(await opened({ crawler: ['discordbot'], ...more }, '8.1.1.1', 'Discordbot/2.0'))
})
