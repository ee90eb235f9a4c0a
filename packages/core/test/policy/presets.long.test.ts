import t from 'tap'
import { compilePolicy, flaggingRules, type InspectionRequest, policyFaults, policyWarnings } from '../../src/index.ts'
import { PRESET_NAMES, type PresetName, type Rule } from '../../src/policy/policy.ts'
import { PRESETS } from '../../src/policy/presets/presets.ts'
import { CHROME, makeFields, makeRequest, RACK, SCHOOL } from '../agents.ts'
import { openGate } from './gate.ts'

function createGate(preset: PresetName, busy = false) {
  const load = { latch: () => () => busy, now: () => 1 }
  const gate = openGate({}, { policy: compilePolicy({ preset, rules: [] }, { load }) })
  return async (request: InspectionRequest) => {
    const { decision, ended } = await gate.ask(request)
    // A request that sends is answered by no page.
    ended?.(200, undefined, request.method === 'POST' ? 'application/json' : 'text/html')
    return `${decision.action} ${decision.reasons[0]?.id.replace('policy:', '')}`
  }
}

function makeNamed(userAgent: string, overrides: Partial<InspectionRequest> = {}): InspectionRequest {
  return makeRequest(['Host', 'a.example', 'User-Agent', userAgent], { peer: RACK, ...overrides })
}

const PAGE = makeFields(CHROME)
const UPTIME = 'Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)'
const BARE = ['Host', 'a', 'User-Agent', CHROME['User-Agent'] ?? '', 'Accept', '*/*']

/** The decision about a first request, and how many of its like pass until one is slowed or asked. */
type Kind = readonly [request: InspectionRequest, stop: string, passed: number, attack: string, left: number]
const KINDS: readonly Kind[] = [
  [makeNamed('curl/8', { target: '/robots.txt' }), 'allow open', 999, 'allow open', 999],
  [makeNamed('curl/8', { target: '/.well-known/acme-challenge/x' }), 'allow open', 999, 'allow open', 999],
  [makeNamed('FreshRSS/1.24', { target: '/blog/feed/' }), 'allow feeds', 120, 'allow feeds', 120],
  [makeNamed('Reader/1', { target: '/@ada.rss' }), 'allow feeds', 120, 'allow feeds', 120],
  [makeNamed('curl/8', { target: '/feedback' }), 'block server-libraries', 0, 'block server-libraries', 0],
  [makeNamed('Google-Extended/1.0'), 'block impostor', 0, 'block impostor', 0],
  [makeNamed('Mozilla/5.0 (X11) HeadlessChrome/150.0.0.0'), 'block headless', 0, 'block headless', 0],
  [makeNamed(UPTIME), 'flag helpers-seen', 60, 'flag helpers-seen', 30],
  [makeNamed('WhatsApp/2.23.20.0'), 'flag helpers-seen', 60, 'flag helpers-seen', 30],
  [makeNamed('curl/8', { method: 'POST' }), 'flag doubtful-seen', 300, 'flag doubtful-seen', 120],
  [makeNamed('Acme-Harvester/1.0'), 'flag doubtful-seen', 10, 'flag doubtful-seen', 10],
  [makeNamed('curl/8', { peer: '8.1.1.2' }), 'flag doubtful-seen', 60, 'flag doubtful-seen', 10],
  [makeNamed('MJ12bot/v1.4.8', { peer: '8.1.1.2' }), 'challenge unproven', 0, 'challenge unproven', 0],
  [makeNamed('Devin/1.0'), 'flag doubtful-seen', 60, 'flag doubtful-seen', 10],
  [makeNamed('AI2Bot'), 'challenge unproven', 0, 'challenge unproven', 0],
  [makeRequest(BARE), 'challenge doubtful', 0, 'challenge doubtful', 0],
  [makeRequest(BARE, { method: 'POST' }), 'flag doubtful-seen', 300, 'flag doubtful-seen', 120],
  [makeRequest(['Host', 'a.example']), 'challenge doubtful', 0, 'challenge doubtful', 0],
  [makeRequest(PAGE, { peer: RACK }), 'flag doubtful-seen', 60, 'challenge asked', 0],
  [makeRequest(PAGE), 'allow default', 600, 'allow default', 600],
  [makeRequest(BARE, { scheme: 'http' }), 'allow default', 600, 'allow default', 600],
  [makeRequest(PAGE, { peer: SCHOOL }), 'allow default', 999, 'allow default', 30],
  [makeRequest(PAGE, { peer: '10.0.0.1' }), 'allow default', 999, 'allow default', 999],
  [makeRequest(PAGE, { peer: '8.77.0.1' }), 'allow default', 999, 'allow default', 999],
]

