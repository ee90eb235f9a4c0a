import { JURISDICTIONS } from '@sallyport/data/jurisdictions'
import t from 'tap'
import { classify, type NetworkFinding, parseJurisdictionPolicy, withAttestation } from '../src/index.ts'
import { createJurisdictionJudge, listFoundRegions } from '../src/jurisdiction/judge.ts'
import { createFakeNetworks, makeAddress, makeSnapshot, makeSystem } from '../src/testing/fakes.ts'

const HIDE = makeSystem({ asn: 64502, networkClass: 'vpn', type: 'vpn' })
const HOME = makeSystem({ asn: 64501, networkClass: 'residential_clean', type: 'isp' })
const NETWORKS = createFakeNetworks([
  ['13.0.0.0/16', { system: HIDE }],
  ['12.0.0.0/16', { system: HOME }],
])

const finding = (text: string) => classify(makeAddress(text), makeSnapshot({ networks: NETWORKS }))

const [HIDDEN, PLAIN, RESERVED] = [finding('13.0.0.1'), finding('12.0.0.1'), finding('10.0.0.1')]

t.test('the policy that comes with us decides every kind of case', async (t) => {
  const judge = createJurisdictionJudge(parseJurisdictionPolicy(JURISDICTIONS))
  // Each pair is the claim and the country that the data has, if any.
  for (const [network, pairs, action, reason] of [
    [PLAIN, 'DE=DE EU=DE EEA=NO', 'allow', 'match'],
    [PLAIN, 'DE=FR DE=NO', 'allow', 'mismatch_within_eea'],
    [PLAIN, 'DE=CH US=DE EU=NO', 'flag', 'mismatch'],
    [PLAIN, 'DE', 'flag', 'unknown_country'],
    [PLAIN, 'IR=IR', 'block', 'sanctioned_country'],
    [PLAIN, 'IR=DE', 'block', 'sanctioned_claim'],
    [HIDDEN, 'DE=KP', 'block', 'sanctioned_country'],
    [HIDDEN, 'DE=NL', 'block', 'anonymized_mismatch'],
    [HIDDEN, 'NL=NL NL', 'flag', 'anonymized_origin'],
    [RESERVED, 'DE', 'flag', 'reserved_address'],
  ] as const)
    for (const pair of pairs.split(' ')) {
      const [claim = '', country] = pair.split('=')
      t.same(judge.judge(claim, { network, country }), { action, reason }, pair)
    }
})

t.test('a claim is a country or a group in any case, and the fault of another names its field', async (t) => {
  const judge = createJurisdictionJudge(parseJurisdictionPolicy(JURISDICTIONS))
  t.same(['de', 'DE', 'eu', 'Eea', 'us'].map(judge.parseClaim), ['DE', 'DE', 'EU', 'EEA', 'US'])
  for (const text of ['', 'XX', 'ZZ', 'DEU', 'sanctioned', 'Germany', 'D', '__proto__', 'unknown', ' DE'])
    t.throws(() => judge.parseClaim(text), { code: 'invalid_request' }, text)
  // These look like a code in capitals, or are codes that ISO 3166-1 gives to no country.
  for (const text of ['ß', 'ıT', 'ﬁ', 'ＤＥ', 'UK', 'SU', 'YU', 'AN', 'UN', 'EZ', 'IC'])
    t.throws(() => judge.parseClaim(text), { code: 'invalid_request' }, text)
  const own = createJurisdictionJudge(parseJurisdictionPolicy(makePolicy({})))
  t.same(['xk', 'gb', 'dach'].map(own.parseClaim), ['XK', 'GB', 'DACH'])
  t.throws(() => own.parseClaim('EU'), { code: 'invalid_request' }, 'a group that the policy does not have')
  const fields = [{ field: 'claimed_jurisdiction', message: 'not the code of a country or a region' }]
  t.throws(() => judge.parseClaim('XX'), {
    message: 'claimed_jurisdiction: not the code of a country or a region',
    details: { fields },
  })
  const groups = new Map(JURISDICTIONS.groups.map(({ id, countries }) => [id, countries]))
  t.same([groups.get('EU')?.length, groups.get('EEA')?.length], [27, 30])
  t.ok(groups.get('EU')?.every((code) => groups.get('EEA')?.includes(code)))
})

const RULE = { id: 'else', match: {}, action: 'flag' }
const makePolicy = (change: object) => ({
  id: 'own',
  groups: [{ id: 'DACH', countries: ['DE', 'AT', 'CH'] }],
  rules: [RULE],
  ...change,
})

