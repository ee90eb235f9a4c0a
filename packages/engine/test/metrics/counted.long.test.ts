import {
  ACTIONS,
  AGENT_CLASSES,
  type Decision,
  NETWORK_CLASSES,
  type ObservedRequest,
  type Writable,
} from '@sallyport/core'
import t from 'tap'
import { createMetrics } from '../../src/metrics/index.ts'
import { decisionFor, observed as plain } from '../log/observed.ts'

const REQUESTS = 100_000
const ANSWERERS = ['origin', 'host', 'api', 'refusal', 'check'] as const
const STATUSES = [0, 101, 200, 200, 304, 403, 404, 429, 502] as const

/** Numbers below `bound`, the same in every run. */
function numbers(): (bound: number) => number {
  let state = 20_261_126
  return (bound) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
}

/** Requests of all kinds, decided by rules `r0` to `r179`, and after a reload by `r90` to `r269`, then in monitor mode. */
function* mixed(): Generator<ObservedRequest> {
  const next = numbers()
  const one = <T>(values: readonly T[]): T => values[next(values.length)] as T
  for (let at = 0; at < REQUESTS; at++) {
    const isReloaded = at >= REQUESTS / 2
    const action = one(ACTIONS)
    const base = plain({ status: one(STATUSES) })
    const decision = {
      action,
      enforced: action === 'allow' || !isReloaded,
      reasons: [{ id: next(9) === 0 ? 'inspection_failed' : `policy:r${next(180) + (isReloaded ? 90 : 0)}`, text: '' }],
      inspection: {
        ...base.decision?.inspection,
        agent: { class: one(AGENT_CLASSES) },
        network: { verdict: { classification: one(NETWORK_CLASSES) } },
      },
      ...(next(5) === 0 && {
        trials: [
          { rule: `t${next(9)}`, action: 'block' },
          { rule: 'try', action: 'allow' },
        ],
      }),
      ...(next(5) === 0 && { limits: [{ rule: `l${next(9)}`, exceeded: next(2) === 0 }] }),
    } as unknown as Decision
    const { decision: _, ...undecided } = base
    const request: Writable<ObservedRequest> = { ...undecided, answeredBy: one(ANSWERERS) }
    // Parts of a second that are sums of powers of two: no sum is rounded.
    request.milliseconds = (next(40_000) * 1_000) / 1_024
    if (next(6) > 0) request.decision = decision
    if (next(3) > 0) request.inspectionMilliseconds = (next(900) * 1_000) / 1_048_576
    if (next(8) === 0) request.refusedFor = one(['head', 'queue', 'body'])
    yield request
  }
}

const SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

type Labels = Readonly<Record<string, unknown>>

/** Counts the requests a second time from their own words, and returns the lines of an exposition. */
function countRequests(requests: Iterable<ObservedRequest>): ReadonlyMap<string, number> {
  const lines = new Map<string, number>()
  const add = (name: string, labels: Labels, by = 1) => {
    const texts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    const line = texts.length === 0 ? name : `${name}{${texts.join(',')}}`
    lines.set(line, (lines.get(line) ?? 0) + by)
  }
  /** Holds seconds by the labels of their histogram. */
  const durations = new Map<string, { readonly name: string; readonly labels: Labels; readonly seconds: number[] }>()
  const observe = (name: string, labels: Labels, seconds: number) => {
    const key = name + Object.values(labels)
    const known = durations.get(key) ?? { name, labels, seconds: [] }
    durations.set(key, known)
    known.seconds.push(seconds)
  }
  for (const { decision, answeredBy, status, milliseconds, inspectionMilliseconds, refusedFor } of requests) {
    if (answeredBy === 'check') continue
    const answer = status === 0 ? 'left' : `${String(status)[0]}xx`
    observe('sallyport_request_seconds', { answered_by: answeredBy, status: answer }, milliseconds / 1_000)
    if (inspectionMilliseconds !== undefined)
      observe('sallyport_inspection_seconds', {}, inspectionMilliseconds / 1_000)
    if (refusedFor !== undefined) add('sallyport_refusals_total', { cause: refusedFor })
    if (decision === undefined) continue
    const { action, enforced, reasons, trials = [], limits = [], inspection } = decision
    const [who, network] = [inspection.agent.class, inspection.network.verdict.classification]
    add('sallyport_decisions_total', { action, enforced, class: who, network_class: network })
    add('sallyport_rule_matches_total', { rule: reasons[0]?.id.replace('policy:', ''), action })
    for (const trial of trials)
      add('sallyport_rule_matches_total', { rule: trial.rule, action: `trial:${trial.action}` })
    for (const { rule, exceeded } of limits)
      add('sallyport_limited_requests_total', { rule, outcome: exceeded ? 'beyond' : 'within' })
  }
  for (const { name, labels, seconds } of durations.values()) {
    for (const le of SECONDS) add(`${name}_bucket`, { le, ...labels }, seconds.filter((one) => one <= le).length)
    add(`${name}_bucket`, { le: '+Inf', ...labels }, seconds.length)
    add(
      `${name}_sum`,
      labels,
      seconds.reduce((sum, one) => sum + one, 0),
    )
    add(`${name}_count`, labels, seconds.length)
  }
  return lines
}

/** Lines of an exposition about what was observed. */
function readLines(text: string): ReadonlyMap<string, number> {
  const lines = text
    .split('\n')
    .filter((line) => /^sallyport_(?:decisions|rule_|limited|refusals|request_s|inspection_)/.test(line))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

/** Lines that differ by more than the last bit of a sum. */
function differences(found: ReadonlyMap<string, number>, wanted: ReadonlyMap<string, number>): readonly string[] {
  return [...new Set([...found.keys(), ...wanted.keys()])].filter(
    (line) => !(Math.abs((found.get(line) ?? NaN) - (wanted.get(line) ?? NaN)) < 1e-6),
  )
}

const WANTED = countRequests(mixed())

t.test('all counts are those of the requests counted once more, before and after a reload', async (t) => {
  const { observe, registry } = createMetrics()
  for (const request of mixed()) observe(request)
  const lines = readLines(await registry.metrics())
  t.ok(lines.size > 1_500, `${lines.size} lines`)
  t.same(differences(lines, WANTED), [])
})

t.test('rows are bounded: rules beyond the first are one, and nothing is counted twice or lost', async (t) => {
  const { observe, ended, registry } = createMetrics()
  const seen = new Map<string, number>()
  const next = numbers()
  for (let at = 0; at < REQUESTS; at++) {
    const rule = `r${next(2_000)}`
    const known = seen.has(rule) || seen.size < 300 ? rule : 'other'
    seen.set(known, (seen.get(known) ?? 0) + 1)
    observe(plain({ decision: decisionFor('flag', rule) }))
  }
  t.equal(ended.length, 301)
  const wanted = new Map(
    [...seen].map(([rule, count]) => [`sallyport_rule_matches_total{rule="${rule}",action="flag"}`, count]),
  )
  const lines = [...readLines(await registry.metrics())].filter(([line]) => line.includes('rule_matches'))
  t.same(differences(new Map(lines), wanted), [])
})
