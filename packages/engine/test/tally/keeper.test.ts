import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { AgentClass, Decision, NetworkClass, ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { createMetrics } from '../../src/metrics/index.ts'
import { openDatabase } from '../../src/stores/index.ts'
import { MAX_ROWS, Slot } from '../../src/tally/cells.ts'
import {
  createPlaces,
  createTallyKeeper,
  readTallyFile,
  reportCrawlers,
  reportTally,
  sumHours,
} from '../../src/tally/index.ts'
import { createTally } from '../../src/tally/tally.ts'
import { decisionFor, observed } from '../log/observed.ts'

const HOUR = 3_600_000
const NOON = Date.UTC(2026, 10, 26, 12)
const CONFIG = { mode: 'monitor' }

/** Opens a process on a tally, which counts what it observes in its own rows first. */
function member(t: Test, file: string, faults: unknown[] = [], now = () => NOON) {
  const metrics = createMetrics()
  const keeper = createTallyKeeper(CONFIG, {
    file,
    keepMs: 30 * 24 * HOUR,
    findPlace: createPlaces(() => Buffer.from('key')),
    robots: (_, path) => (path === '/unread' ? undefined : path.startsWith('/private')),
    now,
    onFault: (error) => faults.push(error),
  })
  t.teardown(keeper.close)
  const see = (some: Partial<ObservedRequest>) => {
    const one = observed({ at: NOON, ...some })
    const row = metrics.observe(one)
    if (row !== undefined) keeper.observe(one, row)
  }
  return { keeper, see }
}

/** Opens one process on a tally of its own. */
function openAlone(t: Test, now = () => NOON) {
  const file = join(t.testdir(), 'tally.db')
  const { keeper, see } = member(t, file, [], now)
  return { file, see, flush: keeper.flush, report: () => keeper.flush().then(() => readReport(file)) }
}

function makeDecision(action: Decision['action'], more: Partial<Decision> = {}): Decision {
  const { inspection, ...decision } = decisionFor(action, 'no-tor')
  const { network } = inspection
  // The visitor is at home, and so counts as a person.
  const verdict = { ...network.verdict, classification: 'residential_clean' } as const
  return { ...decision, inspection: { ...inspection, network: { ...network, verdict } }, ...more }
}

async function readReport(file: string, from = NOON, until = NOON + HOUR) {
  const reading = await readTallyFile(file, from, until)
  const earlier = await readTallyFile(file, from - 7 * 24 * HOUR, until - 7 * 24 * HOUR)
  return { all: reportTally(reading, earlier), crawlers: reportCrawlers(reading, earlier), reading }
}

t.test('the hours of a span have each outcome, class and network, without the probes of a balancer', async (t) => {
  const { file, see, flush } = openAlone(t)
  see({ decision: makeDecision('block') })
  for (const action of ['block', 'allow', 'block'] as const)
    see({ at: NOON + 2 * HOUR, decision: makeDecision(action) })
  const { inspection, ...decision } = makeDecision('allow')
  const probe = { ...inspection, client: { ...inspection.client, isProxy: true as const } }
  see({ decision: { ...decision, inspection: probe } })
  await flush()
  const hours = sumHours(await readTallyFile(file, NOON, NOON + 3 * HOUR))
  const outcomes = { block: [1, 0, 2], allow: [0, 0, 1] }
  t.match(hours, { from: NOON, outcomes, networks: { residential_clean: 4 }, classes: { human: 4 } })
})

t.test('challenges are counted by rule and level, and requests by country', async (t) => {
  const { see, report } = openAlone(t)
  const { inspection, ...decision } = makeDecision('challenge')
  const from = (country: string) => ({ ...decision, inspection: { ...inspection, country } })
  const outcomes = ['asked', 'asked', 'waiting', 'program', 'solved', 'waited', 'wrong', 'spent'] as const
  for (const outcome of outcomes) see({ decision: from('DE'), challenge: { outcome, rule: 'ask', level: 2 } })
  // A wait that earned no pass is followed by another challenge, and a forged solution names no rule.
  see({ decision: from('FR'), challenge: { outcome: 'asked', refused: 'early', rule: 'ask', level: 3 } })
  see({ decision: from('FR'), challenge: { outcome: 'forged' } })
  const { all } = await report()
  t.match(all.challenges, [
    { rule: 'ask', level: '2', asked: 2, solved: 2, failed: 2, unshown: 1 },
    { rule: 'ask', level: '3', asked: 1, solved: 0, failed: 1, unshown: 0 },
    { rule: '', level: '', asked: 0, solved: 0, failed: 1, unshown: 0 },
  ])
  const [german, french] = all.byCountry
  t.match({ german, french }, { german: { name: 'DE', requests: 8, share: 0.8 }, french: { name: 'FR', requests: 2 } })
})

const client = (index: number) => `198.51.${index >> 8}.${index & 255}`

t.test('a report separates people from programs; VPN users are unclear until they solve a challenge', async (t) => {
  const { see, report } = openAlone(t)
  const decide = (action: Decision['action'], networkClass: NetworkClass, agentClass: AgentClass = 'human') => {
    const { inspection, ...decision } = makeDecision(action)
    const network = { ...inspection.network, verdict: { ...inspection.network.verdict, classification: networkClass } }
    return { ...decision, inspection: { ...inspection, network, agent: { ...inspection.agent, class: agentClass } } }
  }
  const ask = { outcome: 'asked', rule: 'no-tor', level: 2 } as const
  for (let at = 0; at < 200; at++) see({ client: client(at), decision: decide('block', 'hosting', 'unverified_bot') })
  for (let at = 200; at < 220; at++) see({ client: client(at), decision: makeDecision('allow'), answeredBy: 'origin' })
  for (let at = 220; at < 240; at++) {
    see({ client: client(at), decision: decide('challenge', 'vpn'), challenge: ask })
    const solved = { ...ask, outcome: 'solved', seconds: 1 } as const
    if (at < 230) see({ client: client(at), decision: decide('challenge', 'vpn'), challenge: solved, status: 303 })
  }
  const { visitors, rules } = (await report()).all
  const near = (found: number, wanted: number) => t.ok(Math.abs(found - wanted) <= 2, `${found} of ${wanted}`)
  near(visitors.people, 30)
  near(visitors.hit.people, 10)
  near(visitors.unclear.people, 10)
  near(visitors.unclear.hit.people, 10)
  t.equal(rules.find(({ action }) => action === 'block')?.real, 0, 'no program is a person')
})

t.test('trials, limits of ours, questions and failures are counted apart', async (t) => {
  const { see, report } = openAlone(t)
  const trials = [{ rule: 'try', action: 'challenge' as const }]
  const tried = makeDecision('allow', { trial: trials[0], trials })
  see({ client: client(1), decision: tried, answeredBy: 'origin', status: 200 })
  see({ client: client(2), decision: makeDecision('challenge'), status: 403 })
  see({ client: client(3), decision: makeDecision('block', { trials }), status: 403 })
  see({ client: client(4), decision: makeDecision('allow'), answeredBy: 'origin', status: 403 })
  see({ client: client(5), decision: makeDecision('throttle'), status: 429 })
  see({ client: client(6), decision: makeDecision('allow'), answeredBy: 'origin', status: 502 })
  see({ client: client(7), decision: makeDecision('allow'), answeredBy: 'origin', status: 0 })
  see({ status: 503, answeredBy: 'refusal', refusedFor: 'queue' })
  see({ status: 200, answeredBy: 'api' })
  see({ answeredBy: 'check', decision: makeDecision('block') })
  const { all } = await report()
  const answers = Object.fromEntries(all.answers.map(({ name, requests, ours }) => [name, [requests, ours]]))
  t.same(answers, { '2xx': [2, 0], challenge: [1, 1], '403': [2, 1], '429': [1, 1], '5xx': [2, 1], left: [1, 0] })
  t.match(all, {
    requests: 9,
    visitors: { people: 7, hit: { people: 3, asked: 1 }, wouldHit: { people: 4, requests: 4, asked: 2 } },
  })
  const trial = all.rules.find(({ state }) => state === 'trial')
  t.match(trial, { rule: 'try', action: 'challenge', requests: 2, people: 2, real: 2 })
  t.match(all.bySystem, [{ name: 'AS64502 Made Networks', requests: 7 }])
})

t.test('a change of the configuration is a mark between what was before and after', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  let now = NOON
  const [one, other] = [member(t, file, [], () => now), member(t, file, [], () => now)]
  for (const { see } of [one, other]) see({ client: client(1), decision: makeDecision('block', { enforced: false }) })
  now += 1_800_000
  for (const { keeper, see } of [one, other]) {
    keeper.turn(CONFIG, [])
    keeper.turn({ mode: 'enforce' }, ['mode'])
    see({ client: client(2), decision: makeDecision('block'), at: now })
    see({ client: client(3), decision: makeDecision('allow'), at: now })
    await keeper.flush()
  }
  const { all, reading } = await readReport(file)
  t.match(reading.marks, [{ changed: ['start'] }, { changed: ['mode'], at: now }])
  const before = { requests: 2, visitors: 1, hit: 0, wouldHit: 1 }
  t.match(all.changes, [{ changed: ['mode'], before, after: { requests: 4, visitors: 2, hit: 0.5 } }])
  t.equal(all.changes.length, 1, 'both processes make one mark')
})