t.test('a policy that cannot be meant is refused by the name of its member', async (t) => {
  for (const [policy, message] of [
    [makePolicy({ id: 'a b' }), /id: must be an id/],
    [makePolicy({ groups: [{ id: 'G', countries: ['UK'] }] }), /groups\.0\.countries: .*"UK"/],
    [makePolicy({ groups: [{ id: 'DE', countries: ['DE'] }] }), /groups\.0\.id: .*not a country/],
    [makePolicy({ groups: Array(2).fill({ id: 'G', countries: [] }) }), /"G" occurs twice/],
    [makePolicy({ rules: [] }), /last rule with an empty match/],
    [makePolicy({ rules: [{ ...RULE, action: 'deny' }] }), /rules\.0\.action: must be allow, flag, block/],
    [makePolicy({ rules: [{ ...RULE, when: {} }] }), /rules\.0: .*"when"/],
    [makePolicy({ rules: [{ ...RULE, match: { asn: [1] } }, RULE] }), /rules\.0\.match: .*"asn"/],
    [makePolicy({ rules: [{ ...RULE, match: { country: ['NOWHERE'] } }, RULE] }), /match\.country: .*"NOWHERE"/],
    [makePolicy({ rules: [{ ...RULE, match: { relation: ['same'] } }, RULE] }), /match\.relation: .*"same"/],
    [makePolicy({ rules: [{ ...RULE, match: { anonymized: 'yes' } }, RULE] }), /anonymized: must be true or false/],
    [makePolicy({ groups: [{ id: 'unknown', countries: ['DE'] }] }), /groups\.0\.id: .*not unknown/],
    [makePolicy({ rules: [{ ...RULE, match: [] }] }), /rules\.0\.match: must be a map/],
    [[], /policy: must be a map/],
  ] as const)
    t.throws(() => parseJurisdictionPolicy(policy), { code: 'invalid_policy', message }, String(message))
})

t.test('a policy of the user decides by its own words, first rule first', async (t) => {
  const rules = [
    { id: 'home', match: { claim: ['DACH'], country: ['DACH'] }, action: 'allow' },
    { id: 'hosted', match: { networkClass: ['vpn'], relation: ['match', 'mismatch'] }, action: 'block' },
    { id: 'nowhere', match: { country: ['unknown'], anonymized: false, reserved: false }, action: 'flag' },
    { id: 'else', match: {}, action: 'block' },
  ]
  const judge = createJurisdictionJudge(parseJurisdictionPolicy(makePolicy({ rules })))
  const reason = (claim: string, network: NetworkFinding, country?: string) =>
    judge.judge(claim, { network, country }).reason
  t.same([reason('DE', PLAIN, 'CH'), reason('DACH', HIDDEN, 'AT')], ['home', 'home'])
  t.same([reason('DE', HIDDEN, 'US'), reason('DE', PLAIN)], ['hosted', 'nowhere'])
  t.same([reason('DE', HIDDEN), reason('DE', RESERVED), reason('US', PLAIN, 'US')], ['else', 'else', 'else'])
})

t.test('an attested decision takes the stricter action and keeps what was decided', async (t) => {
  const inspection = { network: PLAIN } as never
  const decided = { action: 'flag', enforced: true, reasons: [{ id: 'policy:a', text: '' }], inspection } as const
  const attested = (action: 'allow' | 'block') => ({ id: 7, claim: 'DE', action, reason: 'match' }) as const
  const stays = withAttestation(decided, attested('allow'), 'enforce')
  t.same([stays.action, stays.enforced, stays.attestation], ['flag', true, attested('allow')])
  const tried = { ...decided, trial: { rule: 'b', action: 'block' } } as const
  const trying = withAttestation(tried, attested('allow'), 'enforce')
  t.same([trying.action, trying.enforced, trying.trial], ['flag', true, tried.trial], 'a trial is not carried out')
  t.notOk('trial' in withAttestation(tried, attested('block'), 'enforce'), 'it is not stricter than that')
  const stricter = withAttestation(decided, attested('block'), 'monitor')
  t.same([stricter.action, stricter.enforced], ['block', false])
  const found = stricter.reasons.map(({ id }) => id)
  t.same(found, ['policy:a', 'jurisdiction:match'])
  t.ok(Object.isFrozen(stricter) && Object.isFrozen(stricter.reasons) && Object.isFrozen(stricter.attestation))
})

t.test('a claim may name a region, which is held against the region that was found', async (t) => {
  const judge = createJurisdictionJudge(parseJurisdictionPolicy(JURISDICTIONS))
  t.same(['us-tx', 'GB-NIR'].map(judge.parseClaim), ['US-TX', 'GB-NIR'])
  for (const text of ['US-XX', 'FR-A', 'US-', '-TX'])
    t.throws(() => judge.parseClaim(text), { code: 'invalid_request' })
  t.same(['US-TX', 'US', 'EU'].map(judge.namesRegion), [true, false, false])
  const found = (code: string) => ({ code, source: 'made', basis: 'city', confidence: 0.75 }) as const
  t.same(listFoundRegions('GB-NIR', found('GB-BFS')), ['GB-BFS', 'GB-NIR', 'GB-UKM'])
  t.same(listFoundRegions('GB-BFS', found('GB-NIR')), [], 'the data is less exact than the claim')
  t.same(listFoundRegions('US-TX', { doubt: 'carrier' }), [])
  for (const [claim, country, regions, action, reason] of [
    ['US-TX', 'US', ['US-TX'], 'allow', 'match'],
    ['US-TX', 'US', ['US-NY'], 'flag', 'mismatch'],
    ['US-TX', 'US', [], 'flag', 'unknown_region'],
    ['US-TX', 'DE', [], 'flag', 'mismatch'],
    ['US-TX', undefined, [], 'flag', 'unknown_country'],
    ['IR-23', 'DE', [], 'block', 'sanctioned_claim'],
  ] as const)
    t.same(judge.judge(claim, { network: PLAIN, country, regions }), { action, reason }, `${claim} ${regions}`)
})
