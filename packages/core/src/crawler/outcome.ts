/** The checks of a claim, in their order. */
export const CHECK_NAMES = ['catalogue', 'published ranges', 'operator ASN', 'reverse DNS'] as const
export type CheckName = (typeof CHECK_NAMES)[number]

interface Finding<Status extends string> {
  readonly name: CheckName
  readonly status: Status
  /** One sentence for a person. */
  readonly detail: string
}

/** The claim is true. */
export type Passed = Finding<'passed'>
/** The claim is false, as far as this check sees. */
export type Refuted = Finding<'refuted'>
/** It could say something and did not: nothing may be concluded. */
export type CouldNotRun = Finding<'could-not-run'>
/** It cannot say anything of this crawler, or is not needed any more. */
export type NotApplicable = Finding<'not-applicable'>

export const CHECK_STATUSES = ['passed', 'refuted', 'could-not-run', 'not-applicable'] as const
export type Check = Passed | Refuted | CouldNotRun | NotApplicable

export interface Verified {
  readonly outcome: 'verified'
  readonly decidedBy: Passed
  readonly checks: readonly Check[]
}

/**
 * Specification, rules 2 and 3: every check that could run did run, and all of them refuted. `checks` has no room for
 * one that could not run, and `refutedBy` is never empty, so the wrong accusation cannot be written down.
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

/** The outcome of a claim from its checks (specification: CrawlerVerifyResponse, rules). */
export function judge(checks: readonly Check[]): Judgement {
  const passed = checks.find((check) => check.status === 'passed')
  if (passed !== undefined) return { outcome: 'verified', decidedBy: passed, checks }
  const concluded = checks.filter((check) => check.status === 'refuted' || check.status === 'not-applicable')
  if (concluded.length < checks.length) return { outcome: 'unverifiable', checks }
  const [first, ...rest] = concluded.filter((check) => check.status === 'refuted')
  if (first === undefined) return { outcome: 'unverifiable', checks }
  return { outcome: 'spoofed', refutedBy: [first, ...rest], checks: concluded }
}

/** The names of the checks that decided; absent when none did. */
export function methodOf(judgement: Judgement): string | undefined {
  switch (judgement.outcome) {
    case 'verified':
      return judgement.decidedBy.name
    case 'spoofed':
      return judgement.refutedBy.map(({ name }) => name).join(', ')
    case 'unverifiable':
      return undefined
  }
}
