import samples from 'crawler-user-agents'
import t from 'tap'
import { parseJa4 } from '../src/agent/ja4.ts'
import { createUserAgentReader } from '../src/agent/user-agent.ts'
import type { InspectionRequest } from '../src/values/request.ts'
import { agentInspector, CATALOGUE, makeRequest } from './agents.ts'
import { readShared, skipWithout } from './support.ts'

const skip = skipWithout('headers')

const { decide, inspect } = agentInspector()
const takenForPeople = (texts: readonly string[], more: readonly string[] = [], scheme: 'http' | 'https' = 'https') =>
  texts.filter((text) => {
    const request = makeRequest(['Host', 'a.example', 'User-Agent', text, ...more], { scheme })
    return inspect(request).agent.class === 'human'
  })

interface Capture {
  readonly proto: string
  readonly url: string
  readonly method: string
  readonly h: readonly (readonly [string, string])[]
}

function captures(): readonly Capture[] {
  const lines = readShared('headers/captures.jsonl').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Capture)
}

function requestFrom({ proto, method, url, h }: Capture): InspectionRequest {
  const [scheme = 'http', httpVersion = '1.1'] = proto.split(/[ -]/)
  const version = /\d\.\d/.exec(proto)?.[0] ?? httpVersion
  const via = scheme === 'https' ? 'https' : 'http'
  return makeRequest(h.flat(), { method, target: url, scheme: via, httpVersion: version })
}

function readName({ url }: Capture): string {
  return new URLSearchParams(url.split('?')[1]).get('t') ?? ''
}

t.test('captured browsers are people’s; programs and a Chromium that poses are not', { skip }, async (t) => {
  const isBot = { class: 'unverified_bot' }
  for (const [name, least, found] of [
    [/^(firefox|lynx|w3m)/, 8, { action: 'allow', inspection: { agent: { class: 'human' } } }],
    [/^chnew-uaoverride$/, 3, { inspection: { agent: { ...isBot, basis: 'contradiction' } } }],
    [/^(curl|wget|py|node)/, 6, { inspection: { agent: isBot } }],
  ] as const) {
    const named = captures().filter((capture) => name.test(readName(capture)))
    t.ok(named.length >= least, String(name))
    for (const capture of named) {
      const decision = decide(requestFrom(capture))
      t.match(decision, found, `${readName(capture)} ${capture.url}`)
      // A program that poses as a browser is contradicted twice.
      t.ok(least !== 3 || decision.inspection.agent.confidence > 0.95)
    }
  }
})

t.test('a captured Chromium that does not say it is headless is a person’s', { skip }, async (t) => {
  const shown = captures().filter((capture) => /^(chnew|chold)-http/.test(readName(capture)))
  t.ok(shown.length >= 12)
  for (const capture of shown) {
    const h = capture.h.map(([name, value]) => [name, value.replace('HeadlessChrome', 'Chrome')] as const)
    const { agent } = inspect(requestFrom({ ...capture, h }))
    t.match(agent, { class: 'human', basis: 'none', headerConsistency: 1 }, `${readName(capture)} ${capture.url}`)
    t.match(inspect(requestFrom(capture)).agent, { class: 'unverified_bot', headless: true })
  }
})

t.test('hardly one of 4,000 browsers with ordinary headers gets worse than allow', { skip }, async (t) => {
  const texts = readShared('user-agents/browsers.txt.gz').trim().split('\n')
  const ordinary = ['Accept', 'text/html,*/*;q=0.8', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate']
  const actions = texts.map((text) => {
    return decide(makeRequest(['Host', 'a.example', 'User-Agent', text, ...ordinary], { scheme: 'http' })).action
  })
  const worseThanFlag = actions.filter((action) => action === 'block').length
  const worseThanAllow = actions.filter((action) => action !== 'allow').length
  t.ok(worseThanFlag <= texts.length / 1000, `block: ${worseThanFlag} of ${texts.length}`)
  t.ok(worseThanAllow <= texts.length / 100, `flag or block: ${worseThanAllow} of ${texts.length}`)
  const accused = texts.length - takenForPeople(texts, ordinary, 'http').length
  t.ok(accused <= texts.length / 1000, `not human: ${accused} of ${texts.length}`)
})

t.test('of 2,118 crawlers’ user agents hardly any is taken for a person’s', async (t) => {
  const missed = takenForPeople(samples.flatMap(({ instances }) => instances))
  t.ok(missed.length <= 21, `${missed.length} of 2,118`)
})

t.test('and of other lists of crawlers hardly more', { skip }, async (t) => {
  const rows = (name: string): readonly { readonly instances: unknown }[] => JSON.parse(readShared(`crawlers/${name}`))
  const lists = { 'crawlerdex.json.gz': 0.026, 'well-known-bots.json.gz': 0.005 }
  for (const [name, share] of Object.entries(lists)) {
    // One has them in a list, the other in lists of those that its patterns take and refuse.
    const texts = rows(name)
      .map(({ instances }) => (Array.isArray(instances) ? instances : Object(instances).accepted))
      .flatMap((list: readonly string[] | undefined) => list ?? [])
    const missed = takenForPeople(texts)
    t.ok(texts.length > 1000, name)
    t.ok(missed.length <= texts.length * share, `${name}: ${missed.length} of ${texts.length}`)
  }
})

t.test('no JA4 of a browser seen in the wild is a program’s', { skip }, async (t) => {
  const users = createUserAgentReader(CATALOGUE)
  const hellos = JSON.parse(readShared('ja4/client-hellos.json')) as readonly { ja4: string }[]
  t.ok(hellos.filter(({ ja4 }) => parseJa4(ja4)?.family === 'chromium').length >= 5)
  for (const line of readShared('ja4/ja4-user-agents.csv').trim().split('\n').slice(1)) {
    const [ja4 = '', texts = ''] = line.split(',')
    const family = parseJa4(ja4)?.family
    if (family === undefined || family === 'program') continue
    const named = texts
      .split('|')
      .map((text) => users.read(text.replace('Mozilla5.0', 'Mozilla/5.0 ').replace(/(Firefox|Chrome)(\d)/, '$1/$2')))
    t.ok(
      named.some((agent) => agent?.automation === undefined),
      `${ja4} is only of programs: ${texts.slice(0, 80)}`,
    )
  }
})
