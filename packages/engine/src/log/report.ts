import type { Visitor, Writable } from '@sallyport/core'
import type { LogLine } from './line.ts'
import { createChallengeSums, type ReportedChallenges } from './report-challenges.ts'
import { createVisitorSums, type ReportedVisitors, visitorIn } from './report-visitors.ts'

/** Actions that were carried out, or would have been; `asked`: shown a challenge; `unshown`: a challenge that could not be shown, which refuses. */
export interface ReportSums {
  readonly blocked: number
  readonly throttled: number
  readonly unshown: number
  readonly asked: number
  readonly redirected: number
  readonly flagged: number
}

/** Requests that share a rule, a class, an operator or a path. */
export interface ReportRow extends ReportSums {
  readonly name: string
  /** The first requests, by their ids. */
  readonly examples: readonly LogLine[]
}

/** Requests by one of their properties, the most blocked first. */
export interface ReportTable {
  readonly rows: readonly ReportRow[]
  /** Requests whose row is not shown. */
  readonly others: number
}

/** Actions of a span of time, carried out or not. */
export interface ReportPart extends ReportSums {
  readonly byVisitor: ReportTable
  readonly byRule: ReportTable
  readonly byClass: ReportTable
  readonly byOperator: ReportTable
  readonly byPath: ReportTable
}

/** The sums of a decision log. Times are ISO 8601 in UTC, absent where there is no line. */
export interface Report {
  readonly from?: string | undefined
  readonly until?: string | undefined
  readonly requests: number
  /** Allowed and carried out; few where `log.requests` is `decided`. */
  readonly allowed: number
  /** Refused although nothing was decided against them, by cause. */
  readonly refusals: Readonly<Record<string, number>>
  readonly carriedOut: ReportPart
  /** Actions that monitor mode, or a rule on trial, would have taken. */
  readonly wouldHave: ReportPart
  readonly visitors: Readonly<Record<Visitor, ReportedVisitors>>
  /** Outcomes of the questions, by rule, the one with most first. */
  readonly challenges: readonly ReportedChallenges[]
}

/** Names that a table counts; what has another name is counted together. */
const MAX_NAMES = 10_000
const MAX_EXAMPLES = 3
const MAX_ROWS = 20

type Decided = { readonly action: string; readonly rule: string; readonly line: LogLine }

/** Sums up lines, in memory that is bounded whatever they hold. */
export function createReport(): { add(line: LogLine): void; result(): Report } {
  const sums = { requests: 0, allowed: 0 }
  const span: { from?: string | undefined; until?: string | undefined } = {}
  const refusals = new Map<string, number>()
  const carriedOut = createPart()
  const wouldHave = createPart()
  const challenges = createChallengeSums()
  const visitors = createVisitorSums()

  return {
    add(line) {
      // It never came here, or came again.
      if (line.answeredBy === 'check' || isHandedOver(line)) return
      sums.requests++
      if (span.from === undefined || line.time < span.from) span.from = line.time
      if (span.until === undefined || line.time > span.until) span.until = line.time
      const { action, enforced = true, rule = '', trial, trialRule = '', refusedFor } = line
      if (refusedFor !== undefined && (refusals.has(refusedFor) || refusals.size < MAX_NAMES))
        refusals.set(refusedFor, (refusals.get(refusedFor) ?? 0) + 1)
      if (action === 'allow') sums.allowed++
      else if (action !== undefined) (enforced ? carriedOut : wouldHave).add({ action, rule, line })
      challenges.add(line)
      visitors.add(line)
      if (trial !== undefined) wouldHave.add({ action: trial, rule: trialRule, line })
    },
    result: () => ({
      ...span,
      ...sums,
      refusals: Object.fromEntries(refusals),
      carriedOut: carriedOut.result(),
      wouldHave: wouldHave.result(),
      visitors: visitors.result(),
      challenges: challenges.result(),
    }),
  }
}

/** Whether a check of nginx sent its client to the gate, where a line of its own says the rest; before 0.3 the log had both. */
function isHandedOver({ status, answeredBy, challenge, refusedFor }: LogLine): boolean {
  return status === 401 && answeredBy === 'refusal' && challenge === undefined && refusedFor === undefined
}

function createPart() {
  const counts = noSums()
  const tables = {
    byVisitor: createTable(({ line }) => visitorIn(line) ?? ''),
    byRule: createTable(({ rule }) => rule),
    byClass: createTable(({ line }) => line.class ?? ''),
    byOperator: createTable(({ line }) => line.operator ?? line.identity ?? line.asName ?? ''),
    byPath: createTable(({ line }) => line.path),
  }
  return {
    add(decided: Decided): void {
      counts[columnOf(decided)]++
      for (const table of Object.values(tables)) table.add(decided)
    },
    result: (): ReportPart => ({
      ...counts,
      byVisitor: tables.byVisitor.result(),
      byRule: tables.byRule.result(),
      byClass: tables.byClass.result(),
      byOperator: tables.byOperator.result(),
      byPath: tables.byPath.result(),
    }),
  }
}

function createTable(nameOf: (decided: Decided) => string) {
  const rows = new Map<string, ReturnType<typeof noSums> & { examples: LogLine[] }>()
  let uncounted = 0
  return {
    add(decided: Decided): void {
      const name = nameOf(decided)
      let row = rows.get(name)
      if (row === undefined) {
        if (rows.size >= MAX_NAMES) {
          uncounted++
          return
        }
        row = { ...noSums(), examples: [] }
        rows.set(name, row)
      }
      row[columnOf(decided)]++
      if (row.examples.length < MAX_EXAMPLES) row.examples.push(decided.line)
    },
    result(): ReportTable {
      const sorted = [...rows]
        .map(([name, row]) => ({ name, ...row }))
        .sort((x, y) => {
          const column = SUMS.find((name) => x[name] !== y[name])
          return column === undefined ? (x.name < y.name ? -1 : 1) : y[column] - x[column]
        })
      const rest = sorted.slice(MAX_ROWS)
      return {
        rows: sorted.slice(0, MAX_ROWS),
        others: uncounted + rest.reduce((sum, row) => sum + reportedActions(row), 0),
      }
    },
  }
}

const COLUMNS: Readonly<Record<string, keyof ReportSums>> = {
  block: 'blocked',
  throttle: 'throttled',
  unshown: 'unshown',
  challenge: 'asked',
  redirect: 'redirected',
}

/** In the order in which a report has them. */
const SUMS: readonly (keyof ReportSums)[] = [...Object.values(COLUMNS), 'flagged']

function columnOf({ action: decided, line: { challenge } }: Decided): keyof ReportSums {
  const action = decided === 'challenge' && challenge === 'program' ? 'unshown' : decided
  return (Object.hasOwn(COLUMNS, action) ? COLUMNS[action] : undefined) ?? 'flagged'
}

function noSums(): Writable<ReportSums> {
  return { blocked: 0, throttled: 0, unshown: 0, asked: 0, redirected: 0, flagged: 0 }
}

/** Actions of a row, or of a part, in all. */
export function reportedActions(sums: ReportSums): number {
  return SUMS.reduce((sum, column) => sum + sums[column], 0)
}