for (const [preset, at] of [
  ['stop-scrapers', 0],
  ['under-attack', 1],
] as const) {
  t.test(`${preset}: who passes, and how often`, async (t) => {
    for (const [request, ...columns] of KINDS) {
      const [first, most] = columns.slice(at * 2) as [string, number]
      const ask = createGate(preset)
      const about = `${request.fields.join(' ')} ${request.peer} ${request.target}`
      t.equal(await ask(request), first, about)
      let passed = /^(?:block|challenge)/.test(first) ? 0 : 1
      while (passed > 0 && passed < 999 && !/^(?:throttle|challenge)/.test(await ask(request))) passed++
      t.equal(passed, most, about)
    }
  })
}

async function countPassed(preset: PresetName, busy: boolean, flood: readonly InspectionRequest[]): Promise<number> {
  const ask = createGate(preset, busy)
  let passed = 0
  for (const request of flood) if (/^(allow|flag)/.test(await ask(request))) passed++
  return passed
}

t.test('floods are slowed by what they share, and browsers at home are not', async (t) => {
  const flood = (fields: readonly string[], peer: (at: number) => string) =>
    Array.from({ length: 2_000 }, (_, at) => makeRequest(fields, { peer: peer(at) }))
  const network = flood(BARE, (at) => `8.1.7.${at % 250}`)
  const system = flood(BARE, (at) => `8.1.${at % 250}.${at % 7}`)
  const lines = flood(PAGE, (at) => `8.1.7.${at % 250}`)
  for (const preset of ['stop-scrapers', 'under-attack'] as const) {
    for (const busy of [false, true])
      for (const copies of [network, system]) t.equal(await countPassed(preset, busy, copies), 0)
  }
  const sends = [network, system].map((flood) => flood.map((request) => ({ ...request, method: 'POST' })))
  t.same(await Promise.all(sends.map((flood) => countPassed('stop-scrapers', false, flood))), [900, 1_800])
  t.same(await Promise.all(sends.map((flood) => countPassed('stop-scrapers', true, flood))), [240, 600])
  t.equal(await countPassed('stop-scrapers', true, lines), 2_000)
  t.equal(await countPassed('under-attack', false, lines), 2_000)
  t.equal(await countPassed('under-attack', true, lines), 600)
})

t.test('no preset is warned of, whatever the default is', async (t) => {
  for (const preset of PRESET_NAMES) {
    const ids = PRESETS[preset].map(({ id }) => id)
    t.same(ids, [...new Set(ids)], preset)
    t.same(policyFaults({ preset: 'observe', rules: PRESETS[preset] }), [], preset)
    for (const more of [{}, { default: 'block' }] as const) t.same(policyWarnings({ preset, rules: [], ...more }), [])
  }
})

t.test('what flags is named: rules in force that neither weigh nor are on trial', async (t) => {
  const flag: Rule = { id: 'odd', match: { httpVersion: ['1.0'] }, action: 'flag' }
  for (const [policy, ids] of [
    [{}, []],
    [{ rules: [flag] }, ['odd']],
    [{ rules: [{ ...flag, weight: 3 }] }, []],
    [{ rules: [{ ...flag, monitor: true }] }, []],
    [{ rules: [{ ...flag, limit: { key: 'client', max: 1, window: '1m' } }] }, ['odd']],
    [{ default: 'flag' }, ['default']],
    [{ rules: [flag], strikes: { count: 3, window: '1m', on: ['flagged'], for: '1h' } }, []],
    [{ preset: 'stop-scrapers' }, ['helpers-seen', 'doubtful-seen']],
  ] as const)
    t.same(flaggingRules({ preset: 'observe', rules: [], ...policy }), ids)
})
