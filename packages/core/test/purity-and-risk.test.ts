import t from 'tap'
import { type NetworkFinding, PRIVATE_RELAY, riskScore } from '../src/index.ts'
import { GRADES, ratePurity } from '../src/network/purity.ts'
import { anonymises, NETWORK_CLASSES, type NetworkClass } from '../src/vocabulary.ts'

function finding(classification: NetworkClass, confidence = 0.9): NetworkFinding {
  return {
    reserved: { reserved: false },
    verdict: { classification, anonymized: anonymises(classification), confidence, method: 'asn' },
    rule: 'operator_table',
    provider: '',
    asType: 'unknown',
    asn: 64_500,
    agreeing: [],
  }
}

const RESERVED: NetworkFinding = {
  ...finding('unknown', 1),
  reserved: { reserved: true, label: 'private', detail: 'Private-use network (RFC 1918).' },
}

t.test('the score is 100 less the deductions, which say why', async (t) => {
  for (const networkClass of NETWORK_CLASSES) {
    const { score, grade, deductions } = ratePurity(finding(networkClass))
    t.equal(score, 100 + deductions.reduce((sum, { points }) => sum + points, 0))
    t.ok(deductions.every(({ factor, points, detail }) => factor !== '' && points < 0 && detail !== ''))
    t.ok(GRADES.includes(grade))
  }
})

t.test('home and mobile lines are spotless, anonymisers dirty, infrastructure between', async (t) => {
  for (const name of ['residential_clean', 'mobile'] as const)
    t.match(ratePurity(finding(name)), { score: 100, grade: 'S+', verdict: 'clean', deductions: [] })
  for (const name of ['hosting', 'datacenter'] as const)
    t.match(ratePurity(finding(name)), { grade: 'A', verdict: 'suspect' })
  for (const name of ['vpn', 'residential_proxy', 'tor'] as const) t.equal(ratePurity(finding(name)).verdict, 'dirty')
  t.match(ratePurity(finding('vpn')), { grade: 'B' })
  t.match(ratePurity(finding('tor')), { grade: 'C' })
  t.match(ratePurity(finding('unknown', 0)), { grade: 'S', verdict: 'clean' })
})

t.test('an address in no system is less clean, and the score never falls below 0', async (t) => {
  const { asn, ...unrouted } = finding('unknown', 0)
  t.ok(asn)
  t.match(ratePurity(unrouted).deductions, [{ factor: 'unknown_network' }, { factor: 'unrouted' }])
  t.match(ratePurity(RESERVED), { score: 0, grade: 'C', verdict: 'dirty' })
})

t.test('risk grows with the class and shrinks towards undecided with doubt', async (t) => {
  const classes = ['residential_clean', 'hosting', 'vpn', 'residential_proxy', 'tor'] as const
  const risks = classes.map((name) => riskScore(finding(name)))
  const rising = risks.toSorted((x, y) => x - y)
  t.same(risks, rising)
  t.ok(riskScore(finding('tor', 1)) > riskScore(finding('tor', 0.5)))
  t.ok(riskScore(finding('residential_clean', 0.6)) > riskScore(finding('residential_clean', 1)))
  t.equal(riskScore(finding('unknown', 0)), 20)
  t.equal(riskScore(RESERVED), 0)
  for (const name of NETWORK_CLASSES) t.ok(Number.isInteger(riskScore(finding(name))))
})

t.test('a private relay costs what infrastructure costs, and only as a VPN', async (t) => {
  const relay = { ...finding('vpn', 1), provider: PRIVATE_RELAY }
  t.equal(riskScore(relay), 35)
  t.ok(riskScore(finding('vpn', 1)) > 35)
  t.match(ratePurity(relay), { grade: 'A', verdict: 'suspect', deductions: [{ factor: 'private_relay' }] })
  t.equal(riskScore({ ...finding('tor', 1), provider: PRIVATE_RELAY }), 95, 'a name on another class changes nothing')
})
