import { DAY_MS, HOUR_MS } from '@sallyport/core'
import {
  DECIDED,
  daysOf,
  groupsOf,
  type Impact,
  impactOf,
  isEnforced,
  isStopping,
  labelOf,
  peopleBeside,
  peopleOf,
  pickRows,
  rowsBy,
  type Share,
  shareOf,
  sharesOf,
  sumOf,
  TRIAL,
  wouldStop,
} from './sums.ts'
import type { TallyReading, TallyRow } from './tally-file.ts'

/** A rule, in force or on trial, and whom it hit. */
export interface RuleImpact {
  /** '' where no rule decided. */
  readonly rule: string
  readonly action: string
  /** `trial`: it would have; `monitor`: it would have, but for monitor mode. */
  readonly state: 'enforced' | 'monitor' | 'trial'
  readonly requests: number
  /** About so many clients, each counted once a day; `real`: people; `unclear`: those of which nobody can tell. */
  readonly people: number
  readonly real: number
  readonly unclear: number
  /** 0 to 1, of all real visitors. */
  readonly share: number
}

/** A span of time in short, to be held against another. */
export interface Period {
  /** ISO 8601 in UTC, on the hour. */
  readonly from: string
  readonly until: string
  readonly requests: number
  /** Real visitors, each counted once a day. */
  readonly visitors: number
  /** 0 to 1, of all requests. */
  readonly stopped: number
  /** About so many real visitors that were hit. */
  readonly hitPeople: number
  /** 0 to 1, of real visitors: hit, and hit if all were enforced. */
  readonly hit: number
  readonly wouldHit: number
}

/** A change of the configuration, with what was before and after it. */
export interface Change {
  /** ISO 8601 in UTC. */
  readonly at: string
  /** Keys that a reload found changed; `start` where a process began with it. */
  readonly changed: readonly string[]
  readonly before: Period
  readonly after: Period
}

/** Answers of one kind. */
export interface Answers extends Share {
  /** Those that we gave, and not the origin or the application. */
  readonly ours: number
}

/** Visitors of one kind. */
export interface Visitors {
  readonly people: number
  readonly requests: number
  /** By what is carried out. */
  readonly hit: Impact
  /** By that, and by all that is in monitor mode or on trial. */
  readonly wouldHit: Impact
}

/** Everything that was counted in a span of time, also what was allowed. */
export interface TallyReport {
  /** ISO 8601 in UTC, on the hour. */
  readonly from: string
  readonly until: string
  readonly requests: number
  readonly bytes: number
  /** People: clients with a pass, and on networks of people those that are sooner a browser than a program. */
  readonly visitors: Visitors & {
    /** Other clients that look like browsers, of which nobody can tell, without those who earned a pass later. */
    readonly unclear: Visitors
  }
  readonly byAction: readonly Share[]
  readonly byClass: readonly (Share & { readonly people: number })[]
  readonly byNetwork: readonly Share[]
  readonly byOperator: readonly Share[]
  readonly byPurpose: readonly Share[]
  readonly byPath: readonly Share[]
  readonly bySystem: readonly Share[]
  readonly answers: readonly Answers[]
  readonly rules: readonly RuleImpact[]
  readonly changes: readonly Change[]
  readonly now: Period
  /** The same span a week before, or a week of weeks; absent where nothing was counted then. */
  readonly before?: Period | undefined
}

const WEEK_MS = 7 * DAY_MS
const MAX_ROWS = 20
/** Before and after a change as much is looked at. */
const AROUND_MS = DAY_MS
const MAX_CHANGES = 5

/** How much earlier a span begins that another is held against: whole weeks, because the hours of a week are not alike. */
export function earlierBy(from: number, until: number): number {
  return Math.ceil((until - from) / WEEK_MS) * WEEK_MS
}

/** Sums up a span; `earlier`: what it is held against. */
export function reportTally(reading: TallyReading, earlier: TallyReading): TallyReport {
  const { from, until, rows } = reading
  const decided = pickRows(rows, 'decided')
  const crawlers = pickRows(rows, 'crawler')
  const real = visitorsIn(rows, 'person')
  return {
    from: iso(from),
    until: iso(until),
    requests: sumOf(decided),
    bytes: sumOf(decided, 'bytes'),
    visitors: { ...real, unclear: visitorsIn(rows, 'unclear') },
    byAction: sharesOf(decided, (row) => labelOf(row, DECIDED.unshown) || labelOf(row, DECIDED.outcome)),
    byClass: sharesOf(decidedAlone(decided), (row) => labelOf(row, DECIDED.class)).map((share) => ({
      ...share,
      people: peopleOf(decided.filter((row) => labelOf(row, DECIDED.class) === share.name)),
    })),
    byNetwork: sharesOf(decidedAlone(decided), (row) => labelOf(row, DECIDED.network)),
    byOperator: sharesOf(crawlers, (row) => labelOf(row, 0), MAX_ROWS),
    byPurpose: sharesOf(crawlers, (row) => labelOf(row, 2)),
    byPath: sharesOf(pickRows(rows, 'path'), (row) => labelOf(row, 0), MAX_ROWS),
    bySystem: sharesOf(pickRows(rows, 'system'), (row) => labelOf(row, 0), MAX_ROWS),
    answers: answersOf(pickRows(rows, 'answer')),
    rules: rateRules(rows, decided, real.people),
    changes: changesOf(reading),
    now: periodOf(rows, from, until),
    before: reportPeriod(earlier),
  }
}

