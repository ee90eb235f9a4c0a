import t from 'tap'
import { BEHAVIOUR_SIGNS, weighBehaviour } from '../../src/agent/behaviour-signs.ts'
import { ACTIONS, decide, type Inspection, PRESET_NAMES } from '../../src/index.ts'
import { inspect, inspectMoved, listRequests, PASSES, PEERS, POLICIES, SCENES, worsePairs } from './preset-scenes.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS'] as const

for (const scene of SCENES) {
  t.test(`${scene.of}: the more speaks against a request, the less it may, in every preset`, async (t) => {
    const seen = listRequests(scene)
    const pairs = worsePairs(seen)
    t.ok(pairs.length > seen.length, `${pairs.length} pairs of ${seen.length} requests`)
    const milder: string[] = []
    for (const { peer, networkClass } of PEERS) {
      for (const method of METHODS) {
        const inspections = seen.map(({ request }) => inspect({ ...request, peer, method }))
        for (const [one, other] of pairs) {
          const [less, more] = [inspections[one], inspections[other]] as readonly [Inspection, Inspection]
          if (more.agent.botProbability < less.agent.botProbability)
            milder.push(`probability, ${networkClass}, ${method}: ${seen[one]?.what} and ${seen[other]?.what}`)
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

/** One set of signs of behaviour for each sum of weights that any set has, in rising order. */
const MOVES: readonly number[] = Array.from({ length: 2 ** BEHAVIOUR_SIGNS.length }, (_, bits) => bits)
  .filter((bits, _, all) => all.findIndex((other) => weighBehaviour(other) === weighBehaviour(bits)) === bits)
  .toSorted((one, other) => weighBehaviour(one) - weighBehaviour(other))

for (const scene of SCENES) {
  t.test(`${scene.of}: the more behaviour speaks against a client, the less it may, in every preset`, async (t) => {
    const seen = listRequests(scene).filter((_, row) => row < 4 || row % 61 === 0)
    const milder: string[] = []
    for (const { peer, networkClass } of PEERS) {
      for (const method of ['GET', 'POST']) {
        for (const { what, request } of seen) {
          const inspections = MOVES.map((bits) => inspectMoved({ ...request, peer, method }, bits))
          for (const [at, policy] of POLICIES.entries()) {
            for (const pass of PASSES) {
              let last = 0
              for (const [row, inspection] of inspections.entries()) {
                const { fields, target } = request
                const asked = { mode: 'enforce', request: { fields, target } } as const
                const { action } = decide(policy, { ...inspection, ...(pass && { pass }) }, asked)
                const strictness = ACTIONS.indexOf(action)
                const before = inspections[Math.max(0, row - 1)] as Inspection
                const isLower = inspection.agent.botProbability < before.agent.botProbability
                if (strictness < last || isLower)
                  milder.push(`${PRESET_NAMES[at]}, ${networkClass}, ${method}: ${what}`)
                last = strictness
              }
            }
          }
        }
      }
    }
    t.ok(MOVES.length > 20, `${MOVES.length} sums`)
    t.same(milder.slice(0, 10), [], `${milder.length} of them`)
  })
}
