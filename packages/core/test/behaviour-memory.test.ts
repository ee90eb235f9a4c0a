import t from 'tap'
import { BEHAVIOUR_SIGNS, weighBehaviour } from '../src/agent/behaviour-signs.ts'
import { type Behaviour, createBehaviour } from '../src/behaviour/behaviour.ts'
import { RECORD_BYTES, SLOTS } from '../src/behaviour/records.ts'
import { readTraits, type TraitFacts } from '../src/behaviour/traits.ts'
import { limited } from '../src/counting/limited.ts'
import { type CountingRule, compilePolicy, type Decision, decide, type Inspection } from '../src/index.ts'
import type { ObservedRequest } from '../src/values/observed.ts'
import { agentInspector, CHROME, HOME, makeFields, makeRequest, RACK } from './agents.ts'

const START = Date.parse('2026-11-21T12:00:00Z')
const FIELDS = makeFields({}, CHROME)
const USER_AGENT = CHROME['User-Agent'] ?? ''
const read = (facts: TraitFacts) => readTraits(facts, facts)
const ABOUT = { method: 'GET', host: 'a.example', isConditional: false, isAhead: false }
const { decide: decideStill } = agentInspector()

interface Answered {
  readonly at: number
  readonly target: string
  readonly contentType?: string
  readonly cookie?: string
  readonly referer?: string
  readonly sets?: string
  readonly pass?: boolean
  readonly status?: number
  /** Name of a header field by which the visitor is of another group. */
  readonly mark?: string
}

function inspectAt(address: string, pass = false): Inspection {
  const { inspection } = decideStill(makeRequest(FIELDS, { peer: address }))
  return pass ? { ...inspection, pass: { id: 'p', level: 2, age: 1 } } : inspection
}

function answer(behaviour: Behaviour, address: string, { at, target, ...answered }: Answered): void {
  const { cookie, referer, sets, pass, ...more } = answered
  const { status = 200, contentType = 'text/html', mark } = more
  const fields = mark === undefined ? FIELDS : [...FIELDS, mark, '1']
  const setCookies = sets === undefined ? undefined : [sets]
  const traits = read({ ...ABOUT, fields, target, cookie, referer, status, contentType, setCookies })
  const decision = { inspection: inspectAt(address, pass) } as Decision
  const observed: Partial<ObservedRequest> = { decision, traits, userAgent: USER_AGENT, status, at, milliseconds: 5 }
  behaviour.record({ host: 'a.example', ...observed } as ObservedRequest)
}

/** Has people read eight pages each with files, cookies and links, so that the norms of the site are known. */
function teach(behaviour: Behaviour, people = 10): void {
  for (let person = 0; person < people; person++) {
    for (let page = 0; page < 8; page++) {
      const [address, at] = [`8.1.9.${person}`, START + page * 9_000]
      const known = page === 0 ? {} : { cookie: 'sid=1', referer: 'https://a.example/' }
      answer(behaviour, address, { at, target: `/${page}`, sets: 'sid=1', ...known })
      answer(behaviour, address, { at: at + 100, target: `/${page}.css`, contentType: 'text/css', ...known })
    }
  }
}

/** Has a scraper read pages without files or links. */
function scrape(behaviour: Behaviour, address: string, pages: number, from = START): void {
  for (let page = 0; page < pages; page++)
    answer(behaviour, address, { at: from + page * 1_000, target: `/s/${page}`, sets: 'sid=1' })
}

function find(behaviour: Behaviour, address: string, now: number, pass = false) {
  return behaviour.find(makeRequest(FIELDS, { peer: address }), inspectAt(address, pass), now)?.inspected
}

const make = () => createBehaviour({ seed: () => 7 })

function makeTaught(): Behaviour {
  const behaviour = make()
  teach(behaviour)
  return behaviour
}

t.test('signs are silent until ten visits show what people do here', async (t) => {
  const behaviour = make()
  scrape(behaviour, HOME, 25)
  t.match(find(behaviour, HOME, START + 25_000), { pages: 25, signs: [], pagesWithoutFiles: 0, cookiesNotReturned: 0 })
  t.equal(find(behaviour, HOME, START + 25_000)?.likeness, undefined)
  teach(behaviour, 9)
  t.same(find(behaviour, HOME, START + 25_000)?.signs, [])
  teach(behaviour)
  t.match(find(behaviour, HOME, START + 25_000), { pagesWithoutFiles: 25, cookiesNotReturned: 24, differentPages: 25 })
  t.ok(find(behaviour, HOME, START + 25_000)?.signs.includes('pages-without-files'))
})

