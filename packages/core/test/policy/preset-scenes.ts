import { AGAINST, BIT, type SignalId } from '../../src/agent/signals.ts'
import { ACTIONS, compilePolicy, decide, type InspectedPass, type Inspection, PRESET_NAMES } from '../../src/index.ts'
import { createFakeNetworks, makeSnapshots, makeSystem } from '../../src/testing/fakes.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { type AsType, NETWORK_CLASSES } from '../../src/vocabulary.ts'
import { agentInspector, CHROME, FIREFOX, makeFields, makeRequest } from '../agents.ts'

/*
 * The first law of the presets: for every preset, network class, method and proof, a sign more never makes the outcome milder,
 * and a supporting sign less never does. Requests are a whole browser's with every set of changes that a copy shows.
 */

type Changes = Readonly<Record<string, string | undefined>>
type Step = (fields: Changes, request: Partial<InspectionRequest>) => readonly [Changes, Partial<InspectionRequest>]

const without =
  (...names: readonly string[]): Step =>
  (fields, request) => [{ ...fields, ...Object.fromEntries(names.map((name) => [name, undefined])) }, request]
const changeFields =
  (changes: Changes): Step =>
  (fields, request) => [{ ...fields, ...changes }, request]

/** Each step changes a browser's request so that a sign is added or taken away. */
const STEPS: readonly Step[] = [
  without('sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform'),
  without('Sec-Fetch-Site', 'Sec-Fetch-Mode', 'Sec-Fetch-User', 'Sec-Fetch-Dest'),
  without('Accept-Language'),
  without('Accept'),
  changeFields({ 'Accept-Encoding': 'gzip' }),
  without('Upgrade-Insecure-Requests'),
  changeFields({ 'sec-ch-ua-platform': '"Linux"' }),
  (fields, request) => [fields, { ...request, ja4: 't13d3112h2_e8f1e7e78f70_b26ce05bbdd6' }],
  (fields, request) => [{ ...fields, 'User-Agent': `${fields['User-Agent']} Unheard/1.0` }, request],
]
const NAMELESS: readonly Step[] = [...STEPS.slice(1, 6), changeFields({ 'Sec-Fetch-Dest': 'image' })]

interface Scene {
  readonly of: string
  readonly from: Changes
  readonly steps: readonly Step[]
  readonly about: Partial<InspectionRequest>
}

export const SCENES: readonly Scene[] = [
  { of: 'Chrome', from: CHROME, steps: STEPS, about: {} },
  { of: 'Chrome over http', from: CHROME, steps: STEPS.slice(2), about: { scheme: 'http' } },
  { of: 'Firefox', from: FIREFOX, steps: STEPS.slice(1), about: {} },
  { of: 'no user agent', from: { ...CHROME, 'User-Agent': undefined }, steps: NAMELESS, about: {} },
]

const TYPES: Readonly<Partial<Record<(typeof NETWORK_CLASSES)[number], AsType>>> = {
  hosting: 'hosting',
  datacenter: 'hosting',
  mobile: 'mobile',
  residential_clean: 'isp',
}
const PEERS = NETWORK_CLASSES.map((networkClass, at) => ({ networkClass, peer: `8.${at + 1}.1.1` }))
const SNAPSHOTS = makeSnapshots({
  networks: createFakeNetworks(
    PEERS.map(({ networkClass }, at) => [
      `8.${at + 1}.0.0/16`,
      { system: makeSystem({ asn: 64_500 + at, type: TYPES[networkClass] ?? 'unknown', networkClass }) },
    ]),
  ),
  rangesLoaded: true,
})
let moved = 0
const NOTHING_DONE = { pages: 1, signs: [], pagesWithoutFiles: 0, cookiesNotReturned: 0, differentPages: 1 }
const behaviour = { find: () => (moved === 0 ? undefined : { bits: moved, inspected: NOTHING_DONE }) }
export const { inspect } = agentInspector({ snapshots: SNAPSHOTS, behaviour })

export function inspectMoved(request: InspectionRequest, bits: number): Inspection {
  moved = bits
  const inspection = inspect(request)
  moved = 0
  return inspection
}

const PASSES: readonly (InspectedPass | undefined)[] = [undefined, { id: 'aaaaaaaaaaa', level: 2, age: 60 }]

/** Lists every preset, for a client without a pass and for a client with one. */
export const STANCES = PRESET_NAMES.flatMap((preset) => {
  const policy = compilePolicy({ preset, rules: [] })
  return PASSES.map((pass) => ({ preset, policy, pass }))
})

/** Ranks the action of a preset: a stricter one has a higher rank. */
export function rankAction(
  { policy, pass }: (typeof STANCES)[number],
  inspection: Inspection,
  { fields, target }: InspectionRequest,
): number {
  const asked = { mode: 'enforce', request: { fields, target } } as const
  return ACTIONS.indexOf(decide(policy, { ...inspection, ...(pass && { pass }) }, asked).action)
}

/** Lists every network with each of some methods. */
export function listSenders(...methods: readonly string[]) {
  return PEERS.flatMap(({ peer, networkClass }) =>
    methods.map((method) => ({ peer, method, from: `${networkClass}, ${method}` })),
  )
}

export interface Seen {
  readonly what: string
  readonly request: InspectionRequest
  /** Bits of the signs that speak against it, and of those that speak for it. */
  readonly against: number
  readonly support: number
}

export function listRequests({ of, from, steps, about }: Scene): readonly Seen[] {
  return Array.from({ length: 2 ** steps.length }, (_, set) => {
    let made: readonly [Changes, Partial<InspectionRequest>] = [from, about]
    for (const [at, step] of steps.entries()) if (set & (1 << at)) made = step(...made)
    const request = makeRequest(makeFields({}, made[0]), made[1])
    const bits = inspect(request).agent.reasons.reduce((bits, { id }) => bits | BIT[id as SignalId], 0)
    return { what: `${of}, steps ${set.toString(2)}`, request, against: bits & AGAINST, support: bits & ~AGAINST }
  })
}

/** Every pair of requests of which the second shows all that speaks against the first, and no more that speaks for it. */
export function worsePairs(seen: readonly Seen[]): readonly (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = []
  for (const [one, { against, support }] of seen.entries()) {
    for (const [other, worse] of seen.entries()) {
      const isWorse = (against & ~worse.against) === 0 && (worse.support & ~support) === 0
      if (isWorse && one !== other) pairs.push([one, other])
    }
  }
  return pairs
}
