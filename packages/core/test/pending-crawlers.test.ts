import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createCrawlerVerifier } from '../src/crawler/verifier.ts'
import { address4, compilePolicy, createCatalogue, createReverseChecks, type Decision } from '../src/index.ts'
import { createPendingCrawlers } from '../src/inspection/pending-crawlers.ts'
import type { ReverseAnswer } from '../src/ports/index.ts'
import { createFakeClock, makeSnapshots } from '../src/testing/fakes.ts'
import { agentInspector, makeRequest } from './agents.ts'

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'

const CRAWLER = address4(0x5db8d822)
const PROVEN = { state: 'found', names: ['crawl.googlebot.com'] } as const

/** A gate whose DNS answers, and whose patience ends, when the test says so. */
function gate() {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const dns: ((answer: ReverseAnswer) => void)[] = []
  const patience: (() => void)[] = []
  const reverse = createReverseChecks({
    clock,
    dns: {
      resolvePtr: () => new Promise((resolve) => dns.push(resolve)),
      resolve: async () => ({ state: 'found', addresses: [CRAWLER] }),
    },
  })
  const crawlers = createCrawlerVerifier(createCatalogue(), { reverse })
  const snapshots = makeSnapshots()
  const proven = { id: 'proven', match: { crawlerOutcome: ['verified'] }, action: 'flag' } as const
  const policy = compilePolicy({ preset: 'observe', rules: [proven] })
  const inspector = agentInspector({ clock, snapshots, policy, crawlers })
  const wait = () => new Promise<void>((resolve) => patience.push(resolve))
  const { settle } = createPendingCrawlers({ clock, snapshots, crawlers, patience: wait })
  const ask = (peer: string, userAgent = GOOGLEBOT) =>
    settle(() => inspector.decide(makeRequest(['Host', 'site.example', 'User-Agent', userAgent], { peer })))
  return { clock, dns, patience, ask }
}

const refusals = (decisions: readonly Decision[]): number => decisions.filter(({ unready }) => unready).length

t.test('requests of one client wait together, once, and are decided by the answer', async (t) => {
  const { dns, patience, ask } = gate()
  const asked = Array.from({ length: 20 }, () => ask('93.184.216.34'))
  t.ok(asked.every((decision) => decision instanceof Promise))
  t.equal(patience.length, 1)
  t.notOk(ask('93.184.216.35', 'curl/8') instanceof Promise, 'nobody else waits')
  await setImmediate()
  dns[0]?.(PROVEN)
  const decided = await Promise.all(asked)
  t.ok(decided.every(({ action, reasons }) => action === 'flag' && reasons[0]?.id === 'policy:proven'))
  t.notOk(ask('93.184.216.34') instanceof Promise)
})

t.test('a client whose check goes on has five requests in a minute, then 503', async (t) => {
  const { clock, dns, patience, ask } = gate()
  const waited = Array.from({ length: 60 }, () => ask('93.184.216.34'))
  patience[0]?.()
  const decided = await Promise.all(waited)
  for (let more = 0; more < 900; more++) decided.push(ask('93.184.216.34') as Decision)
  t.equal(decided.length - refusals(decided), 5)
  t.match(decided.at(-1), {
    action: 'throttle',
    enforced: true,
    unready: true,
    reasons: [{ id: 'policy:pending-crawler' }],
    inspection: { crawler: { pending: true } },
  })
  t.equal(patience.length, 1, 'it waits once')
  clock.advance(60_000)
  const later = ask('93.184.216.34')
  t.ok(later instanceof Promise, 'a minute later it waits again')
  dns[0]?.(PROVEN)
  t.match(await later, { action: 'flag' })
})

t.test('a request beyond those that may wait takes of the few at once', async (t) => {
  const { ask, patience } = gate()
  const asked = Array.from({ length: 200 }, () => ask('93.184.216.34'))
  const atOnce = asked.filter((decision): decision is Decision => !(decision instanceof Promise))
  t.equal(atOnce.length, 136)
  t.equal(refusals(atOnce), 131)
  patience[0]?.()
  t.equal(refusals(await Promise.all(asked)), 195)
})

t.test('the networks of a /48 have sixteen times as much as one of them', async (t) => {
  const { ask, patience, dns } = gate()
  const decided: Decision[] = []
  for (let at = 0; at < 200; at++) {
    const asked = ask(`2a00:1450:4001:${at.toString(16)}::1`)
    await setImmediate()
    patience.pop()?.()
    decided.push(await asked)
    // A client has few checks under way.
    dns.pop()?.({ state: 'failed', reason: 'SERVFAIL' })
    await setImmediate()
  }
  t.equal(refusals(decided), 120)
})

t.test('all pending clients together have five hundred requests in a minute', async (t) => {
  const { ask, clock, patience } = gate()
  let passed = 0
  for (let second = 0; second < 5; second++) {
    const asked = Array.from({ length: 150 }, (_, at) => `93.${184 + second}.216.${at}`)
    const waited = asked.map((peer) => ask(peer))
    for (const end of patience.splice(0)) end()
    passed += waited.length - refusals(await Promise.all(waited))
    clock.advance(1_000)
  }
  t.equal(passed, 500)
})
