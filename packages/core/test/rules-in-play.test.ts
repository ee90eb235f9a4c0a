import t from 'tap'
import { NO_VERDICT } from '../src/agent/judge.ts'
import { NOTHING_KNOWN } from '../src/network/classify.ts'
import { compilePolicy } from '../src/policy/compile.ts'
import type { Candidate } from '../src/policy/in-play.ts'
import type { Subject } from '../src/policy/match.ts'
import type { Match, Rule } from '../src/policy/policy.ts'
import { createRandom } from '../src/testing/random.ts'
import type { AgentVerdict } from '../src/values/agent-verdict.ts'
import type { NetworkFinding } from '../src/values/finding.ts'

const NETWORK_CLASSES = ['hosting', 'vpn', 'tor', 'mobile', 'residential_clean', 'unknown'] as const
const NETWORKS = NETWORK_CLASSES.flatMap((classification, at) =>
  [64_500, 64_501, undefined].map((asn): NetworkFinding => {
    const verdict = { ...NOTHING_KNOWN.verdict, classification }
    return { ...NOTHING_KNOWN, verdict, provider: at % 2 === 0 ? 'Brand' : '', ...(asn !== undefined && { asn }) }
  }),
)
const AGENT_CLASSES = ['human', 'ai_agent', 'unverified_bot', 'impostor'] as const
const AGENTS = AGENT_CLASSES.flatMap((agentClass) =>
  [0.2, 0.9].map((confidence): AgentVerdict => ({ ...NO_VERDICT, class: agentClass, confidence })),
)
const GPTBOT = {
  slug: 'gptbot',
  name: 'GPTBot',
  operator: 'OpenAI',
  purpose: 'training',
  summary: '',
  pending: false,
} as const
const CRAWLERS = [undefined, undefined, { ...GPTBOT, outcome: 'verified' }, { ...GPTBOT, outcome: 'spoofed' }] as const
const DEGRADED = [[], [], ['ranges'], ['geo'], ['geo', 'asn', 'ranges']] as const

function randomMatch(one: <Item>(of: readonly Item[]) => Item): Match {
  return {
    ...(one([true, false]) && { networkClass: [one(NETWORK_CLASSES), one(NETWORK_CLASSES)] }),
    ...(one([true, false, false]) && { asn: [64_501] }),
    ...(one([true, false, false]) && { provider: ['brand'] }),
    ...(one([true, false, false]) && { country: [one(['DE', 'FR', 'unknown'])] }),
    ...(one([true, false, false]) && { class: [one(AGENT_CLASSES)] }),
    ...(one([true, false, false]) && { confidence: { atLeast: 0.5 } }),
    ...(one([true, false, false, false]) && { crawlerOutcome: [one(['verified', 'spoofed'] as const)] }),
    ...(one([true, false]) && { path: ['/admin/**'] }),
  }
}

t.test('rules answered from memory are those of a policy that was never asked before', async (t) => {
  const random = createRandom(20_261_121)
  const one = <Item>(of: readonly Item[]): Item => of[random(of.length)] as Item
  let wrong = 0
  let inPlay = 0
  for (let round = 0; round < 20; round++) {
    const rules = Array.from({ length: 40 }, (_, at): Rule => {
      const rule: Rule = { id: `${at}`, match: randomMatch(one), action: one(['allow', 'flag', 'block']) }
      return { ...rule, monitor: one([true, false, false]), ...(one([true, false]) && { onError: 'flag' }) }
    })
    const policy = compilePolicy({ preset: 'observe', rules })
    for (let asked = 0; asked < 200; asked++) {
      const country = one(['DE', 'FR', undefined])
      const crawler = one(CRAWLERS)
      const subject: Subject = {
        network: one(NETWORKS),
        agent: one(AGENTS),
        degraded: one(DEGRADED),
        ...(country !== undefined && { country }),
        ...(crawler !== undefined && { crawler }),
      }
      const found = told(policy.rulesFor(subject))
      if (found !== told(compilePolicy({ preset: 'observe', rules }).rulesFor(subject))) wrong++
      inPlay += found.split(' ').length
    }
  }
  t.equal(wrong, 0)
  t.ok(inPlay > 10_000, `${inPlay} rules were in play`)
})

function told({ inForce, onTrial, settled }: ReturnType<ReturnType<typeof compilePolicy>['rulesFor']>): string {
  const ids = (candidates: readonly Candidate[]) => candidates.map(({ matched }) => `${matched.id}:${matched.action}`)
  return [...ids(inForce), '|', ...ids(onTrial), settled].join(' ')
}

t.test('more kinds of visitors than are remembered are each answered by their own rules', async (t) => {
  const asns = Array.from({ length: 1100 }, (_, at) => 64_512 + at)
  const rules = asns.map((asn): Rule => ({ id: `${asn}`, match: { asn: [asn] }, action: 'flag' }))
  const policy = compilePolicy({ preset: 'observe', rules })
  const networks = asns.map((asn): NetworkFinding => ({ ...NOTHING_KNOWN, asn }))
  for (const time of ['first', 'second']) {
    const wrong = networks.filter((network) => {
      const { inForce } = policy.rulesFor({ network, agent: NO_VERDICT, degraded: [] })
      return inForce.length !== 1 || inForce[0]?.matched.id !== `${network.asn}`
    })
    t.equal(wrong.length, 0, `the ${time} time`)
  }
})