t.test('where people load no files from here, a visit without files says nothing', async (t) => {
  const behaviour = make()
  for (let person = 0; person < 30; person++) {
    for (let page = 0; page < 9; page++) {
      const known = { sets: 'sid=1', cookie: 'sid=1', pass: true, mark: `x-${person}` }
      answer(behaviour, `8.1.8.${person}`, { at: START + page * 9_000, target: `/${page}`, ...known })
    }
  }
  scrape(behaviour, HOME, 25)
  t.notOk(find(behaviour, HOME, START + 25_000)?.signs.includes('pages-without-files'))
  const found = behaviour.habits.find(({ habit }) => habit === 'keeps-loading')
  t.match(found, { isActive: false, visits: 30, having: 0 })
})

t.test('visitors who act alike have a group, a pass has none, and a group with a pass is mixed', async (t) => {
  const behaviour = makeTaught()
  scrape(behaviour, HOME, 9)
  scrape(behaviour, '8.1.1.2', 9)
  const { likeness, isMixed } = find(behaviour, HOME, START + 20_000) ?? {}
  t.match(likeness, /^[0-9a-f]{8}$/)
  t.equal(isMixed, undefined)
  t.equal(find(behaviour, '8.1.1.2', START + 20_000)?.likeness, likeness, 'another address that acts alike')
  t.equal(find(behaviour, HOME, START + 20_000, true)?.likeness, undefined, 'who has a pass')
  answer(behaviour, '8.1.1.2', { at: START + 21_000, target: '/s/x', pass: true })
  t.equal(find(behaviour, HOME, START + 22_000)?.isMixed, true)
})

t.test('a group is named by what it lacks, after the fifth page and three pages without the cookie', async (t) => {
  const behaviour = makeTaught()
  const known = { cookie: 'sid=1', referer: 'https://a.example/' }
  /** Has a visitor read pages a second apart, with a style each where `files` says so, and a cookie from `setsFrom` on. */
  const visit = (address: string, pages: number, more: Partial<Answered>, files = false, setsFrom = 0) => {
    for (let page = 0; page < pages; page++) {
      const at = START + page * 1_000
      const sets = page >= setsFrom ? { sets: 'sid=1' } : {}
      answer(behaviour, address, { at, target: `/v/${page}`, ...sets, ...more })
      if (files) answer(behaviour, address, { at: at + 9, target: `/${page}.css`, contentType: 'text/css' })
    }
    return find(behaviour, address, START + 30_000)?.likeness
  }
  t.equal(visit('8.1.5.1', 4, {}), undefined)
  const referer = known.referer
  const groups = [visit('8.1.5.2', 5, {}), visit('8.1.5.3', 9, known), visit('8.1.5.4', 9, { referer }, true)]
  for (const group of groups) t.match(group, /^[0-9a-f]{8}$/)
  t.equal(new Set(groups).size, 3, 'files, cookies and links differ')
  t.equal(visit('8.1.5.5', 9, known, true), undefined, 'a person lacks nothing')
  t.equal(visit('8.1.6.2', 9, { referer }, true, 6), undefined, 'two pages without the cookie')
  t.match(visit('8.1.6.3', 9, { referer }, true, 5), /^[0-9a-f]{8}$/)
})

t.test('visits that act alike teach a site once', async (t) => {
  const behaviour = make()
  for (let visitor = 0; visitor < 30; visitor++) {
    for (let page = 0; page < 9; page++)
      answer(behaviour, `8.1.7.${visitor}`, { at: START + page * 9_000, target: `/${page}`, pass: true })
  }
  t.same(new Set(behaviour.habits.map(({ visits }) => visits)), new Set([1]))
})

