import { type Clock, formatHostOrPrefix, type Observation, type ObservationStore } from '@sallyport/core'
import { createObservationIndex } from './observation-index.ts'

/** Writes between two sweeps of what has ended. */
const SWEEP_EVERY = 1_000

/** Observations in the memory of this process. `put` rejects what an operator sets with `missing`, because that outlives the process. */
export function createMemoryObservations(clock: Clock, missing: Error): ObservationStore {
  const kept = createObservationIndex()
  const isInForce = ({ expiresAt }: Observation): boolean => expiresAt === undefined || expiresAt > clock.now()
  const list = () => kept.list().filter(isInForce)
  let written = 0
  return {
    find: (address) => kept.find(address, isInForce),
    async put(prefix, observation) {
      if (observation.origin === 'operator') throw missing
      kept.put(Object.freeze({ ...observation, prefix }))
      if (++written % SWEEP_EVERY === 0) kept.sweep(isInForce)
    },
    async remove(prefix, origin) {
      const text = formatHostOrPrefix(prefix)
      const removed = list().some((one) => one.origin === origin && formatHostOrPrefix(one.prefix) === text)
      kept.remove(prefix, origin)
      return removed
    },
    list: async () => list(),
  }
}
