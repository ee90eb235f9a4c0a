import type { Decision } from '@sallyport/core'
import type { GateOptions } from '../gate/options.ts'

type OnDecision = NonNullable<GateOptions['onDecision']>

/** Decisions that are remembered: a visit asks for its own at once. */
const MAX_RECALLED = 256

/** The last decisions by their ids, so that a page shows what was decided and not what would be decided now. */
export function createRecalled() {
  const byId = new Map<string, Decision>()
  function note(decision: Decision): void {
    if (decision.id === undefined) return
    byId.set(decision.id, decision)
    const [oldest] = byId.size > MAX_RECALLED ? byId.keys() : []
    if (oldest !== undefined) byId.delete(oldest)
  }
  return {
    /** The same hook, which notes the decision first. */
    noting:
      (hook: OnDecision | undefined): OnDecision =>
      (decision, request) => {
        note(decision)
        hook?.(decision, request)
      },
    decisionOf: (id: string): Decision | undefined => byId.get(id),
  }
}
