import { AGENT_CLASSES, NETWORK_CLASSES, type ObservedRequest, OUTCOMES, type Outcome } from '@sallyport/core'
import type { Count } from '@sallyport/engine'
import { createRecent, type Recent } from './recent.ts'
import { createSeries, type Series } from './series.ts'
import { createSubjects, type Subject } from './subjects.ts'
import type { Counted } from './top.ts'

/** How far back one looks; `hours`: those whose lists are read, the one before the running one too, because a span may begin in it. */
export const SPANS = {
  '5m': { ms: 300_000, seriesMs: 1_000, hours: 2 },
  '1h': { ms: 3_600_000, seriesMs: 60_000, hours: 2 },
  '24h': { ms: 86_400_000, seriesMs: 300_000, hours: 24 },
} as const
export type Span = keyof typeof SPANS

const RECENT = 4_000
const SECOND_MS = 1_000

/** Everything that is counted by the slot. */
const KINDS: readonly string[] = [...OUTCOMES, ...AGENT_CLASSES.map(classKind), ...NETWORK_CLASSES.map(networkKind)]

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
  /** For the `observe` hook of `open()`: called before a request is counted. */
  readonly observe: (observed: ObservedRequest) => void
  read(span: Span, now: number): HistoryReading
  top(subject: Subject, now: number, hours: number, limit: number): readonly Counted[]
  /** The last requests, oldest first. */
  readonly recent: Omit<Recent, 'add'>
}

/** `ended`: the rows in which the service counts its requests; what they grew by is read when a second is over. */
export function createHistory(ended: () => readonly Count[]): History {
  const seconds = createSeries({ slots: 330, slotMs: SECOND_MS, kinds: KINDS.length })
  const minutes = createSeries({ slots: 1_445, slotMs: 60_000, kinds: KINDS.length })
  const subjects = createSubjects()
  const recent = createRecent(RECENT)
  const taken: number[] = []
  let second = 0

  /** Takes over what was counted since it was called last: all of it ended in this second. */
  function take(): void {
    const at = second * SECOND_MS
    for (const [row, { labels, count }] of ended().entries()) {
      const by = count - (taken[row] ?? 0)
      if (by === 0) continue
      taken[row] = count
      const [outcome = '', enforced, who = '', network = '', rule] = labels
      for (const name of [outcome, classKind(who), networkKind(network)]) {
        const kind = KINDS.indexOf(name)
        // Requests that were not decided have an outcome alone.
        if (kind < 0) continue
        seconds.add(at, kind, by)
        minutes.add(at, kind, by)
      }
      if (enforced !== '') subjects.add('rules', at, `${rule} ${outcome}`, by)
    }
  }

  return {
    observe(observed) {
      if (observed.answeredBy === 'check') return
      const at = observed.at + observed.milliseconds
      const now = Math.floor(at / SECOND_MS)
      if (now !== second) {
        take()
        second = now
        recent.begin()
      }
      subjects.observe(observed, at)
      recent.add(observed)
    },
    read(span, now) {
      take()
      const { ms, seriesMs } = SPANS[span]
      const series = seriesMs === SECOND_MS ? seconds : minutes
      const rows = rowsOf(series, now, ms, seriesMs)
      const curveOf = (kind: string) => rows.map((row) => row[KINDS.indexOf(kind)] ?? 0)
      const curves = byOutcome(curveOf)
      return {
        from: (Math.floor(now / series.slotMs) + 1) * series.slotMs - ms,
        step: seriesMs,
        curves,
        totals: byOutcome((outcome) => sum(curves[outcome])),
        classes: AGENT_CLASSES.map((name) => ({ name, count: sum(curveOf(classKind(name))) })),
        networks: NETWORK_CLASSES.map((name) => ({ name, count: sum(curveOf(networkKind(name))) })),
      }
    },
    top(...asked) {
      take()
      return subjects.read(...asked)
    },
    recent,
  }
}

/** Merges the readings of several processes over the same span. */
export function mergeReadings(readings: readonly [HistoryReading, ...HistoryReading[]]): HistoryReading {
  const [first] = readings
  const curves = byOutcome((outcome) =>
    first.curves[outcome].map((_, at) => sum(readings.map(({ curves }) => curves[outcome][at] ?? 0))),
  )
  return {
    from: first.from,
    step: first.step,
    curves,
    totals: byOutcome((outcome) => sum(curves[outcome])),
    classes: mergeCounts(readings.map(({ classes }) => classes)),
    networks: mergeCounts(readings.map(({ networks }) => networks)),
  }
}

/** Lists of the same names in the same order. */
function mergeCounts(lists: readonly (readonly Counted[])[]): readonly Counted[] {
  const [first = []] = lists
  return first.map(({ name }, at) => ({ name, count: sum(lists.map((list) => list[at]?.count ?? 0)) }))
}

function byOutcome<T>(of: (outcome: Outcome) => T): Readonly<Record<Outcome, T>> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, of(outcome)])) as Record<Outcome, T>
}

function classKind(name: string): string {
  return `class ${name}`
}

function networkKind(name: string): string {
  return `network ${name}`
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

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0)
}
