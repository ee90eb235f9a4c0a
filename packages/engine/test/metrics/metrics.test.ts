import type { Decision, ObservedRequest } from '@sallyport/core'
import t from 'tap'
import {
  createExposition,
  createKeptCounts,
  createMetrics,
  exposed,
  keepCounted,
  METRICS,
} from '../../src/metrics/index.ts'

function observed(overrides: Partial<ObservedRequest> = {}, rule = 'policy:no-tor'): ObservedRequest {
  const decision: Decision = {
    action: 'block',
    enforced: true,
    trials: [
      { rule: 'try-it', action: 'block' },
      { rule: 'let-in', action: 'allow' },
    ],
    reasons: [{ id: rule, text: '' }],
    limits: [
      { rule: 'few', action: 'throttle', onTrial: false, used: 3, max: 3, resetMs: 1, exceeded: true },
      { rule: 'many', action: 'throttle', onTrial: false, used: 3, max: 9, resetMs: 1, exceeded: false },
    ],
    inspection: {
      at: '2026-11-01T00:00:00.000Z',
      peer: '',
      client: { address: '', via: 'peer', malformed: false },
      request: { method: 'GET', path: '/' },
      network: {
        reserved: { reserved: false },
        verdict: { classification: 'tor', anonymized: true, confidence: 1, method: 'range:tor' },
        rule: 'address_list',
        provider: '',
        asType: 'unknown',
        agreeing: [],
      },
      agent: { class: 'human', confidence: 1, botProbability: 0, basis: 'none', headless: false, reasons: [] },
      degraded: [],
    },
  }
  return {
    id: 'a',
    decision,
    answeredBy: 'refusal',
    peer: '',
    client: '',
    method: 'GET',
    host: '',
    path: '/',
    status: 403,
    at: 0,
    milliseconds: 12,
    inspectionMilliseconds: 0.2,
    ...overrides,
  }
}

t.test('a request is counted by what was decided, by its rules and limits, and by its times', async (t) => {
  const { observe, registry } = createMetrics()
  observe(observed())
  observe(observed())
  observe(observed({ answeredBy: 'check' }))
  const { decision: _, ...undecided } = observed({ status: 0, refusedFor: 'head' })
  observe(undecided)
  const text = await registry.metrics()
  for (const line of [
    'sallyport_decisions_total{action="block",enforced="true",class="human",network_class="tor"} 2',
    'sallyport_rule_matches_total{rule="no-tor",action="block"} 2',
    'sallyport_rule_matches_total{rule="try-it",action="trial:block"} 2',
    'sallyport_rule_matches_total{rule="let-in",action="trial:allow"} 2',
    'sallyport_limited_requests_total{rule="few",outcome="beyond"} 2',
    'sallyport_limited_requests_total{rule="many",outcome="within"} 2',
    'sallyport_refusals_total{cause="head"} 1',
    'sallyport_request_seconds_bucket{le="0.025",answered_by="refusal",status="4xx"} 2',
    'sallyport_request_seconds_count{answered_by="refusal",status="left"} 1',
    'sallyport_inspection_seconds_bucket{le="0.00025"} 3',
  ]) {
    t.ok(text.split('\n').includes(line), line)
  }
})

t.test('a challenge that its client cannot show counts as a block', async (t) => {
  const { observe, registry } = createMetrics()
  const asked = observed().decision as Decision
  for (const outcome of ['asked', 'program'] as const) {
    observe(observed({ decision: { ...asked, action: 'challenge' }, challenge: { outcome, rule: 'no-tor', level: 2 } }))
  }
  const text = await registry.metrics()
  for (const action of ['challenge', 'block']) {
    t.match(text, `sallyport_decisions_total{action="${action}",enforced="true",class="human",network_class="tor"} 1\n`)
    t.match(text, `sallyport_rule_matches_total{rule="no-tor",action="${action}"} 1\n`)
  }
})

t.test('labels of any text make a bounded number of series', async (t) => {
  const { observe, add, registry } = createMetrics()
  for (let rule = 0; rule < 5_000; rule++) observe(observed({}, `policy:rule-${rule}`))
  add('refusals', ['x'.repeat(10_000)])
  const text = await registry.metrics()
  const series = text.split('\n').filter((line) => line.startsWith('sallyport_rule_matches_total{'))
  t.ok(series.length <= 303, `${series.length}`)
  t.match(text, /sallyport_rule_matches_total\{rule="other",action="block"\} 4\d\d\d/)
  t.match(text, /sallyport_refusals_total\{cause="other"\} 1/)
})

t.test('a value read at a scrape is as it is then; an unreadable one has no values', async (t) => {
  const { read, registry } = createMetrics()
  let connections = 3
  read('connections', () => [[[], connections]])
  read('bans', async () => {
    throw new Error('Redis is away')
  })
  read('visits', () => [[['true'], 7]])
  t.match(await registry.metrics(), /sallyport_connections 3\n/)
  connections = 5
  const text = await registry.metrics()
  t.match(text, /sallyport_connections 5\n/)
  t.match(text, /sallyport_visits_total\{known="true"\} 7\n/)
  t.notMatch(text, /^sallyport_bans \d/m)
})

t.test('workers are summed, and the oldest data counts', async (t) => {
  const scraped = await Promise.all(
    [10, 30].map(async (age) => {
      const metrics = createMetrics()
      metrics.add('dns', ['address', 'found'], age)
      metrics.read('sourceAge', () => [[['tor'], age]])
      metrics.read('sourceEntries', () => [[['tor'], age]])
      return JSON.parse(JSON.stringify(await createExposition(metrics.registry).scrape()))
    }),
  )
  const text = await exposed(scraped)
  t.match(text, /sallyport_dns_questions_total\{kind="address",outcome="found"\} 40\n/)
  t.match(text, /sallyport_source_age_seconds\{source="tor"\} 30\n/)
  t.match(text, /sallyport_source_entries\{source="tor"\} 10\n/)
  t.match(text, /nodejs_eventloop_lag_seconds/)
})

