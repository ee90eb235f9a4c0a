import type { DatedSource } from '../values/finding.ts'

/** Checks of a claim are in this order. */
export const CHECK_NAMES = ['catalogue', 'published ranges', 'operator ASN', 'reverse DNS'] as const
export type CheckName = (typeof CHECK_NAMES)[number]

interface Finding<Status extends string> {
  readonly name: CheckName
  readonly status: Status
  readonly detail: string
}

/** The claim is true. */
export interface Passed extends Finding<'passed'> {
  /** The age of the confirming list leaves this share of its weight, 0 to 1; absent where no list confirms. */
  readonly listed?: { readonly kept: number; readonly oldest: DatedSource | undefined } | undefined
}
/** The claim is false, as far as this check sees. */
export type Refuted = Finding<'refuted'>
/** The check could have decided and did not: nothing may be concluded. */
export type CouldNotRun = Finding<'could-not-run'>
/** The check cannot judge this crawler, or is no longer needed. */
export type NotApplicable = Finding<'not-applicable'>

export const CHECK_STATUSES = ['passed', 'refuted', 'could-not-run', 'not-applicable'] as const
export type Check = Passed | Refuted | CouldNotRun | NotApplicable

/** Makes the result of a check; `detail` explains it in one sentence for a person. */
export function makeCheck<Status extends Check['status']>(
  name: CheckName,
  status: Status,
  detail: string,
): Finding<Status> {
  return { name, status, detail }
}

export interface Verified {
  readonly outcome: 'verified'
  readonly decidedBy: Passed
  readonly checks: readonly Check[]
}

/**
 * Every check that could run ran and refuted the claim (specification, rules 2 and 3). `checks` has no room for one that could not run, and
 * `refutedBy` is never empty, so a wrong accusation does not compile.
 */
export interface Spoofed {
  readonly outcome: 'spoofed'
  readonly refutedBy: readonly [Refuted, ...Refuted[]]
  readonly checks: readonly (Refuted | NotApplicable)[]
}

export interface Unverifiable {
  readonly outcome: 'unverifiable'
  readonly checks: readonly Check[]
}

export type Judgement = Verified | Spoofed | Unverifiable

/** Judges a claim by its checks (specification: CrawlerVerifyResponse, rules). */
export function judge(checks: readonly Check[]): Judgement {
  const passed = checks.find((check) => check.status === 'passed')
  if (passed !== undefined) return { outcome: 'verified', decidedBy: passed, checks }
  const concluded = checks.filter((check) => check.status === 'refuted' || check.status === 'not-applicable')
  if (concluded.length < checks.length) return { outcome: 'unverifiable', checks }
  const [first, ...rest] = concluded.filter((check) => check.status === 'refuted')
  if (first === undefined) return { outcome: 'unverifiable', checks }
  return { outcome: 'spoofed', refutedBy: [first, ...rest], checks: concluded }
}

/** Names the checks that decided; absent when none did. */
export function findMethod(judgement: Judgement): string | undefined {
  if (judgement.outcome === 'verified') return judgement.decidedBy.name
  return judgement.outcome === 'spoofed' ? judgement.refutedBy.map(({ name }) => name).join(', ') : undefined
}