t.test('a week before is held against now, and what is too old is dropped', async (t) => {
  let now = NOON - 7 * 24 * HOUR
  const { see, flush, report } = openAlone(t, () => now)
  for (let index = 0; index < 4; index++) see({ decision: makeDecision('allow'), at: now })
  await flush()
  now = NOON
  see({ decision: makeDecision('block') })
  t.match((await report()).all, { now: { requests: 1, hit: 1 }, before: { requests: 4, hit: 0 } })
  now += 24 * 24 * HOUR
  see({ decision: makeDecision('allow'), at: now })
  t.match((await report()).all, { before: undefined, requests: 1 })
})

t.test('what cannot be written now is written later', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  const faults: unknown[] = []
  const { keeper, see } = member(t, file, faults)
  see({ decision: makeDecision('allow') })
  await keeper.flush()
  const locking = await openDatabase(file, [''])
  locking.exec('BEGIN EXCLUSIVE')
  see({ decision: makeDecision('allow') })
  const writing = keeper.flush()
  see({ decision: makeDecision('block') })
  locking.exec('COMMIT')
  locking.close()
  await writing
  await keeper.flush()
  t.same(faults, [])
  t.equal((await readReport(file)).all.requests, 3)
})

t.test('names are bounded, and no request is lost for it', async (t) => {
  const { see, report } = openAlone(t)
  const requests = 3 * MAX_ROWS.path
  const hashName = (index: number) => createHash('md5').update(String(index)).digest('hex').replace(/\d/g, 'x')
  for (let index = 0; index < requests; index++) see({ decision: makeDecision('allow'), path: `/${hashName(index)}` })
  const { reading, all } = await report()
  const paths = reading.rows.filter(({ subject }) => subject === 'path')
  t.ok(paths.length <= 2 * MAX_ROWS.path + 1, `${paths.length} rows`)
  const counted = paths.reduce((sum, { requests }) => sum + requests, 0)
  t.same([counted, all.requests], [requests, requests])
})

