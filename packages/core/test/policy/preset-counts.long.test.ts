import t from 'tap'
import { type CompiledPolicy, createCounter, decide, type Inspection, refuses } from '../../src/index.ts'
import { createFakeCounts } from '../../src/testing/fakes.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { inspect, listRequests, listSenders, SCENES, type Seen, STANCES, worsePairs } from './preset-scenes.ts'

/* The first law of the presets holds for their counts too: the more speaks against a client, the fewer pages it reads. */

/** Pages that are read one after the other: more than any limit lets through except the limit of home lines. */
const PAGES = 130

/** How many of some pages a client reads, each of which is answered by HTML. */
async function pagesRead(policy: CompiledPolicy, inspection: Inspection, { fields, target }: InspectionRequest) {
  const counter = createCounter({ counts: createFakeCounts({ now: () => 0 }), flights: 'test' })
  for (let read = 0; read < PAGES; read++) {
    const decided = decide(policy, inspection, { mode: 'enforce', request: { fields, target } })
    const { decision, ended } = await counter.count(decided, fields)
    if (refuses(decision.action)) return read
    // It decides the same each time, and nothing counts it.
    if (ended === undefined && decision.limits === undefined) return PAGES
    ended?.(200, undefined, 'text/html')
  }
  return PAGES
}

/** For each row the first with the same evidence and the same words about what is wanted. */
function distinct(inspections: readonly Inspection[], seen: readonly Seen[]): readonly number[] {
  const known = new Map<string, number>()
  return seen.map(({ request: { fields } }, row) => {
    const { agent } = inspections[row] as Inspection
    const wanted = ['Accept', 'Sec-Fetch-Dest'].map((name) => fields[fields.indexOf(name) + 1])
    const key = [agent.class, agent.basis, agent.botProbability, agent.headless, agent.reasons.length, ...wanted].join()
    if (!known.has(key)) known.set(key, row)
    return known.get(key) as number
  })
}

for (const scene of SCENES) {
  t.test(`${scene.of}: nor does it read more pages, whatever it writes`, async (t) => {
    const seen = listRequests(scene)
    const pairs = worsePairs(seen)
    const more: string[] = []
    for (const { from, ...sender } of listSenders('GET', 'POST')) {
      const inspections = seen.map(({ request }) => inspect({ ...request, ...sender }))
      const alike = distinct(inspections, seen)
      for (const { preset, policy, pass } of STANCES) {
        const counts = new Map<number, number>()
        for (const row of new Set(alike)) {
          const inspection = { ...(inspections[row] as Inspection), ...(pass && { pass }) }
          counts.set(row, await pagesRead(policy, inspection, (seen[row] as Seen).request))
        }
        for (const [one, other] of pairs) {
          const [less, worse] = [one, other].map((row) => counts.get(alike[row] as number) ?? 0) as [number, number]
          if (worse > less) more.push(`${preset}, ${from}, ${seen[other]?.what}: ${worse} > ${less}`)
        }
      }
    }
    t.same(more.slice(0, 10), [], `${more.length} of them`)
  })
}
