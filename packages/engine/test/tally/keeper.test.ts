import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Decision, ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { createMetrics } from '../../src/metrics/index.ts'
import { openDatabase } from '../../src/stores/index.ts'
import { MAX_ROWS, Slot, type Subject } from '../../src/tally/cells.ts'
import {
  createPlaces,
  createTallyKeeper,
  readTallyFile,
  reportCrawlers,
  reportTally,
  sumHours,
  type TallyKeeper,
} from '../../src/tally/index.ts'
import { createTally } from '../../src/tally/tally.ts'
import { decisionFor, observed } from '../log/observed.ts'

const HOUR = 3_600_000
const NOON = Date.UTC(2026, 10, 26, 12)
const CONFIG = { mode: 'monitor' }

type Some = Partial<ObservedRequest>

/** Opens a process on a tally, which counts what it observes in its own rows first. */
function member(t: Test, file: string, faults: unknown[] = [], now = () => NOON) {
  const metrics = createMetrics()
  const keeper = createTallyKeeper(CONFIG, {
    file,
    keepMs: 30 * 24 * HOUR,
    placeOf: createPlaces(() => Buffer.from('key')),
    robots: (_, path) => (path === '/unread' ? undefined : path.startsWith('/private')),
    now,
    onFault: (error) => faults.push(error),
  })
  t.teardown(keeper.close)
  return { keeper, see: (some: Some) => see(keeper, metrics, some) }
}

function see(keeper: TallyKeeper, metrics: ReturnType<typeof createMetrics>, some: Some): void {
  const one = observed({ at: NOON, ...some })
  const row = metrics.observe(one)
  if (row !== undefined) keeper.observe(one, row)
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

t.test('a probe by a balancer is not counted', async (t) => {
  const tally = createTally('policy', { placeOf: () => 0, robots: () => undefined })
  const { inspection, ...decision } = makeDecision('allow')
  const client = { ...inspection.client, isProxy: true } as const
  tally.observe(observed({ decision: { ...decision, inspection: { ...inspection, client } } }), { at: 0, labels: [] })
  t.same(tally.slots, [])
})

t.test('the hours of a span have each outcome, class and network', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  const { keeper, see } = member(t, file)
  for (const [hour, action] of [
    [0, 'block'],
    [2, 'block'],
    [2, 'allow'],
    [2, 'block'],
  ] as const)
    see({ at: NOON + hour * HOUR, decision: makeDecision(action) })
  await keeper.flush()
  const hours = sumHours(await readTallyFile(file, NOON, NOON + 3 * HOUR))
  t.match(hours, {
    from: NOON,
    outcomes: { block: [1, 0, 2], allow: [0, 0, 1] },
    networks: { residential_clean: 4 },
  })
  t.equal(
    Object.values(hours.classes).reduce((sum, count) => sum + count, 0),
    4,
  )
})

t.test('challenges are counted by rule and level, and countries, until another process reads them', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  const { keeper, see } = member(t, file)
  const { inspection, ...decision } = makeDecision('challenge')
  const from = (country: string) => ({ ...decision, inspection: { ...inspection, country } })
  const outcomes = ['asked', 'asked', 'waiting', 'program', 'solved', 'waited', 'wrong', 'spent'] as const
  for (const outcome of outcomes) see({ decision: from('DE'), challenge: { outcome, rule: 'ask', level: 2 } })
  // A wait that earned no pass is followed by another challenge, and a forged solution names no rule.
  see({ decision: from('FR'), challenge: { outcome: 'asked', refused: 'early', rule: 'ask', level: 3 } })
  see({ decision: from('FR'), challenge: { outcome: 'forged' } })
  await keeper.close()
  const { all } = await readReport(file)
  t.match(all.challenges, [
    { rule: 'ask', level: '2', asked: 2, solved: 2, failed: 2, unshown: 1 },
    { rule: 'ask', level: '3', asked: 1, solved: 0, failed: 1, unshown: 0 },
    { rule: '', level: '', asked: 0, solved: 0, failed: 1, unshown: 0 },
  ])
  t.match(all.byCountry, [
    { name: 'DE', requests: 8, share: 0.8 },
    { name: 'FR', requests: 2 },
  ])
})