t.test('a long path is counted, and not remembered', async (t) => {
  const tally = createTally('policy', { findPlace: () => 0, robots: () => undefined })
  const long = `/${'a'.repeat(300)}`
  for (const path of ['/shop', long])
    tally.observe(observed({ path, decision: makeDecision('allow') }), { at: 0, labels: ['allow'] })
  const [slot] = tally.slots
  t.match(slot?.paths[0].get('/shop'), { requests: 1 })
  t.equal(slot?.paths[0].get(long), undefined)
  t.match(slot?.of('path', ['/*', '']), { requests: 1 })
})

t.test('beyond its bound a subject keeps what the shares of a report are made of', async (t) => {
  const slot = new Slot(0, 'policy')
  const blocked = ['block', 'true', 'human', 'hosting']
  for (let at = 0; at < 2 * MAX_ROWS.decided; at++) slot.of('decided', [...blocked, `rule-${at}`])
  t.same(slot.of('decided', [...blocked, 'more']).labels, ['block', 'true', 'human', 'other', 'other'])
  t.same(slot.of('decided', ['block', 'false', 'human', 'tor', 'more']).labels.slice(0, 3), ['block', 'false', 'human'])
  for (let at = 0; at <= MAX_ROWS.path; at++) slot.of('path', [`/${at}`, at % 2 === 0 ? 'stopped' : ''])
  t.same(slot.of('path', ['/more', 'stopped']).labels, ['other', 'stopped'])
  t.ok(slot.cells.length < MAX_ROWS.decided + MAX_ROWS.path + 5)
})

