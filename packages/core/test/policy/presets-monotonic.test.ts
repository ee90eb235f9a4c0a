import t from 'tap'
import { BEHAVIOUR_SIGNS, weighBehaviour } from '../../src/agent/behaviour-signs.ts'
import type { Inspection } from '../../src/index.ts'
import {
  inspect,
  inspectMoved,
  listRequests,
  listSenders,
  rankAction,
  SCENES,
  STANCES,
  worsePairs,
} from './preset-scenes.ts'

for (const scene of SCENES) {
  t.test(`${scene.of}: the more speaks against a request, the less it may, in every preset`, async (t) => {
    const seen = listRequests(scene)
    const pairs = worsePairs(seen)
    t.ok(pairs.length > seen.length, `${pairs.length} pairs of ${seen.length} requests`)
    const milder: string[] = []
    for (const { from, ...sender } of listSenders('GET', 'HEAD', 'POST', 'PUT', 'OPTIONS')) {
      const inspections = seen.map(({ request }) => inspect({ ...request, ...sender }))
      for (const [one, other] of pairs) {
        const [less, more] = [inspections[one], inspections[other]] as readonly [Inspection, Inspection]
        if (more.agent.botProbability < less.agent.botProbability)
          milder.push(`probability, ${from}: ${seen[one]?.what} and ${seen[other]?.what}`)
      }
      for (const stance of STANCES) {
        const strictness = seen.map(({ request }, row) => rankAction(stance, inspections[row] as Inspection, request))
        for (const [one, other] of pairs) {
          if ((strictness[other] ?? 0) < (strictness[one] ?? 0))
            milder.push(`${stance.preset}, ${from}: ${seen[one]?.what} and ${seen[other]?.what}`)
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
    for (const { from, ...sender } of listSenders('GET', 'POST')) {
      for (const { what, request } of seen) {
        const inspections = MOVES.map((bits) => inspectMoved({ ...request, ...sender }, bits))
        for (const stance of STANCES) {
          let last = 0
          for (const [row, inspection] of inspections.entries()) {
            const strictness = rankAction(stance, inspection, request)
            const before = inspections[Math.max(0, row - 1)] as Inspection
            const isLower = inspection.agent.botProbability < before.agent.botProbability
            if (strictness < last || isLower) milder.push(`${stance.preset}, ${from}: ${what}`)
            last = strictness
          }
        }
      }
    }
    t.ok(MOVES.length > 20, `${MOVES.length} sums`)
    t.same(milder.slice(0, 10), [], `${milder.length} of them`)
  })
}