t.test('a flood of new visitors takes no more memory, and leaves those of several pages', async (t) => {
  t.ok(RECORD_BYTES <= 200, `${RECORD_BYTES} bytes`)
  const behaviour = makeTaught()
  scrape(behaviour, HOME, 25)
  const { inspection } = decideStill(makeRequest(FIELDS, { peer: HOME }))
  for (let flood = 0; flood < 4 * SLOTS; flood++) {
    const address = `8.${1 + (flood >>> 16)}.${(flood >>> 8) & 255}.${flood & 255}`
    const decision = { inspection: { ...inspection, client: { ...inspection.client, address } } } as Decision
    const traits = read({ ...ABOUT, fields: FIELDS, target: '/', status: 200, contentType: 'text/html' })
    const observed = { decision, traits, userAgent: `Mozilla/5.0 ${flood}`, at: START + 26_000, milliseconds: 1 }
    behaviour.record({ host: '', status: 200, ...observed } as unknown as ObservedRequest)
  }
  t.ok(behaviour.size(START + 26_000) <= SLOTS)
  t.equal(find(behaviour, HOME, START + 27_000)?.pages, 25, 'the visit of before the flood')
})

t.test('a visit ends after half an hour, and clocks that jump end it without harm', async (t) => {
  const behaviour = makeTaught()
  scrape(behaviour, HOME, 25)
  for (const jump of [31 * 60_000, -31 * 60_000, 1e13, -1e13])
    t.equal(find(behaviour, HOME, START + 25_000 + jump), undefined, `${jump} ms`)
  t.equal(find(behaviour, HOME, START)?.pages, 25, 'a clock that goes back by seconds')
  for (const at of [START + 60_000, START - 5_000, START + 61_000, START - 4e6, Number.MAX_SAFE_INTEGER, START])
    answer(behaviour, HOME, { at, target: '/jump' })
  const found = find(behaviour, HOME, START)
  t.ok(found === undefined || (Number.isFinite(found.pages) && Number.isFinite(found.differentPages)))
})

t.test('operators of allowlisted, internal and named clients see no behaviour of theirs', async (t) => {
  const behaviour = makeTaught()
  for (const address of ['10.0.0.1', '127.0.0.1']) {
    scrape(behaviour, address, 25)
    t.equal(find(behaviour, address, START + 25_000), undefined, address)
  }
  const inspection = inspectAt(HOME)
  scrape(behaviour, HOME, 25)
  const allowed = { ...inspection.agent, identity: { type: 'address', name: HOME, verified: true } as const }
  t.equal(behaviour.find(makeRequest(FIELDS), { ...inspection, agent: allowed }, START + 25_000), undefined)
  const named = { ...inspection.agent, basis: 'crawler' as const }
  t.equal(behaviour.find(makeRequest(FIELDS), { ...inspection, agent: named }, START + 25_000), undefined)
})

t.test('the inspector raises the probability, names the basis, and keeps no ruling of before', async (t) => {
  const behaviour = makeTaught()
  const likely = { id: 'likely', match: { botProbability: { atLeast: 0.73 } }, action: 'challenge' } as const
  const policy = compilePolicy({ preset: 'observe', rules: [likely] })
  const inspector = agentInspector({ behaviour, policy, clock: { now: () => START + 26_000 } })
  const still = inspector.decide(makeRequest(FIELDS))
  t.match(still, { action: 'allow', inspection: { agent: { class: 'human', basis: 'none' } } })
  for (let time = 0; time < 3; time++) inspector.decide(makeRequest(FIELDS))
  scrape(behaviour, HOME, 25)
  const { action, inspection } = inspector.decide(makeRequest(FIELDS))
  t.equal(action, 'challenge')
  t.match(inspection.agent, { basis: 'behaviour' })
  t.ok(inspection.agent.botProbability > 0.73)
  t.ok(inspection.agent.reasons.some(({ id }) => id === 'pages-without-files'))
  const { inspection: junk } = inspector.decide(makeRequest([...FIELDS, 'Signature', 'x', 'Signature-Input', 'x']))
  t.equal(junk.agent.botProbability, inspection.agent.botProbability, 'a signature that proves nothing changes nothing')
  const preset = compilePolicy({ preset: 'protect-content', rules: [] })
  for (const [method, decided] of Object.entries({ GET: 'challenge', HEAD: 'challenge', POST: 'flag', PUT: 'flag' })) {
    const asked = { ...inspection, request: { method, path: '/' } }
    t.equal(decide(preset, asked, { mode: 'enforce' }).action, decided, method)
  }
  t.equal(inspector.decide(makeRequest(FIELDS, { peer: RACK })).inspection.behaviour, undefined, 'another client')
})

