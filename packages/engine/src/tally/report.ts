import { DAY_MS, HOUR_MS } from '@sallyport/core'
import { type AccountsReading, reportEvents } from './event-report.ts'
import {
  byLabels,
  CHALLENGE,
  type Challenged,
  computeShare,
  countPeople,
  DECIDED,
  groupDays,
  groupRows,
  type Impact,
  isEnforced,
  iso,
  isStopping,
  listShares,
  measureImpact,
  peopleBeside,
  pickRows,
  readLabel,
  rowsBy,
  type Share,
  sumCounts,
  sumWith,
  TRIAL,
  wouldStop,
} from './sums.ts'
import type { TallyReading, TallyRow } from './tally-file.ts'

/** Says which visitors a rule hit, in force or on trial. */
export interface RuleImpact {
  /** Is '' when no rule decided. */
  readonly rule: string
  readonly action: string
  /** `trial`: the rule would have acted; `monitor`: it would have, but for monitor mode. */
  readonly state: 'enforced' | 'monitor' | 'trial'
  readonly requests: number
  /** About how many clients it hit, each counted once a day; `real` are people; `unclear` may be people or programs. */
  readonly people: number
  readonly real: number
  readonly unclear: number
  /** The part of all real visitors that was hit, 0 to 1. */
  readonly share: number
}

/** Counts challenges of a rule at a level. */
export interface ChallengeReading extends Challenged {
  /** Is '' when the rule is not known, as for a forged solution; so is the level. */
  readonly rule: string
  readonly level: string
}

/** Sums up a span of time, to compare it with another. */
export interface Period {
  /** Both times are ISO 8601 in UTC, on the hour. */
  readonly from: string
  readonly until: string
  readonly requests: number
  /** Counts real visitors, each once a day. */
  readonly visitors: number
  /** The part of all requests that was stopped, 0 to 1. */
  readonly stopped: number
  /** About how many real visitors were hit. */
  readonly hitPeople: number
  /** The parts of real visitors that were hit, and that would be if all were enforced, 0 to 1. */
  readonly hit: number
  readonly wouldHit: number
}

/** A change of the configuration, with what was before and after it. */
export interface Change {
  /** The change came at this time, ISO 8601 in UTC. */
  readonly at: string
  /** Keys that a reload found changed; `start` when a process began with it. */
  readonly changed: readonly string[]
  readonly before: Period
  readonly after: Period
}

/** Counts answers of one kind. */
export interface Answers extends Share {
  /** Counts the answers that Sallyport gave, and not the origin or the application. */
  readonly ours: number
}

/** Counts visitors of one kind. */
export interface Visitors {
  readonly people: number
  readonly requests: number
  /** Counts only what is enforced. */
  readonly hit: Impact
  /** Counts what is enforced, and what is in monitor mode or on trial. */
  readonly wouldHit: Impact
}

/** Reports everything that was counted in a span of time, also what was allowed. */
export interface TallyReport {
  /** Both times are ISO 8601 in UTC, on the hour. */
  readonly from: string
  readonly until: string
  readonly requests: number
  readonly bytes: number
  /** People are clients with a pass, and clients on networks of people that are sooner a browser than a program. */
  readonly visitors: Visitors & {
    /** Other clients that look like browsers and may be people or programs, without clients that earned a pass later. */
    readonly unclear: Visitors
  }
  readonly byAction: readonly Share[]
  readonly byClass: readonly (Share & { readonly people: number })[]
  readonly byNetwork: readonly Share[]
  readonly byOperator: readonly Share[]
  readonly byPurpose: readonly Share[]
  readonly byPath: readonly Share[]
  readonly bySystem: readonly Share[]
  /** Each share is named by the two letters of a country. */
  readonly byCountry: readonly Share[]
  readonly answers: readonly Answers[]
  readonly accounts: AccountsReading
  readonly rules: readonly RuleImpact[]
  readonly challenges: readonly ChallengeReading[]
  readonly changes: readonly Change[]
  readonly now: Period
  /** The same span a week before, or weeks before; absent when nothing was counted then. */
  readonly before?: Period | undefined
}

const WEEK_MS = 7 * DAY_MS
const MAX_ROWS = 20
/** A change is compared over as much time before it as after it. */
const AROUND_MS = DAY_MS
const MAX_CHANGES = 5

/** Returns how much earlier a span begins that another is compared with: whole weeks, because the hours of a week differ. */
export function earlierBy(from: number, until: number): number {
  return Math.ceil((until - from) / WEEK_MS) * WEEK_MS
}

/** Sums up a span; `earlier` is the span that it is compared with. */
export function reportTally(reading: TallyReading, earlier: TallyReading): TallyReport {
  const { from, until, rows } = reading
  const decided = pickRows(rows, 'decided')
  const crawlers = pickRows(rows, 'crawler')
  const real = sumVisitors(rows, 'person')
  return {
    from: iso(from),
    until: iso(until),
    requests: sumCounts(decided),
    bytes: sumCounts(decided, 'bytes'),
    visitors: { ...real, unclear: sumVisitors(rows, 'unclear') },
    byAction: listShares(decided, (row) => readLabel(row, DECIDED.unshown) || readLabel(row, DECIDED.outcome)),
    byClass: listShares(pickDecided(decided), byLabels(DECIDED.class)).map((share) => ({
      ...share,
      people: countPeople(decided.filter((row) => readLabel(row, DECIDED.class) === share.name)),
    })),
    byNetwork: listShares(pickDecided(decided), byLabels(DECIDED.network)),
    byOperator: listShares(crawlers, byLabels(0), MAX_ROWS),
    byPurpose: listShares(crawlers, byLabels(2)),
    byPath: listShares(pickRows(rows, 'path'), byLabels(0), MAX_ROWS),
    bySystem: listShares(pickRows(rows, 'system'), byLabels(0), MAX_ROWS),
    byCountry: listShares(pickRows(rows, 'country'), byLabels(0)),
    answers: listAnswers(pickRows(rows, 'answer')),
    accounts: reportEvents(rows),
    rules: rateRules(rows, decided, real.people),
    challenges: listChallenges(pickRows(rows, 'challenge')),
    changes: listChanges(reading),
    now: sumPeriod(rows, from, until),
    before: reportPeriod(earlier),
  }
}

