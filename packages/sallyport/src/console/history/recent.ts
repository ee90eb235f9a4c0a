import { describeOutcome, type ObservedRequest } from '@sallyport/core'

/** Keeps the last requests, with the oldest first. */
export interface Recent {
  /** Keeps a request while its second has room. */
  add(observed: ObservedRequest): void
  /** Begins another second. */
  begin(): void
  find(id: string): ObservedRequest | undefined
  list(): readonly ObservedRequest[]
  /** Counts all requests that were ever kept. */
  readonly count: number
  /** Lists the requests after the first `count`, as far as they are still kept. */
  since(count: number): readonly ObservedRequest[]
}

/** Limits the kept requests of one second: a busy proxy would otherwise remember half a second. */
export const KEPT_A_SECOND = { allowed: 50, others: 100 } as const

export function createRecent(capacity: number): Recent {
  const kept: ObservedRequest[] = []
  let count = 0
  let room: { allowed: number; others: number } = { ...KEPT_A_SECOND }

  function since(before: number): readonly ObservedRequest[] {
    const first = Math.max(before, count - capacity)
    const length = Math.max(0, count - first)
    return Array.from({ length }, (_, index) => kept[(first + index) % capacity] as ObservedRequest)
  }

  return {
    add(observed) {
      if (room[classify(observed)]-- <= 0) return
      kept[count % capacity] = observed
      count++
    },
    begin() {
      room = { ...KEPT_A_SECOND }
    },
    find: (id) => since(0).findLast((one) => one.id === id),
    list: () => since(0),
    get count() {
      return count
    },
    since,
  }
}

/** Classifies a request: operators later look for what was done to a visitor, or would have been. */
function classify(observed: ObservedRequest): keyof typeof KEPT_A_SECOND {
  const outcome = describeOutcome(observed)
  if (outcome !== 'allow' && outcome !== 'api') return 'others'
  return observed.challenge === undefined && observed.decision?.trial === undefined ? 'allowed' : 'others'
}