t.test('a rule reads pages without files, and is open where nobody says what the visitor did', async (t) => {
  const match = { behaviour: { pagesWithoutFiles: { atLeast: 10 }, differentPages: { atLeast: 5 } } }
  const policy = compilePolicy({ preset: 'observe', rules: [{ id: 'bare', match, action: 'block' }] })
  const inspection = inspectAt(HOME)
  const behaviour = { pages: 12, signs: [], pagesWithoutFiles: 12, cookiesNotReturned: 0, differentPages: 12 }
  const ruled = (moved: Inspection, request = {}) =>
    decide(policy, moved, { mode: 'enforce', request, isDescribed: true })
  t.equal(ruled({ ...inspection, behaviour }).action, 'block')
  t.equal(ruled({ ...inspection, behaviour: { ...behaviour, pagesWithoutFiles: 9 } }).action, 'allow')
  t.equal(ruled(inspection).action, 'allow')
  t.same(ruled(inspection, { behaviour: 'unknown' }).unjudged, [{ rule: 'bare', words: ['behaviour'] }])
  const described = { pagesWithoutFiles: 12, differentPages: 5 }
  t.equal(ruled(inspection, { behaviour: described }).action, 'block', 'what a described request says')
  t.equal(ruled(inspection, { behaviour: { pagesWithoutFiles: 12 } }).action, 'allow')
})

t.test('more signs of behaviour never make a client likelier a person, and less support never does', async (t) => {
  const signs = BEHAVIOUR_SIGNS.length
  const against = BEHAVIOUR_SIGNS.reduce((bits, { weight }, place) => (weight > 0 ? bits | (1 << place) : bits), 0)
  for (let bits = 0; bits < 2 ** signs; bits++) {
    for (let place = 0; place < signs; place++) {
      const bit = 1 << place
      const worse = (against & bit) === 0 ? bits & ~bit : bits | bit
      if (weighBehaviour(worse) < weighBehaviour(bits)) t.fail(`${bits} and ${worse}`)
    }
  }
  t.pass(`${2 ** signs} sets`)
})

t.test('the limit of a group in which somebody held a pass challenges, and refuses nobody', async (t) => {
  const limit = { key: 'likeness', max: 1, window: '1m' } as const
  for (const action of ['throttle', 'block'] as const) {
    const rule = compilePolicy({ preset: 'observe', rules: [{ id: 'alike', match: {}, limit, action }] }).rules[0]
    const counted = rule?.counting?.rule as CountingRule
    const use = { rule: 'alike', action, onTrial: false, used: 1, max: 1, resetMs: 9, exceeded: true }
    const pages = { pages: 9, pagesWithoutFiles: 9, cookiesNotReturned: 0, differentPages: 9 }
    const moved = { ...pages, signs: [], likeness: '0f' }
    const decideAs = (behaviour: Inspection['behaviour']) => {
      const decision = { ...decideStill(makeRequest(FIELDS)), inspection: { ...inspectAt(HOME), behaviour } }
      return limited(decision, [use], [{ rule: counted }], false)
    }
    t.match(decideAs(moved), { action })
    t.match(decideAs({ ...moved, isMixed: true }), { action: 'challenge', enforced: true, challenge: { level: 2 } })
  }
})

t.test('header order, the HTTP/2 window and JA4 tell clients apart, and fields that come and go do not', async (t) => {
  const about = { ...ABOUT, target: '/', status: 200, contentType: 'text/html' }
  const order = (names: string, http2Window?: number, ja4?: string) => {
    const fields = names.split(' ').flatMap((name) => [name, '1'])
    return read({ ...about, fields, http2Window, ja4 }).wire
  }
  t.equal(order('Host Accept Cookie User-Agent'), order('accept user-agent referer'))
  t.not(order('accept user-agent'), order('user-agent accept'))
  t.not(order('accept user-agent'), order('accept user-agent dnt'))
  t.not(order('accept', 65_535), order('accept', 6_291_456))
  t.not(order('accept', 65_535, 't13d1516h2'), order('accept', 65_535, 't13d1517h2'))
  t.not(order('accept', undefined, 't13d1516h2'), order('accept', undefined, 't13d1715h2'))
  const isReferred = (referer: string) => read({ ...about, fields: [], referer }).isReferred
  for (const own of ['https://a.example/x', 'HTTPS://A.Example', 'http://a.example:8080/', 'http://a.example?a'])
    t.ok(isReferred(own), own)
  for (const other of ['https://a.example.org/', 'https://b.example/a.example', 'a.example', '', 'https://a.exampl'])
    t.notOk(isReferred(other), other)
})