/** Sums up visitors of a kind. People belong to no other kind, whatever they had shown before they earned a pass. */
function sumVisitors(rows: readonly TallyRow[], kind: 'person' | 'unclear'): Visitors {
  const [decided, trials] = [pickRows(rows, 'decided'), pickRows(rows, 'trial')]
  const own = rowsBy(kind, decided)
  const others = groupDays(kind === 'person' ? [] : rowsBy('person', decided))
  const people = peopleBeside(own, others)
  return {
    people,
    requests: sumCounts(own),
    hit: measureImpact(pickHits(own), people, others),
    wouldHit: measureImpact(wouldStop(own, rowsBy(kind, trials)), people, others),
  }
}

function pickHits(rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => isStopping(row) && isEnforced(row))
}

/** Leaves out calls of the API and heads that were refused, of which no class is known. */
function pickDecided(rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => readLabel(row, DECIDED.enforced) !== '')
}

/** Reads the kind of an answer. Kinds are counted apart, because each is the fault of another party. */
function readKind(row: TallyRow): string {
  const status = readLabel(row, 0)
  if (['challenge', '403', '429', '451'].includes(status)) return status
  return status === '0' ? 'left' : `${status[0]}xx`
}

function listAnswers(rows: readonly TallyRow[]): readonly Answers[] {
  const groups = groupRows(rows, readKind)
  return listShares(rows, readKind).map((share) => ({
    ...share,
    ours: sumWith(groups.get(share.name) ?? [], 1, 'refusal'),
  }))
}

function listChallenges(rows: readonly TallyRow[]): readonly ChallengeReading[] {
  return [...groupRows(rows, byLabels(CHALLENGE.rule, CHALLENGE.level)).values()].map((group) => {
    const sumStep = (step: keyof Challenged) => sumWith(group, CHALLENGE.step, step)
    return {
      rule: readLabel(group[0], CHALLENGE.rule),
      level: readLabel(group[0], CHALLENGE.level),
      asked: sumStep('asked'),
      solved: sumStep('solved'),
      failed: sumStep('failed'),
      unshown: sumStep('unshown'),
    }
  })
}

function rateRules(rows: readonly TallyRow[], decided: readonly TallyRow[], visitors: number): readonly RuleImpact[] {
  const persons = groupDays(rowsBy('person', decided))
  const acted = pickDecided(decided).filter((row) => readLabel(row, DECIDED.outcome) !== 'allow')
  const groups = [
    ...groupRows(acted, byLabels(DECIDED.rule, DECIDED.outcome, DECIDED.enforced)).values(),
    ...groupRows(pickRows(rows, 'trial'), byLabels(TRIAL.rule, TRIAL.action)).values(),
  ]
  return groups
    .map((rows) => {
      const real = Math.min(countPeople(rowsBy('person', rows)), visitors)
      const unclear = peopleBeside(rowsBy('unclear', rows), persons)
      const share = computeShare(real, visitors)
      const requests = sumCounts(rows)
      const stopped = rows.some(isStopping) ? requests : 0
      const shown = { ...nameRule(rows[0]), requests, people: countPeople(rows), real, unclear, share }
      return { shown, order: [shown.state === 'enforced' ? stopped : 0, stopped, requests] as const }
    })
    .sort((one, other) => compareRules(one.order, other.order))
    .map(({ shown }) => shown)
    .slice(0, 5 * MAX_ROWS)
}

function nameRule(row: TallyRow): Pick<RuleImpact, 'rule' | 'action' | 'state'> {
  if (row.subject === 'trial')
    return { rule: readLabel(row, TRIAL.rule), action: readLabel(row, TRIAL.action), state: 'trial' }
  const state = isEnforced(row) ? 'enforced' : 'monitor'
  return { rule: readLabel(row, DECIDED.rule), action: readLabel(row, DECIDED.outcome), state }
}

/** Compares rules: the one that stopped most comes first, then the one that would have, then the busiest. */
function compareRules(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((count, index) => count !== other[index])
  return at === -1 ? 0 : (other[at] as number) - (one[at] as number)
}

function listChanges({ rows, marks, from, until }: TallyReading): readonly Change[] {
  const periodUnder = (one: string, first: number, last: number): Period =>
    sumPeriod(
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

/** Sums up a span; returns `undefined` when nothing was counted in it. */
export function reportPeriod({ rows, from, until }: TallyReading): Period | undefined {
  return rows.length === 0 ? undefined : sumPeriod(rows, from, until)
}

function sumPeriod(rows: readonly TallyRow[], from: number, until: number): Period {
  const decided = pickRows(rows, 'decided')
  const { people, hit, wouldHit } = sumVisitors(rows, 'person')
  const requests = sumCounts(decided)
  return {
    from: iso(from),
    until: iso(until),
    requests,
    visitors: people,
    stopped: computeShare(sumCounts(pickHits(decided)), requests),
    hitPeople: hit.people,
    hit: hit.share,
    wouldHit: wouldHit.share,
  }
}
