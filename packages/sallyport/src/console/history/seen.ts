import { type ChallengeOutcome, earnedPass, failedPass, type ObservedRequest } from '@sallyport/core'

/** Requests by a name. */
type Counts = Readonly<Record<string, number>>

/** The countries and the challenges of remembered requests, which the tally does not count. */
export interface Seen {
  /** By their two letters. */
  readonly countries: Counts
  /** By the rule and the step of a challenge: `ask-all asked`. */
  readonly challenges: Counts
}

export function countSeen(requests: readonly ObservedRequest[]): Seen {
  return {
    countries: merge(requests.map(({ decision }) => countOne(decision?.inspection.country))),
    challenges: merge(
      requests.map(({ challenge }) => {
        const step = findStep(challenge?.outcome)
        return countOne(step && `${challenge?.rule ?? ''} ${step}`)
      }),
    ),
  }
}

function countOne(name: string | undefined): Counts {
  return name === undefined ? {} : { [name]: 1 }
}

/** Adds up what several processes have seen. */
export function mergeSeen(all: readonly Seen[]): Seen {
  return {
    countries: merge(all.map(({ countries }) => countries)),
    challenges: merge(all.map((one) => one.challenges)),
  }
}

/** The part of a challenge that a request is; a challenge that could not be shown is `unshown`. */
function findStep(outcome: ChallengeOutcome | undefined): 'asked' | 'solved' | 'failed' | 'unshown' | undefined {
  if (outcome === undefined || outcome === 'asked') return outcome
  if (outcome === 'program' || outcome === 'form') return 'unshown'
  if (earnedPass(outcome)) return 'solved'
  return failedPass(outcome) ? 'failed' : undefined
}

function merge(all: readonly Counts[]): Counts {
  const sums = new Map<string, number>()
  for (const [name, by] of all.flatMap(Object.entries<number>)) sums.set(name, (sums.get(name) ?? 0) + by)
  return Object.fromEntries([...sums].sort(([, one], [, other]) => other - one))
}
