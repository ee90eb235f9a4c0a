import { ACTIONS, AGENT_CLASSES, describeOutcome, NETWORK_CLASSES, type ObservedRequest } from '@sallyport/core'
import { createMetrics } from '@sallyport/engine'
import t from 'tap'
import { type HistoryReading, mergeReadings } from '../../src/console/history/history.ts'
import { createSeries } from '../../src/console/history/series.ts'
import { createHistory } from '../../src/console/index.ts'

type Decision = NonNullable<ObservedRequest['decision']>

/** A history of a service that counts its requests. */
function counting() {
  const meter = createMetrics()
  const history = createHistory(() => meter.ended)
  const observe = (request: ObservedRequest) => {
    history.observe(request)
    meter.observe(request)
  }
  return { ...history, observe }
}

const AT = Date.parse('2026-11-24T12:00:30Z')

const SEEN = {
  answeredBy: 'api',
  peer: '127.0.0.1',
  client: '203.0.113.9',
  method: 'GET',
  host: 'site.example',
} as const

const observed = (id: string, some: Partial<ObservedRequest> = {}): ObservedRequest => ({
  ...SEEN,
  ...{ id, path: '/v1/myip', status: 200, at: AT, milliseconds: 1 },
  ...some,
})

t.test('a series forgets what is older than itself, and never mixes two rounds', async (t) => {
  const series = createSeries({ slots: 4, slotMs: 1_000, kinds: 2 })
  for (const [at, kind] of [
    [1_500, 0],
    [2_500, 1],
    [2_600, 1],
  ] as const)
    series.add(at, kind, 1)
  t.same(series.read(2_900, 3).join(' '), '0,0 1,0 0,2')
  series.add(5_500, 0, 1)
  t.same(series.read(5_900, 4).join(' '), '0,2 0,0 0,0 1,0')
  series.add(1_000, 0, 1)
  t.same(series.read(5_900, 4)[3], [1, 0], 'a request that took longer than the series is left out')
  t.same(series.read(60_000, 4), new Array(4).fill([0, 0]))
})

t.test('a history counts by what became of requests, and remembers some of each second', async (t) => {
  const { observe, read, recent } = counting()
  for (let index = 0; index < 4_100; index++) observe(observed(`r${index}`))
  observe(observed('bad-head', { answeredBy: 'refusal', refusedFor: 'head' }))
  observe(observed('asked-about', { answeredBy: 'check' }))
  const { totals, curves, step, from } = read('5m', AT + 1_000)
  t.match(totals, { api: 4_100, refused: 1, allow: 0 })
  t.equal(curves.api.length, 300)
  t.equal(curves.api[Math.floor((AT - from) / step)], 4_100)
  t.equal(read('24h', AT).totals.api, 4_100)
  t.equal(read('24h', AT).curves.api.length, 288)
  t.equal(read('1h', AT + 86_400_000).totals.api, 0)
  const ids = recent.list().map(({ id }) => id)
  t.same([ids.length, ids[0], ids[49], ids[50]], [51, 'r0', 'r49', 'bad-head'])
  t.equal(recent.find('r50'), undefined)
  t.equal(recent.find('bad-head')?.refusedFor, 'head')
  for (let index = 0; index < 300; index++) observe(observed(`f${index}`, { answeredBy: 'refusal', at: AT + 1_000 }))
  t.equal(recent.count, 151, 'a hundred of those that something was done to, and the next second has room again')
})

t.test('rows since a place are asked for, as far as they are kept', async (t) => {
  const { observe, recent } = counting()
  const idsSince = (count: number) => recent.since(count).map(({ id }) => id)
  t.same(idsSince(0), [])
  for (let index = 0; index < 3; index++) observe(observed(`a${index}`))
  t.same(idsSince(1), ['a1', 'a2'])
  t.same(idsSince(recent.count), [])
  t.same(idsSince(7), [], 'of a process that is another now')
  for (let index = 0; index < 4_000; index++) observe(observed(`b${index}`, { at: AT + 1_000 + index * 20 }))
  t.equal(idsSince(0).length, 4_000)
  t.same(idsSince(4_001), ['b3998', 'b3999'])
  t.equal(idsSince(3_000)[0], 'b2997')
  t.equal(recent.find('a0'), undefined)
})

