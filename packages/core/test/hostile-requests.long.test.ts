import t from 'tap'
import { compilePolicy, type InspectionRequest, type Match, type Rule } from '../src/index.ts'
import { agentInspector, makeRequest } from './agents.ts'

const many = <Made>(count: number, make: (at: number) => Made) => Array.from({ length: count }, (_, at) => make(at))
const joined = (count: number, make: (at: number) => string, by: string) => many(count, make).join(by)

const ask = (query: string) => makeRequest([], { target: `/?${query}` })

/** Requests of some size that cost the most, each as large as the factor says. */
const NASTY: Readonly<Record<string, (factor: number) => InspectionRequest>> = {
  'a user agent': (factor) => makeRequest(['User-Agent', 'z'.repeat(2_048 * factor)]),
  'a referer of every letter': (factor) =>
    makeRequest(['Referer', joined(400 * factor, (at) => `/${at.toString(36)}`, '')]),
  'cookies of one name': (factor) => makeRequest(['Cookie', joined(800 * factor, (at) => `theme=${at}`, '; ')]),
  'cookies of many names': (factor) => makeRequest(['Cookie', joined(800 * factor, (at) => `n${at}=1`, '; ')]),
  'parameters of one name': (factor) => ask(joined(1_250 * factor, (at) => `page=${at}`, '&')),
  'one parameter again and again': (factor) => ask('page=x&'.repeat(1_250 * factor)),
  'parameters of many names': (factor) => ask(joined(1_250 * factor, (at) => `n${at}=1`, '&')),
  languages: (factor) => makeRequest(['Accept-Language', joined(1_000 * factor, (at) => `x${at}`, ',')]),
  'lines of one header': (factor) => makeRequest(many(25 * factor, (at) => ['User-Agent', `bot${at}`]).flat()),
  'a deep path': (factor) => makeRequest([], { target: `/${'a/'.repeat(1_000 * factor)}` }),
  'a path of escapes': (factor) => makeRequest([], { target: `/${'%2f%61'.repeat(300 * factor)}` }),
}

/** Every word that reads what the client writes, with patterns that no engine makes light of and that match nothing. */
const WORDS: readonly Match[] = [
  { path: ['/admin*/**', '/*/*/*/x*'] },
  { userAgent: ['*zzzzzz*a', '/(z+)+$y/', '/^(a|b|z)*q$/'] },
  { referer: ['*9*8*7*z'] },
  { host: ['*.evil.example'] },
  { query: { page: ['*q*', '/^([0-9]+)+x$/'] } },
  { cookie: { theme: ['*q*', '/^([0-9]+)+x$/'] } },
  { headerValue: { 'user-agent': ['*bot*zz'] } },
  { contentType: ['multipart/*'] },
  { language: ['de', 'q*'] },
  { httpVersion: ['1.0'] },
  { ja4: ['program'] },
  { address: ['198.51.100.0/24'] },
  { share: 0.000001, method: ['PUT'] },
  { not: { query: { page: ['*'] } }, method: ['PUT'] },
  { header: { present: ['x-none'] } },
]

function decider(matches: readonly Match[]) {
  const rules: readonly Rule[] = matches.map((match, at) => ({ id: `r${at}`, match, action: 'block' }))
  return agentInspector({ policy: compilePolicy({ preset: 'observe', rules }) }).decide
}

/** Processor time of the best of some rounds: others on the machine only add to it. */
function best(work: () => unknown, times: number): number {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 7; round++) {
    const before = process.cpuUsage()
    for (let time = 0; time < times; time++) work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / times)
  }
  return least
}

t.test('a request four times as large costs no more than a line does, whatever it is made of', async (t) => {
  const decide = decider(WORDS)
  for (const [name, request] of Object.entries(NASTY)) {
    const [small, large] = [request(1), request(4)]
    t.equal(decide(large).action, 'allow', name)
    const ratio = best(() => decide(large), 10) / best(() => decide(small), 40)
    // A line is 4, a square 16.
    t.ok(ratio < 9, `${name}: ${ratio.toFixed(1)} times`)
  }
})

t.test('a rule costs a request of thousands of values little more than one value of that length', async (t) => {
  const of = (name: string, factor: number) => (NASTY[name] as (factor: number) => InspectionRequest)(factor)
  const long = 'z'.repeat(16_000)
  const page = makeRequest([], { target: `/?page=${long}` })
  const cookie = makeRequest(['Cookie', `theme=${long}`])
  const rows: readonly (readonly [match: (at: number) => Match, many: InspectionRequest, one: InspectionRequest])[] = [
    [(at) => ({ query: { page: [`*word${at}*`] } }), of('parameters of one name', 4), page],
    [(at) => ({ cookie: { theme: [`*word${at}*`] } }), of('cookies of one name', 4), cookie],
    [(at) => ({ language: [`*q${at}*`] }), of('languages', 4), makeRequest(['Accept-Language', long])],
  ]
  for (const [match, request, single] of rows) {
    const decide = decider(many(1_000, match))
    const ratio = best(() => decide(request), 2) / best(() => decide(single), 2)
    // Looking at each value alone costs a hundred times as much.
    t.ok(ratio < 40, `${JSON.stringify(match(1))}: ${ratio.toFixed(1)} times`)
  }
})

t.test('ten thousand rules are compiled and asked, and as many on trial', async (t) => {
  const words = (at: number): Match => ({ userAgent: [`*agent${at}*`], query: { [`n${at}`]: ['*x*'] } })
  const ratio = best(() => decider(many(10_000, words)), 1) / best(() => decider(many(1_000, words)), 1)
  t.ok(ratio < 30, `compiled in ${ratio.toFixed(1)} times what a thousand take`)
  const trials = (count: number) => {
    const trial = { match: { method: ['GET'] }, action: 'block', monitor: true } as const
    const rules = many(count, (at): Rule => ({ id: `t${at}`, ...trial }))
    return agentInspector({ policy: compilePolicy({ preset: 'observe', rules }) }).decide
  }
  const [few, lots] = [trials(1_000), trials(10_000)]
  const request = makeRequest([])
  t.equal(lots(request).trial?.rule, 't0')
  const asked = best(() => lots(request), 4) / best(() => few(request), 40)
  // A line is 10, a square 100.
  t.ok(asked < 40, `asked in ${asked.toFixed(1)} times what a thousand take`)
})

t.test('a cookie of 16 KB and 5,000 parameters are read to their end', async (t) => {
  const cookie = `${joined(2_000, (at) => `n${at}=1`, '; ')}; theme=bad`
  const target = `/?${joined(4_999, (at) => `page=${at}`, '&')}&page=bad`
  for (const [match, request] of [
    [{ cookie: { theme: ['*bad*'] } }, makeRequest(['Cookie', cookie])],
    [{ query: { page: ['*bad*'] } }, makeRequest([], { target })],
    [{ query: { page: ['*ad'] } }, makeRequest([], { target })],
  ] as const) {
    t.equal(decider([match])(request).action, 'block', `any for block: ${JSON.stringify(match)}`)
    const allow: Rule = { id: 'own', match: { ...match, address: ['8.0.0.0/8'] }, action: 'allow' }
    const policy = compilePolicy({ preset: 'observe', rules: [allow], default: 'block' })
    const isAlone = 'cookie' in match
    t.equal(agentInspector({ policy }).decide(request).action, isAlone ? 'allow' : 'block', 'all for allow')
  }
})