t.test('a path is remembered without the target that it is a piece of, and a long one not at all', async (t) => {
  const tally = createTally('policy', { placeOf: () => 0, robots: () => undefined })
  const long = `/${'a'.repeat(300)}`
  for (const path of ['/shop', long, long]) {
    tally.observe(observed({ path, decision: makeDecision('allow') }), { at: 0, labels: ['allow'] })
  }
  const [slot] = tally.slots
  t.match(slot?.paths[0].get('/shop'), { labels: ['/shop', ''], requests: 1 })
  t.equal(slot?.paths[0].get(long), undefined)
  t.match(slot?.of('path', ['/*', '']), { requests: 2 }, 'and is counted all the same')
})

const client = (index: number) => `198.51.${index >> 8}.${index & 255}`

t.test('several processes write one truth, and people are counted once', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  const [one, other] = [member(t, file), member(t, file)]
  t.notOk(existsSync(file), 'nothing is opened before something is counted')
  for (let index = 0; index < 300; index++) {
    const { see } = index % 2 === 0 ? one : other
    see({ client: client(index % 100), decision: makeDecision('allow'), answeredBy: 'origin', status: 200 })
    if (index % 100 < 10) see({ client: client(index % 100), decision: makeDecision('block', { enforced: false }) })
    if (index % 50 === 0) await Promise.all([one.keeper.flush(), other.keeper.flush()])
  }
  await Promise.all([one.keeper.close(), other.keeper.close()])
  const { all } = await readReport(file)
  t.match(all, { requests: 330, bytes: 330 * 321, visitors: { requests: 330 } })
  t.ok(Math.abs(all.visitors.people - 100) <= 4, `${all.visitors.people} people`)
  t.match(all.visitors.hit, { people: 0, requests: 0 })
  t.match(all.visitors.wouldHit, { requests: 30, asked: 0 })
  t.ok(Math.abs(all.visitors.wouldHit.people - 10) <= 1, `${all.visitors.wouldHit.people} would be hit`)
  t.match(all.byAction, [
    { name: 'allow', requests: 300 },
    { name: 'block', requests: 30 },
  ])
  t.match(all.rules, [{ rule: 'no-tor', action: 'block', state: 'monitor', requests: 30 }])
})

t.test('trials, limits of ours, questions and failures are counted apart', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  const { keeper, see } = member(t, file)
  const trials = [{ rule: 'try', action: 'challenge' as const }]
  see({
    client: client(1),
    decision: makeDecision('allow', { trial: trials[0], trials }),
    answeredBy: 'origin',
    status: 200,
  })
  see({ client: client(2), decision: makeDecision('challenge'), status: 403 })
  see({ client: client(3), decision: makeDecision('block', { trials }), status: 403 })
  see({ client: client(4), decision: makeDecision('allow'), answeredBy: 'origin', status: 403 })
  see({ client: client(5), decision: makeDecision('throttle'), status: 429 })
  see({ client: client(6), decision: makeDecision('allow'), answeredBy: 'origin', status: 502 })
  see({ client: client(7), decision: makeDecision('allow'), answeredBy: 'origin', status: 0 })
  see({ status: 503, answeredBy: 'refusal', refusedFor: 'queue' })
  see({ status: 200, answeredBy: 'api' })
  see({ answeredBy: 'check', decision: makeDecision('block') })
  await keeper.flush()
  const { all } = await readReport(file)
  const answers = Object.fromEntries(all.answers.map(({ name, requests, ours }) => [name, [requests, ours]]))
  t.same(answers, { '2xx': [2, 0], challenge: [1, 1], '403': [2, 1], '429': [1, 1], '5xx': [2, 1], left: [1, 0] })
  t.match(all, {
    requests: 9,
    visitors: { people: 7, hit: { people: 3, asked: 1 }, wouldHit: { people: 4, requests: 4, asked: 2 } },
  })
  t.match(
    all.rules.filter(({ state }) => state === 'trial'),
    [{ rule: 'try', action: 'challenge', requests: 2, people: 2, real: 2 }],
  )
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
  t.match(all.changes, [
    {
      changed: ['mode'],
      before: { requests: 2, visitors: 1, hit: 0, wouldHit: 1 },
      after: { requests: 4, visitors: 2, hit: 0.5 },
    },
  ])
  t.equal(all.changes.length, 1, 'both processes make one mark')
})

