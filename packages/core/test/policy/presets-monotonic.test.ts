import t from 'tap'
import { decide } from '../../src/inspection/decide.ts'
import { PRESET_NAMES } from '../../src/policy/policy.ts'
import type { Inspection } from '../../src/values/inspection.ts'
import { ACTIONS } from '../../src/vocabulary.ts'
import { inspect, PASSES, PEERS, POLICIES, requestsOf, SCENES, worsePairs } from './preset-scenes.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'] as const

for (const scene of SCENES) {
  t.test(`${scene.of}: the more speaks against a request, the less it may, in every preset`, async (t) => {
    const seen = requestsOf(scene)
    const pairs = worsePairs(seen)
    t.ok(pairs.length > seen.length, `${pairs.length} pairs of ${seen.length} requests`)
    const milder: string[] = []
    for (const { peer, networkClass } of PEERS) {
      for (const method of METHODS) {
        const inspections = seen.map(({ request }) => inspect({ ...request, peer, method }))
        for (const [one, other] of pairs) {
          const [less, more] = [inspections[one], inspections[other]] as readonly [Inspection, Inspection]
          if (more.agent.botProbability < less.agent.botProbability) {
            milder.push(`probability, ${networkClass}, ${method}: ${seen[one]?.what} and ${seen[other]?.what}`)
          }
        }
        for (const [at, policy] of POLICIES.entries()) {
          for (const pass of PASSES) {
            const strictness = seen.map(({ request: { fields, target } }, row) => {
              const inspection: Inspection = { ...(inspections[row] as Inspection), ...(pass && { pass }) }
              const { action } = decide(policy, inspection, { mode: 'enforce', request: { fields, target } })
              return ACTIONS.indexOf(action)
            })
            for (const [one, other] of pairs) {
              if ((strictness[other] ?? 0) < (strictness[one] ?? 0)) {
                const preset = PRESET_NAMES[at]
                milder.push(`${preset}, ${networkClass}, ${method}: ${seen[one]?.what} and ${seen[other]?.what}`)
              }
            }
          }
        }
      }
    }
    t.same(milder.slice(0, 10), [], `${milder.length} of them`)
  })
}
