import type { Decision, ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { createExposition, createKeptCounts, createMetrics, exposed, keepCounted } from '../../src/metrics/index.ts'
import { decisionFor, observed as ended } from '../log/observed.ts'

/** A request that a rule blocked, with two trials and two limits beside it. */
function observed(overrides: Partial<ObservedRequest> = {}, rule = 'no-tor'): ObservedRequest {
  const limit = { action: 'throttle', onTrial: false, used: 3, max: 3, resetMs: 1 } as const
  const decision: Decision = {
    ...decisionFor('block', rule),
    trials: [
      { rule: 'try-it', action: 'block' },
      { rule: 'let-in', action: 'allow' },
    ],
    limits: [
      { ...limit, rule: 'few', exceeded: true },
      { ...limit, rule: 'many', exceeded: false },
    ],
  }
  return ended({ decision, answeredBy: 'refusal', milliseconds: 12, inspectionMilliseconds: 0.2, ...overrides })
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
  ])
    t.ok(text.split('\n').includes(line), line)
  t.notMatch(await createMetrics().registry.metrics(), /sallyport_decisions_total\{/, 'another service has its own')
})

t.test('labels of any text make a bounded number of series', async (t) => {
  const { observe, add, registry } = createMetrics()
  for (let rule = 0; rule < 5_000; rule++) observe(observed({}, `rule-${rule}`))
  add('refusals', ['x'.repeat(10_000)])
  const text = await registry.metrics()
  const series = text.split('\n').filter((line) => line.startsWith('sallyport_rule_matches_total{'))
  t.ok(series.length <= 303, `${series.length}`)
  t.match(text, /sallyport_rule_matches_total\{rule="other",action="block"\} 4\d\d\d/)
  t.match(text, /sallyport_refusals_total\{cause="other"\} 1/)
  const blocked = series.filter((line) => line.includes('action="block"')).map((line) => Number(line.split(' ').at(-1)))
  const sum = blocked.reduce((total, count) => total + count, 0)
  t.equal(sum, 5_000, 'none is lost or counted twice')
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
  for (const text of await Promise.all([registry.metrics(), registry.metrics()])) {
    t.match(text, /sallyport_connections 5\n/)
    t.match(text, /sallyport_visits_total\{known="true"\} 7\n/, 'scrapes at one time count nothing twice')
    t.notMatch(text, /^sallyport_bans \d/m)
  }
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

t.test("a process's counts are kept when it is late or gone, and its gauges are not", async (t) => {
  const processes = ['first', 'second', 'third'].map((name) => {
    const metrics = createMetrics()
    metrics.read('connections', () => [[[], 7]])
    return { name, metrics, ...createExposition(metrics.registry) }
  })
  type Process = (typeof processes)[number]
  const [first, second, third] = processes as [Process, Process, Process]
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
  ])
    t.match(text, `\n${line}\n`)
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
  const ask = { rule: 'ask', level: 2 } as const
  for (const more of [{}, {}, { refused: 'spent' as const }]) step({ outcome: 'asked', ...ask, ...more })
  step({ outcome: 'waiting', ...ask })
  now += 20_000
  step({ outcome: 'solved', ...ask, seconds: 20 })
  step({ outcome: 'wrong', ...ask })
  step({ outcome: 'forged' })
  step({ outcome: 'waited', rule: 'other', level: 1, degraded: true })
  const lines = async () => (await registry.metrics()).split('\n')
  const labels = (outcome: string, level = '2', rule = 'ask') =>
    `sallyport_challenges_total{rule="${rule}",outcome="${outcome}",level="${level}",network_class="tor"}`
  const before = await lines()
  for (const line of [
    `${labels('asked')} 3`,
    ...['waiting', 'solved', 'wrong', 'spent'].map((outcome) => `${labels(outcome)} 1`),
    ...['waited', 'degraded'].map((outcome) => `${labels(outcome, '1', 'other')} 1`),
    `${labels('forged', '', '')} 1`,
    'sallyport_challenge_seconds_bucket{le="13",level="2"} 0',
    'sallyport_challenge_seconds_bucket{le="20",level="2"} 1',
  ])
    t.ok(before.includes(line), line)
  const abandoned = 'sallyport_challenges_abandoned_total{rule="ask",level="2",network_class="tor"}'
  t.notMatch(before.join('\n'), abandoned, 'they can be answered still')
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