t.test('two services of one process never meet', async (t) => {
  const [one, other] = [createMetrics(), createMetrics()]
  one.observe(observed())
  t.notMatch(await other.registry.metrics(), /sallyport_decisions_total\{/)
  t.same(new Set(Object.values(METRICS).map(({ name }) => name)).size, Object.keys(METRICS).length)
})

t.test('scrapes at one time count nothing twice', async (t) => {
  const { add, read, registry } = createMetrics()
  add('refusals', ['head'], 2)
  read('visits', async () => [[['true'], 7]])
  const texts = await Promise.all([registry.metrics(), registry.metrics(), registry.metrics()])
  for (const text of texts) {
    t.match(text, /sallyport_visits_total\{known="true"\} 7\n/)
    t.match(text, /sallyport_refusals_total\{cause="head"\} 2\n/)
  }
})

t.test("a process's counts are kept when it is late or gone, and its gauges are not", async (t) => {
  const processes = ['first', 'second', 'third'].map((name) => {
    const metrics = createMetrics()
    metrics.read('connections', () => [[[], 7]])
    return { name, metrics, ...createExposition(metrics.registry) }
  })
  const [first, second, third] = processes as [
    (typeof processes)[number],
    (typeof processes)[number],
    (typeof processes)[number],
  ]
  const kept = createKeptCounts<string>()
  for (const [at, { name, metrics, counted }] of processes.entries()) {
    const early = await counted()
    for (let seen = 0; seen <= at; seen++) metrics.observe(observed({ status: seen === 0 ? 403 : 200 }))
    // As it is after it has crossed to another process; one that was read before, and is late, takes nothing back.
    kept.report(name, JSON.parse(JSON.stringify(await counted())))
    kept.report(name, early)
  }
  t.same(keepCounted(await first.scrape()).length, (await first.counted()).length, 'a scrape has as many that count')
  kept.end(first.name)
  kept.end(first.name)
  kept.end(second.name)
  const text = await exposed([await third.scrape(), ...kept.beside(new Set([third.name]))])
  for (const line of [
    'sallyport_decisions_total{action="block",enforced="true",class="human",network_class="tor"} 6',
    'sallyport_request_seconds_bucket{le="0.025",answered_by="refusal",status="4xx"} 3',
    'sallyport_request_seconds_count{answered_by="refusal",status="2xx"} 3',
    'sallyport_request_seconds_sum{answered_by="refusal",status="4xx"} 0.036',
    'sallyport_connections 7',
  ]) {
    t.match(text, `\n${line}\n`)
  }
  t.same(
    structuredClone(kept.beside(new Set())),
    kept.beside(new Set()),
    'data alone: no function holds what was summed',
  )
  const late = await exposed(kept.beside(new Set()))
  t.match(late, 'network_class="tor"} 6\n', 'one that is not heard counts with what it reported last')
  t.notMatch(late, 'sallyport_connections')
  t.notMatch(late, 'process_resident_memory_bytes')
  t.match(late, 'process_cpu_seconds_total ')
})

t.test('questions and answers are counted by rule, outcome, level and network', async (t) => {
  let now = 1_790_000_000_000
  const { observe, registry } = createMetrics(() => now)
  const step = (challenge: NonNullable<ObservedRequest['challenge']>) => observe(observed({ challenge, at: now }))
  step({ outcome: 'asked', rule: 'ask', level: 2 })
  step({ outcome: 'asked', rule: 'ask', level: 2 })
  step({ outcome: 'asked', rule: 'ask', level: 2, refused: 'spent' })
  step({ outcome: 'waiting', rule: 'ask', level: 2 })
  now += 20_000
  step({ outcome: 'solved', rule: 'ask', level: 2, seconds: 20 })
  step({ outcome: 'wrong', rule: 'ask', level: 2 })
  step({ outcome: 'forged' })
  step({ outcome: 'waited', rule: 'other', level: 1, degraded: true })
  const lines = async () => (await registry.metrics()).split('\n')
  const labels = (outcome: string, level = '2', rule = 'ask') =>
    `sallyport_challenges_total{rule="${rule}",outcome="${outcome}",level="${level}",network_class="tor"}`
  const before = await lines()
  for (const outcome of ['waited', 'degraded']) t.ok(before.includes(`${labels(outcome, '1', 'other')} 1`), outcome)
  for (const line of [
    `${labels('asked')} 3`,
    `${labels('waiting')} 1`,
    `${labels('solved')} 1`,
    `${labels('wrong')} 1`,
    `${labels('spent')} 1`,
    `${labels('forged', '', '')} 1`,
    'sallyport_challenge_seconds_bucket{le="13",level="2"} 0',
    'sallyport_challenge_seconds_bucket{le="20",level="2"} 1',
  ]) {
    t.ok(before.includes(line), line)
  }
  const abandoned = 'sallyport_challenges_abandoned_total{rule="ask",level="2",network_class="tor"}'
  t.notOk(
    before.some((line) => line.startsWith(abandoned)),
    'they can be answered still',
  )
  now += 330_000
  t.ok((await lines()).includes(`${abandoned} 2`))
  // Answered here, and asked by another process.
  step({ outcome: 'solved', rule: 'ask', level: 2, seconds: 1 })
  now += 360_000
  t.ok((await lines()).includes(`${abandoned} 2`), 'a count never falls')
  step({ outcome: 'asked', rule: 'ask', level: 2 })
  now += 360_000
  t.ok((await lines()).includes(`${abandoned} 2`), 'one is set off against the other')
})