const GPTBOT = { slug: 'gptbot', name: 'GPTBot', operator: 'OpenAI', purpose: 'training' } as const

t.test('what was read in a name is kept apart by what was shown of it', async (t) => {
  const { see, report } = openAlone(t)
  const by = (outcome: 'verified' | 'unverifiable' | 'spoofed', more: Partial<Decision> = {}): Decision => {
    const decision = makeDecision('allow', more)
    const agent = { ...decision.inspection.agent, class: 'verified_crawler' as const }
    const crawler = { ...GPTBOT, pending: false, summary: '', outcome }
    return { ...decision, inspection: { ...decision.inspection, agent, crawler } }
  }
  const read = { answeredBy: 'origin', status: 200, bytesSent: 100 } as const
  const exceeded = { rule: 'slow', exceeded: true, used: 11, max: 10, windowMs: 60_000 } as unknown
  see({ ...read, path: '/a', decision: by('verified') })
  see({ ...read, path: '/a', decision: by('verified', { limits: [exceeded] as NonNullable<Decision['limits']> }) })
  see({ ...read, path: '/private/1', decision: by('verified') })
  see({ ...read, path: '/style.css', decision: by('verified') })
  see({ ...read, path: '/unread', decision: by('unverifiable') })
  see({ status: 403, path: '/a', decision: by('spoofed', { action: 'block' }) })
  see({ ...read, path: '/a', cameFrom: 'ChatGPT', decision: makeDecision('allow') })
  see({ ...read, path: '/style.css', cameFrom: 'ChatGPT', decision: makeDecision('allow') })
  const { crawlers, all } = await report()
  const [verified, ...others] = crawlers.operators
  t.match(verified, {
    operator: 'OpenAI',
    claim: 'verified',
    purposes: ['training'],
    ...{ requests: 4, pages: 3, bytes: 400, disallowed: 1, beyond: 1, unread: 0, stopped: 0 },
    crawlers: [{ name: 'GPTBot', requests: 4 }],
    paths: [
      { name: '/a', requests: 2, pages: 2, disallowed: 0 },
      { name: '/private/*', requests: 1, disallowed: 1 },
      { name: '/style.css', pages: 0 },
    ],
    days: [{ day: '2026-11-26', requests: 4 }],
  })
  t.equal(verified?.hours[12], 4)
  const byClaim = Object.fromEntries(others.map((one) => [one.claim, one]))
  t.match(byClaim, { spoofed: { requests: 1, pages: 0, stopped: 1 }, unverifiable: { requests: 1, unread: 1 } })
  t.match(crawlers.referrals, [{ service: 'ChatGPT', visits: 1, paths: [{ name: '/a' }] }])
  t.match(all.byPurpose, [{ name: 'training', requests: 6 }])
})
