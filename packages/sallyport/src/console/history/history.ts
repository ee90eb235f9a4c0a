import {
  AGENT_CLASSES,
  DAY_MS,
  describeOutcome,
  HOUR_MS,
  NETWORK_CLASSES,
  type ObservedRequest,
  OUTCOMES,
  type Outcome,
} from '@sallyport/core'
import type { Count, TallyHours } from '@sallyport/engine'
import { createRecent } from './recent.ts'
import { createSeries, type Series } from './series.ts'

export interface Counted {
  readonly name: string
  readonly count: number
}

export const SPANS = {
  '5m': { ms: 300_000, seriesMs: 1_000 },
  '1h': { ms: HOUR_MS, seriesMs: 60_000 },
  '24h': { ms: DAY_MS, seriesMs: 300_000 },
} as const
export type Span = keyof typeof SPANS

const RECENT = 4_000
const RECENT_EVENTS = 1_000
const SECOND_MS = 1_000

const KINDS: readonly string[] = [...OUTCOMES, ...AGENT_CLASSES.map(nameClass), ...NETWORK_CLASSES.map(nameNetwork)]

export interface HistoryReading {
  /** When the first point begins, and the time between points; both are in milliseconds, the first since the epoch. */
  readonly from: number
  readonly step: number
  readonly curves: Readonly<Record<Outcome, readonly number[]>>
  readonly totals: Readonly<Record<Outcome, number>>
  readonly classes: readonly Counted[]
  readonly networks: readonly Counted[]
}

export type History = ReturnType<typeof createHistory>

/** Remembers the last 24 hours of one process, in about 6 MB. `ended` returns the rows that count requests. */
export function createHistory(ended: () => readonly Count[]) {
  const seconds = createSeries({ slots: 330, slotMs: SECOND_MS, kinds: KINDS.length })
  const minutes = createSeries({ slots: 1_445, slotMs: 60_000, kinds: KINDS.length })
  const recent = createRecent(RECENT)
  const events = createRecent(RECENT_EVENTS)
  const taken: number[] = []
  let second = 0

  /** Takes over what was counted since the last call: all of it ended in this second. */
  function take(): void {
    for (const [row, { labels, count }] of ended().entries()) {
      const by = count - (taken[row] ?? 0)
      if (by === 0) continue
      taken[row] = count
      const [outcome = '', , who = '', network = ''] = labels
      addCounts([outcome, nameClass(who), nameNetwork(network)], by)
    }
  }

  function addCounts(names: readonly string[], by: number): void {
    for (const kind of names.map((name) => KINDS.indexOf(name))) {
      // Undecided requests have only an outcome.
      if (kind < 0) continue
      seconds.add(second * SECOND_MS, kind, by)
      minutes.add(second * SECOND_MS, kind, by)
    }
  }

  return {
    /** Serves as the `observe` hook of `open()`, which is called before a request is counted. */
    observe(observed: ObservedRequest): void {
      if (observed.answeredBy === 'check') return
      const at = observed.at + observed.milliseconds
      const now = Math.floor(at / SECOND_MS)
      if (now !== second) {
        take()
        second = now
        recent.begin()
        events.begin()
      }
      if (observed.answeredBy === 'event') {
        if (isAtRisk(observed)) events.add(observed)
        return
      }
      recent.add(observed)
      const { client, agent, network } = observed.decision?.inspection ?? {}
      // A load balancer's probe is no traffic of the site, here as in the tally, although its row counts it.
      if (client?.isProxy)
        addCounts(
          [describeOutcome(observed), nameClass(`${agent?.class}`), nameNetwork(`${network?.verdict.classification}`)],
          -1,
        )
    },
    read(span: Span, now: number): HistoryReading {
      take()
      const { ms, seriesMs } = SPANS[span]
      const series = seriesMs === SECOND_MS ? seconds : minutes
      const rows = sumSlots(series, now, ms, seriesMs)
      const readCurve = (kind: string) => rows.map((row) => row[KINDS.indexOf(kind)] ?? 0)
      const from = (Math.floor(now / series.slotMs) + 1) * series.slotMs - ms
      return makeReading(from, seriesMs, readCurve, {
        classes: AGENT_CLASSES.map((name) => ({ name, count: sum(readCurve(nameClass(name))) })),
        networks: NETWORK_CLASSES.map((name) => ({ name, count: sum(readCurve(nameNetwork(name))) })),
      })
    },
    /** Lists the last account events that failed, or were not simply allowed. */
    events,
    get recent() {
      // Reading the counts also delivers the requests that have ended.
      ended()
      return recent
    },
  }
}

function isAtRisk({ decision }: ObservedRequest): boolean {
  const outcome = decision?.inspection.event?.outcome ?? 'success'
  return outcome !== 'success' || decision?.action !== 'allow' || decision.trial !== undefined
}

/** Merges the readings of several processes over the same span. */
export function mergeReadings(readings: readonly [HistoryReading, ...HistoryReading[]]): HistoryReading {
  const [first] = readings
  const sumCurve = (outcome: Outcome) =>
    first.curves[outcome].map((_, at) => sum(readings.map(({ curves }) => curves[outcome][at] ?? 0)))
  return makeReading(first.from, first.step, sumCurve, {
    classes: mergeCounts(readings.map(({ classes }) => classes)),
    networks: mergeCounts(readings.map(({ networks }) => networks)),
  })
}

/** Converts the hours of the tally, which all processes fill and a restart keeps, to a reading. */
export function convertHours({ from, outcomes, classes, networks }: TallyHours): HistoryReading {
  const [some = []] = Object.values(outcomes)
  return makeReading(from, HOUR_MS, (outcome) => outcomes[outcome] ?? some.map(() => 0), {
    classes: AGENT_CLASSES.map((name) => ({ name, count: classes[name] ?? 0 })),
    networks: NETWORK_CLASSES.map((name) => ({ name, count: networks[name] ?? 0 })),
  })
}

function makeReading(
  from: number,
  step: number,
  readCurve: (outcome: Outcome) => readonly number[],
  counts: Pick<HistoryReading, 'classes' | 'networks'>,
): HistoryReading {
  const curves = mapOutcomes(readCurve)
  return { from, step, curves, totals: mapOutcomes((outcome) => sum(curves[outcome])), ...counts }
}

/** Merges lists with the same names in the same order. */
function mergeCounts(lists: readonly (readonly Counted[])[]): readonly Counted[] {
  const [first = []] = lists
  return first.map(({ name }, at) => ({ name, count: sum(lists.map((list) => list[at]?.count ?? 0)) }))
}

function mapOutcomes<T>(of: (outcome: Outcome) => T): Readonly<Record<Outcome, T>> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, of(outcome)])) as Record<Outcome, T>
}

function nameClass(name: string): string {
  return `class ${name}`
}

function nameNetwork(name: string): string {
  return `network ${name}`
}

/** Sums the slots of a span; joins several slots where the step is longer. */
function sumSlots(series: Series, now: number, ms: number, step: number): readonly (readonly number[])[] {
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
