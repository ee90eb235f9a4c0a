import { describeOutcome, type ObservedRequest } from '@sallyport/core'

export type Recent = ReturnType<typeof createRecent>

/** Limits the kept requests of one second: a busy proxy would otherwise remember half a second. */
export const KEPT_A_SECOND = { allowed: 50, others: 100 } as const

/** Keeps the last requests, with the oldest first. */
export function createRecent(capacity: number) {
  const kept: ObservedRequest[] = []
  let count = 0
  let room: { allowed: number; others: number } = { ...KEPT_A_SECOND }

  /** Lists the requests after the first `before`, as far as they are still kept. */
  function since(before: number): readonly ObservedRequest[] {
    const first = Math.max(before, count - capacity)
    const length = Math.max(0, count - first)
    return Array.from({ length }, (_, index) => kept[(first + index) % capacity] as ObservedRequest)
  }

  return {
    add(observed: ObservedRequest): void {
      if (room[classify(observed)]-- <= 0) return
      kept[count % capacity] = observed
      count++
    },
    begin(): void {
      room = { ...KEPT_A_SECOND }
    },
    find: (id: string) => since(0).findLast((one) => one.id === id),
    list: () => since(0),
    /** Counts all requests that were ever kept. */
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