t.test('a week before is held against now, and what is too old is dropped', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  let now = NOON - 7 * 24 * HOUR
  const { keeper, see } = member(t, file, [], () => now)
  for (let index = 0; index < 4; index++) see({ decision: makeDecision('allow'), at: now })
  await keeper.flush()
  now = NOON
  see({ decision: makeDecision('block') })
  await keeper.flush()
  t.match((await readReport(file)).all, { now: { requests: 1, hit: 1 }, before: { requests: 4, hit: 0 } })
  now += 24 * 24 * HOUR
  see({ decision: makeDecision('allow'), at: now })
  await keeper.flush()
  t.equal((await readReport(file)).all.before, undefined)
  t.equal((await readReport(file)).all.requests, 1)
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
  const file = join(t.testdir(), 'tally.db')
  const { keeper, see } = member(t, file)
  const requests = 3 * MAX_ROWS.path
  const hashName = (index: number) => createHash('md5').update(String(index)).digest('hex').replace(/\d/g, 'x')
  for (let index = 0; index < requests; index++) see({ decision: makeDecision('allow'), path: `/${hashName(index)}` })
  await keeper.flush()
  const { reading, all } = await readReport(file)
  const paths = reading.rows.filter(({ subject }) => subject === 'path')
  t.ok(paths.length <= 2 * MAX_ROWS.path + 1, `${paths.length} rows`)
  t.equal(
    paths.reduce((sum, { requests }) => sum + requests, 0),
    requests,
  )
  t.equal(all.requests, requests)
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

t.test('each subject keeps its labels beyond its bound, and none beyond twice that', async (t) => {
  const rows: readonly (readonly [Subject, readonly string[], readonly string[]])[] = [
    ['trial', ['block', 'human', 'alone'], ['other', 'block', 'human', 'alone']],
    ['system', ['stopped'], ['other', 'stopped']],
    ['referral', ['/a'], ['other', 'other']],
  ]
  for (const [subject, labels, expected] of rows) {
    const slot = new Slot(0, 'policy')
    for (let at = 0; at < MAX_ROWS[subject]; at++) slot.of(subject, [`name-${at}`, ...labels])
    t.same(slot.of(subject, ['more', ...labels]).labels, expected)
  }
  const slot = new Slot(0, 'policy')
  const of = (at: number) => slot.of('crawler', [`operator-${at}`, 'proven', 'search', 'a', '', '', '']).labels
  for (let at = 0; at < 2 * MAX_ROWS.crawler; at++) t.equal(of(at)[0], `operator-${at}`)
  t.same(of(2 * MAX_ROWS.crawler), Array(7).fill('other'))
})

const CRAWLER = {
  slug: 'gptbot',
  name: 'GPTBot',
  operator: 'OpenAI',
  purpose: 'training',
  pending: false,
  summary: '',
} as const

t.test('what was read in a name is kept apart by what was shown of it', async (t) => {
  const file = join(t.testdir(), 'tally.db')
  const { keeper, see } = member(t, file)
  const by = (outcome: 'verified' | 'unverifiable' | 'spoofed', more: Partial<Decision> = {}): Decision => {
    const decision = makeDecision('allow', more)
    const agent = { ...decision.inspection.agent, class: 'verified_crawler' as const }
    return { ...decision, inspection: { ...decision.inspection, agent, crawler: { ...CRAWLER, outcome } } }
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
  await keeper.flush()
  const { crawlers, all } = await readReport(file)
  const [verified, ...others] = crawlers.operators
  t.match(verified, {
    operator: 'OpenAI',
    claim: 'verified',
    purposes: ['training'],
    requests: 4,
    pages: 3,
    bytes: 400,
    disallowed: 1,
    beyond: 1,
    unread: 0,
    stopped: 0,
    crawlers: [{ name: 'GPTBot', requests: 4 }],
    paths: [
      { name: '/a', requests: 2, pages: 2, disallowed: 0 },
      { name: '/private/*', requests: 1, disallowed: 1 },
      { name: '/style.css', pages: 0 },
    ],
    days: [{ day: '2026-11-26', requests: 4 }],
  })
  t.equal(verified?.hours[12], 4)
  t.match(
    others.sort((one, other) => (one.claim < other.claim ? -1 : 1)),
    [
      { claim: 'spoofed', requests: 1, pages: 0, stopped: 1 },
      { claim: 'unverifiable', requests: 1, unread: 1 },
    ],
  )
  t.match(crawlers.referrals, [{ service: 'ChatGPT', visits: 1, paths: [{ name: '/a' }] }])
  t.match(all.byPurpose, [{ name: 'training', requests: 6 }])
})
