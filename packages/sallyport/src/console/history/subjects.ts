import { type ChallengeOutcome, earnedPass, failedPass, type ObservedRequest } from '@sallyport/core'
import { type Counted, createTop, mergeTops, type Top } from './top.ts'

const HOUR_MS = 3_600_000
const HOURS = 24

/** How many values of each subject are kept for an hour. */
const CAPACITY = {
  operators: 150,
  // All that there are.
  countries: 300,
  paths: 150,
  rules: 200,
  trials: 100,
  crawlers: 150,
  // Some rules, and four steps of each.
  challenges: 300,
} as const
export type Subject = keyof typeof CAPACITY
export const SUBJECTS = Object.keys(CAPACITY) as readonly Subject[]

/** The most frequent values of each subject, by the hour. */
export interface Subjects {
  /** Adds what a request says of its visitor, and what came of it. */
  observe(observed: ObservedRequest, at: number): void
  add(subject: Subject, at: number, name: string, by: number): void
  /** Those of the last hours that began, the running one included. */
  read(subject: Subject, now: number, hours: number, limit: number): readonly Counted[]
}

type Hour = Readonly<Record<Subject, Top>>

export function createSubjects(): Subjects {
  const hours = new Map<number, Hour>()

  function hourOf(at: number): Hour {
    const hour = Math.floor(at / HOUR_MS)
    const known = hours.get(hour)
    if (known !== undefined) return known
    const begun = Object.fromEntries(SUBJECTS.map((subject) => [subject, createTop(CAPACITY[subject])])) as Hour
    hours.set(hour, begun)
    for (const other of hours.keys()) if (other <= hour - HOURS) hours.delete(other)
    return begun
  }

  return {
    add: (subject, at, name, by) => hourOf(at)[subject].add(name, by),
    observe(observed, at) {
      const { decision } = observed
      if (decision === undefined) return
      const { network, country, crawler } = decision.inspection
      const hour = hourOf(at)
      if (network.asn !== undefined) hour.operators.add(`AS${network.asn} ${network.asName ?? ''}`)
      if (country !== undefined) hour.countries.add(country)
      if (crawler !== undefined) hour.crawlers.add(`${crawler.slug} ${crawler.outcome}`)
      hour.paths.add(observed.path)
      const step = stepOf(observed.challenge?.outcome)
      if (step !== undefined) hour.challenges.add(`${observed.challenge?.rule ?? ''} ${step}`)
      if (decision.trial !== undefined) hour.trials.add(`${decision.trial.rule} ${decision.trial.action}`)
    },
    read(subject, now, count, limit) {
      const last = Math.floor(now / HOUR_MS)
      const lists = [...hours].filter(([hour]) => hour > last - count).map(([, hour]) => hour[subject].list())
      return mergeTops(lists, limit)
    },
  }
}

/** The step of a funnel that a request is: challenges, passes, solutions that earned none, and challenges that could not be shown. */
function stepOf(outcome: ChallengeOutcome | undefined): 'asked' | 'solved' | 'failed' | 'unshown' | undefined {
  if (outcome === undefined || outcome === 'asked') return outcome
  if (outcome === 'program' || outcome === 'form') return 'unshown'
  if (earnedPass(outcome)) return 'solved'
  return failedPass(outcome) ? 'failed' : undefined
}
