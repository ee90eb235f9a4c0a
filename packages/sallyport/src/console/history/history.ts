import { ACTIONS, AGENT_CLASSES, NETWORK_CLASSES, type ObservedRequest } from '@sallyport/core'
import { createRecent, type Recent } from './recent.ts'
import { createSeries, type Series } from './series.ts'
import { createSubjects, type Subject } from './subjects.ts'
import type { Counted } from './top.ts'

/** Outcome of a request: the action, or who answered what was not decided. */
export const OUTCOMES = [...ACTIONS, 'api', 'refused'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** How far back one looks. */
export const SPANS = {
  '5m': { ms: 300_000, seriesMs: 1_000, hours: 1 },
  '1h': { ms: 3_600_000, seriesMs: 60_000, hours: 2 },
  '24h': { ms: 86_400_000, seriesMs: 300_000, hours: 24 },
} as const
export type Span = keyof typeof SPANS

const RECENT = 4_000
const MINUTE_MS = 60_000

/** Counts of a span, and the curve of each outcome. */
export interface HistoryReading {
  /** Milliseconds since the epoch of the first point, and from one to the next. */
  readonly from: number
  readonly step: number
  readonly curves: Readonly<Record<Outcome, readonly number[]>>
  readonly totals: Readonly<Record<Outcome, number>>
  readonly classes: readonly Counted[]
  readonly networks: readonly Counted[]
}

/** The last 24 hours of one process, in bounded memory: about 15 MB when it is full. */
export interface History {
  /** For the `observe` hook of `open()`. */
  readonly observe: (observed: ObservedRequest) => void
  read(span: Span, now: number): HistoryReading
  top(subject: Subject, now: number, hours: number, limit: number): readonly Counted[]
  /** The last requests, oldest first. */
  readonly recent: Omit<Recent, 'add'>
}

export function createHistory(): History {
  const kinds = OUTCOMES.length
  const seconds = createSeries({ slots: 330, slotMs: 1_000, kinds })
  const minutes = createSeries({ slots: 1_445, slotMs: MINUTE_MS, kinds })
  const classes = createSeries({ slots: 1_445, slotMs: MINUTE_MS, kinds: AGENT_CLASSES.length })
  const networks = createSeries({ slots: 1_445, slotMs: MINUTE_MS, kinds: NETWORK_CLASSES.length })
  const subjects = createSubjects()
  const recent = createRecent(RECENT)

  return {
    observe(observed) {
      if (observed.answeredBy === 'check') return
      const at = observed.at + observed.milliseconds
      const kind = OUTCOMES.indexOf(outcomeOf(observed))
      seconds.add(at, kind)
      minutes.add(at, kind)
      const { decision } = observed
      if (decision !== undefined) {
        classes.add(at, AGENT_CLASSES.indexOf(decision.inspection.agent.class))
        networks.add(at, NETWORK_CLASSES.indexOf(decision.inspection.network.verdict.classification))
        subjects.add(observed, at)
      }
      recent.add({ observed })
    },
    read(span, now) {
      const { ms, seriesMs } = SPANS[span]
      const rows = rowsOf(seriesMs === 1_000 ? seconds : minutes, now, ms, seriesMs)
      const curves = byOutcome((index) => rows.map((row) => row[index] ?? 0))
      const { slotMs } = seriesMs === 1_000 ? seconds : minutes
      return {
        from: (Math.floor(now / slotMs) + 1) * slotMs - ms,
        step: seriesMs,
        curves,
        totals: byOutcome((_, outcome) => sum(curves[outcome])),
        classes: totalsOf(classes, AGENT_CLASSES, now, ms),
        networks: totalsOf(networks, NETWORK_CLASSES, now, ms),
      }
    },
    top: subjects.read,
    recent,
  }
}

/** Merges the readings of several processes over the same span. */
export function mergeReadings(readings: readonly [HistoryReading, ...HistoryReading[]]): HistoryReading {
  const [first] = readings
  const curves = byOutcome((_, outcome) =>
    first.curves[outcome].map((_, at) => sum(readings.map(({ curves }) => curves[outcome][at] ?? 0))),
  )
  return {
    from: first.from,
    step: first.step,
    curves,
    totals: byOutcome((_, outcome) => sum(curves[outcome])),
    classes: mergeCounts(readings.map(({ classes }) => classes)),
    networks: mergeCounts(readings.map(({ networks }) => networks)),
  }
}

/** Lists of the same names in the same order. */
function mergeCounts(lists: readonly (readonly Counted[])[]): readonly Counted[] {
  const [first = []] = lists
  return first.map(({ name }, at) => ({ name, count: sum(lists.map((list) => list[at]?.count ?? 0)) }))
}

export function outcomeOf({ decision, answeredBy }: ObservedRequest): Outcome {
  if (decision !== undefined) return decision.action
  return answeredBy === 'api' ? 'api' : 'refused'
}

function byOutcome<T>(of: (index: number, outcome: Outcome) => T): Readonly<Record<Outcome, T>> {
  return Object.fromEntries(OUTCOMES.map((outcome, index) => [outcome, of(index, outcome)])) as Record<Outcome, T>
}

/** The slots of a span, several of a series as one where the step is longer. */
function rowsOf(series: Series, now: number, ms: number, step: number): readonly (readonly number[])[] {
  const rows = series.read(now, ms / series.slotMs)
  const each = step / series.slotMs
  if (each === 1) return rows
  return Array.from({ length: Math.ceil(rows.length / each) }, (_, index) => {
    const some = rows.slice(index * each, (index + 1) * each)
    return (some[0] ?? []).map((_, kind) => sum(some.map((row) => row[kind] ?? 0)))
  })
}

function totalsOf(series: Series, names: readonly string[], now: number, ms: number): readonly Counted[] {
  const rows = series.read(now, ms / series.slotMs)
  return names.map((name, kind) => ({ name, count: sum(rows.map((row) => row[kind] ?? 0)) }))
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