t.test("a balancer's probe is in the stream, and no traffic", async (t) => {
  const { observe, read, recent } = counting()
  const inspection = { client: {}, network: { verdict: { classification: 'unknown' } }, agent: { class: 'human' } }
  const decide = (client: object) =>
    ({ action: 'allow', enforced: true, reasons: [], inspection: { ...inspection, client } }) as unknown as Decision
  observe(observed('visitor', { decision: decide({}) }))
  observe(observed('probe', { decision: decide({ isProxy: true }) }))
  const { totals, classes, networks } = read('5m', AT + 1_000)
  t.match(totals, { allow: 1 })
  const shown = [...classes, ...networks].filter(({ count }) => count > 0).map(({ name, count }) => `${name} ${count}`)
  t.same(shown, ['human 1', 'unknown 1'])
  t.equal(recent.count, 2)
})

const REQUESTS = 100_000

/** Requests of all kinds, 500 a second. */
function* mixed(): Generator<ObservedRequest> {
  for (let index = 0; index < REQUESTS; index++) {
    const one = <T>(values: readonly T[], every = 1): T => values[Math.floor(index / every) % values.length] as T
    const request = observed(`r${index}`, { at: AT + index * 2, path: `/p${index % 90}` })
    const answeredBy = one(['origin', 'host', 'refusal', 'check', 'api'] as const, 7)
    const network = { verdict: { classification: one(NETWORK_CLASSES) }, asn: 64_500 + (index % 90), asName: 'Made' }
    const inspection = { network, agent: { class: one(AGENT_CLASSES, 3) }, country: one(['DE', 'FR', 'US']) }
    const reasons = [{ id: `policy:r${index % 20}` }]
    const decided = { action: one(ACTIONS, 11), enforced: one([true, false], 13), reasons, inspection }
    yield { ...request, answeredBy, ...(index % 6 > 0 && { decision: decided as unknown as Decision }) }
  }
}

t.test('a hundred thousand requests are in the curves as when they are counted once more', async (t) => {
  const { observe, read } = counting()
  const wanted = new Map<string, number>()
  const add = (key: string) => void wanted.set(key, (wanted.get(key) ?? 0) + 1)
  for (const request of mixed()) {
    observe(request)
    if (request.answeredBy === 'check') continue
    add(`${describeOutcome(request)} ${Math.floor((request.at + 1) / 1_000)}`)
    const { inspection } = request.decision ?? {}
    if (inspection === undefined) continue
    add(`class ${inspection.agent.class}`)
    add(`network ${inspection.network.verdict.classification}`)
  }
  const found = new Map<string, number>()
  const now = AT + REQUESTS * 2
  const { from, step, curves, classes, networks } = read('5m', now)
  for (const [outcome, curve] of Object.entries(curves))
    for (const [index, count] of curve.entries())
      if (count > 0) found.set(`${outcome} ${(from + index * step) / 1_000}`, count)
  for (const { name, count } of classes) found.set(`class ${name}`, count)
  for (const { name, count } of networks) found.set(`network ${name}`, count)
  t.ok(wanted.size > 1_400, `${wanted.size} counts`)
  const wrong = [...wanted.keys(), ...found.keys()].filter((key) => wanted.get(key) !== found.get(key))
  t.same(wrong, [])
})

t.test('counts of several processes are read as one', async (t) => {
  const processes = [counting(), counting()] as const
  for (const [index, { observe }] of processes.entries()) {
    for (let times = 0; times <= index; times++) observe(observed(`r${times}`))
    observe(observed('bad-head', { answeredBy: 'refusal', refusedFor: 'head', at: AT - 60_000 }))
  }
  const [one, two] = processes.map(({ read }) => read('5m', AT + 1_000))
  const { totals, curves } = mergeReadings([one as HistoryReading, two as HistoryReading])
  t.match(totals, { api: 3, refused: 2, allow: 0 })
  t.equal(Math.max(...curves.api), 3)
})