/** Visitors of a kind; people are no part of another, whatever they had shown before they earned a pass. */
function visitorsIn(rows: readonly TallyRow[], kind: 'person' | 'unclear'): Visitors {
  const [decided, trials] = [pickRows(rows, 'decided'), trialsOf(rows)]
  const own = rowsBy(kind, decided)
  const others = daysOf(kind === 'person' ? [] : rowsBy('person', decided))
  const people = peopleBeside(own, others)
  return {
    people,
    requests: sumOf(own),
    hit: impactOf(hitting(own), people, others),
    wouldHit: impactOf(wouldStop(own, rowsBy(kind, trials)), people, others),
  }
}

function hitting(rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => isStopping(row) && isEnforced(row))
}

function trialsOf(rows: readonly TallyRow[]): readonly TallyRow[] {
  return pickRows(rows, 'trial')
}

/** Without calls of the API and heads that were refused, of which no class is known. */
function decidedAlone(rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => labelOf(row, DECIDED.enforced) !== '')
}

/** Kinds of answers that are counted apart, because each is another's fault. */
function kindOf(row: TallyRow): string {
  const status = labelOf(row, 0)
  if (['challenge', '403', '429'].includes(status)) return status
  return status === '0' ? 'left' : `${status[0]}xx`
}

function answersOf(rows: readonly TallyRow[]): readonly Answers[] {
  const groups = groupsOf(rows, kindOf)
  return sharesOf(rows, kindOf).map((share) => ({
    ...share,
    ours: sumOf((groups.get(share.name) ?? []).filter((row) => labelOf(row, 1) === 'refusal')),
  }))
}

function rateRules(rows: readonly TallyRow[], decided: readonly TallyRow[], visitors: number): readonly RuleImpact[] {
  const trials = trialsOf(rows)
  const persons = daysOf(rowsBy('person', decided))
  const acted = decided.filter(
    (row) => labelOf(row, DECIDED.outcome) !== 'allow' && labelOf(row, DECIDED.enforced) !== '',
  )
  const named = [
    ...groupsOf(acted, (row) =>
      JSON.stringify([
        labelOf(row, DECIDED.rule),
        labelOf(row, DECIDED.outcome),
        isEnforced(row) ? 'enforced' : 'monitor',
      ]),
    ),
    ...groupsOf(trials, (row) => JSON.stringify([labelOf(row, TRIAL.rule), labelOf(row, TRIAL.action), 'trial'])),
  ]
  return named
    .map(([name, rows]) => {
      const [rule, action, state] = JSON.parse(name) as [string, string, RuleImpact['state']]
      const real = Math.min(peopleOf(rowsBy('person', rows)), visitors)
      const unclear = peopleBeside(rowsBy('unclear', rows), persons)
      const share = shareOf(real, visitors)
      const stopped = rows.some(isStopping) ? sumOf(rows) : 0
      const shown = { rule, action, state, requests: sumOf(rows), people: peopleOf(rows), real, unclear, share }
      return { shown, order: [state === 'enforced' ? stopped : 0, stopped, shown.requests] as const }
    })
    .sort((one, other) => byStopped(one.order, other.order))
    .map(({ shown }) => shown)
    .slice(0, 5 * MAX_ROWS)
}

/** The rule that stopped most first, then the one that would have, then the busiest. */
function byStopped(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((count, index) => count !== other[index])
  return at === -1 ? 0 : (other[at] as number) - (one[at] as number)
}

function changesOf({ rows, marks, from, until }: TallyReading): readonly Change[] {
  const periodUnder = (one: string, first: number, last: number): Period =>
    periodOf(
      rows.filter(({ hour, policy }) => policy === one && (hour + 1) * HOUR_MS > first && hour * HOUR_MS < last),
      first,
      last,
    )
  const turns = marks.flatMap((mark, index) => {
    const earlier = marks[index - 1]
    const isShown = earlier !== undefined && mark.at >= from && mark.at < until
    return isShown ? [{ mark, earlier, next: marks[index + 1] }] : []
  })
  return turns.slice(-MAX_CHANGES).map(({ mark: { at, policy, changed }, earlier, next }) => {
    const [begin, end] = [Math.max(earlier.at, at - AROUND_MS), Math.min(next?.at ?? until, at + AROUND_MS)]
    return {
      at: iso(at),
      changed,
      before: periodUnder(earlier.policy, begin, at),
      after: periodUnder(policy, at, end),
    }
  })
}

/** A span in short; `undefined` where nothing was counted in it. */
export function reportPeriod({ rows, from, until }: TallyReading): Period | undefined {
  return rows.length === 0 ? undefined : periodOf(rows, from, until)
}

function periodOf(rows: readonly TallyRow[], from: number, until: number): Period {
  const decided = pickRows(rows, 'decided')
  const { people, hit, wouldHit } = visitorsIn(rows, 'person')
  const requests = sumOf(decided)
  return {
    from: iso(from),
    until: iso(until),
    requests,
    visitors: people,
    stopped: shareOf(sumOf(hitting(decided)), requests),
    hitPeople: hit.people,
    hit: hit.share,
    wouldHit: wouldHit.share,
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
