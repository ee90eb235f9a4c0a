import { compilePolicy, createCounter, type InspectionRequest, type Policy } from '../../src/index.ts'
import type { InspectorOptions } from '../../src/inspection/inspector.ts'
import { createFakeCounts } from '../../src/testing/fakes.ts'
import { agentInspector } from '../agents.ts'

/** Opens an inspector and a counter for a policy. The clock of the counts moves only by `wait`. */
export function openGate(policy: Partial<Policy>, options: Partial<InspectorOptions> = {}) {
  let now = 1_800_000_000_000
  const compiled = compilePolicy({ preset: 'observe', rules: [], ...policy })
  const inspector = agentInspector({ policy: compiled, ...options })
  const counts = createFakeCounts({ now: () => now })
  const counter = createCounter({ counts, flights: 'test' })
  const ask = async (request: InspectionRequest) => counter.count(inspector.decide(request), request.fields)
  const wait = (ms: number): void => {
    now += ms
  }
  return { compiled, inspector, counts, counter, ask, wait }
}
