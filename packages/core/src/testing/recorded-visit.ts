import { weighBehaviour } from '../agent/behaviour-signs.ts'
import { NO_VERDICT } from '../agent/judge.ts'
import { createBehaviour } from '../behaviour/behaviour.ts'
import type { KeptHabits } from '../behaviour/norms.ts'
import { readTraits, type TraitFacts } from '../behaviour/traits.ts'
import { NOTHING_KNOWN } from '../network/classify.ts'
import type { Decision } from '../values/decision.ts'
import type { Inspection } from '../values/inspection.ts'
import type { ObservedRequest } from '../values/observed.ts'

/** A recorded visit is a list of requests in the order of their responses. */
export interface VisitRequest extends Partial<Omit<TraitFacts, 'target' | 'status'>> {
  /** The request began at `at`, in milliseconds since the epoch, and its response ended `milliseconds` later. */
  readonly at: number
  readonly milliseconds?: number | undefined
  readonly target: string
  readonly status: number
}

/** Holds the verdict on a recorded visit. */
export interface VisitVerdict {
  readonly pages: number
  /** The visit has these signs against a person, by their ids. */
  readonly signs: readonly string[]
  /** Adds up the weights of all its signs. */
  readonly weight: number
}

/** People of the site have every habit. */
const ALL: KeptHabits = { host: '', visits: 10, having: new Array<number>(9).fill(10) }

const ABOUT: Pick<Inspection, 'client' | 'network' | 'agent'> = {
  client: { address: '8.1.1.1', via: 'peer', malformed: false },
  network: NOTHING_KNOWN,
  agent: NO_VERDICT,
}

/** Opens the memory of a gate for the requests of one visitor, which is judged as at the next request. */
export function openVisit(habits = ALL): { add(request: VisitRequest): void; judge(): VisitVerdict } {
  const behaviour = createBehaviour({ seed: () => 1, kept: [habits], slots: 8 })
  const decision = { inspection: ABOUT } as Decision
  let now = 0
  return {
    add({ at, milliseconds = 0, ...facts }) {
      const all = { method: 'GET', host: '', isConditional: false, isAhead: false, fields: [], ...facts }
      now = Math.max(now, at + milliseconds)
      behaviour.record({ decision, traits: readTraits(all, all), at, milliseconds } as ObservedRequest)
    },
    judge() {
      const found = behaviour.find({ fields: [] }, ABOUT, now)
      return {
        pages: found?.inspected.pages ?? 0,
        signs: found?.inspected.signs ?? [],
        weight: weighBehaviour(found?.bits ?? 0),
      }
    },
  }
}
