import { type ObservedRequest, outcomeOf } from '@sallyport/core'

/** The last requests, oldest first. */
export interface Recent {
  /** Keeps a request where its second has room for it. */
  add(observed: ObservedRequest): void
  /** Another second begins. */
  begin(): void
  find(id: string): ObservedRequest | undefined
  list(): readonly ObservedRequest[]
  /** How many were kept in all. */
  readonly count: number
  /** True where a second had more requests than are kept of one. */
  readonly isPartial: boolean
  /** Those that came after the first `count`, as far as they are there still. */
  since(count: number): readonly ObservedRequest[]
}

/** Most requests of one second that are kept: a busy proxy would remember half a second. */
export const KEPT_A_SECOND = { allowed: 50, others: 100 } as const

export function createRecent(capacity: number): Recent {
  const kept: ObservedRequest[] = []
  let count = 0
  let isPartial = false
  let room: { allowed: number; others: number } = { ...KEPT_A_SECOND }

  function since(before: number): readonly ObservedRequest[] {
    const first = Math.max(before, count - capacity)
    const length = Math.max(0, count - first)
    return Array.from({ length }, (_, index) => kept[(first + index) % capacity] as ObservedRequest)
  }

  return {
    add(observed) {
      if (room[classify(observed)]-- <= 0) {
        isPartial = true
        return
      }
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
    get isPartial() {
      return isPartial
    },
    since,
  }
}

/** Later somebody looks for what was done to a visitor, or would have been. */
function classify(observed: ObservedRequest): keyof typeof KEPT_A_SECOND {
  const outcome = outcomeOf(observed)
  if (outcome !== 'allow' && outcome !== 'api') return 'others'
  return observed.challenge === undefined && observed.decision?.trial === undefined ? 'allowed' : 'others'
}
