import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { parseJa4 } from '../src/agent/ja4.ts'
import { createUserAgentReader } from '../src/agent/user-agent.ts'
import type { InspectionRequest } from '../src/values/request.ts'
import { agentInspector, CATALOGUE, HOME, makeRequest } from './agents.ts'

const SHARED = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../shared/data')
const skip = existsSync(SHARED) ? false : `no shared data at ${SHARED}`

const { decide, inspect } = agentInspector()

t.test("at least 99 in 100 of 2,118 crawlers' user agents are not taken for people", async (t) => {
  const rows: readonly { readonly instances: readonly string[] }[] = createRequire(import.meta.url)(
    'crawler-user-agents',
  )
  const texts = rows.flatMap(({ instances }) => instances)
  const missed = texts.filter(
    (text) => inspect(makeRequest(['Host', 'a.example', 'User-Agent', text])).agent.class === 'human',
  )
  t.ok(texts.length > 2000)
  t.ok(missed.length <= texts.length / 100, `${missed.length} of ${texts.length}`)
})

interface Capture {
  readonly proto: string
  readonly url: string
  readonly method: string
  readonly h: readonly (readonly [string, string])[]
}

function captures(): readonly Capture[] {
  const lines = readFileSync(join(SHARED, 'headers/captures.jsonl'), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Capture)
}

function requestFrom({ proto, method, url, h }: Capture): InspectionRequest {
  const [scheme = 'http', httpVersion = '1.1'] = proto.split(/[ -]/)
  const version = /\d\.\d/.exec(proto)?.[0] ?? httpVersion
  return makeRequest(h.flat(), {
    method,
    target: url,
    scheme: scheme === 'https' ? 'https' : 'http',
    httpVersion: version,
  })
}

function readName({ url }: Capture): string {
  return new URLSearchParams(url.split('?')[1]).get('t') ?? ''
}

t.test('no captured browser of a person gets worse than allow', { skip }, async (t) => {
  const people = captures().filter((capture) => /^(firefox|lynx|w3m)/.test(readName(capture)))
  t.ok(people.length >= 8)
  for (const capture of people) {
    const decision = decide(requestFrom(capture))
    t.match(
      decision,
      { action: 'allow', inspection: { agent: { class: 'human' } } },
      `${readName(capture)} ${capture.url}`,
    )
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

t.test('a captured Chromium that poses as another is contradicted twice', { skip }, async (t) => {
  const posing = captures().filter((capture) => readName(capture) === 'chnew-uaoverride')
  t.ok(posing.length >= 3)
  for (const capture of posing) {
    const { agent } = inspect(requestFrom(capture))
    t.match(agent, { class: 'unverified_bot', basis: 'contradiction' })
    t.ok(agent.confidence > 0.95)
  }
})

t.test('captured libraries and tools are programs', { skip }, async (t) => {
  const tools = captures().filter((capture) => /^(curl|wget|py|node)/.test(readName(capture)))
  t.ok(tools.length >= 6)
  for (const capture of tools) t.equal(inspect(requestFrom(capture)).agent.class, 'unverified_bot', readName(capture))
})

t.test('hardly one of 4,000 browsers with ordinary headers gets worse than allow', { skip }, async (t) => {
  const texts = gunzipSync(readFileSync(join(SHARED, 'user-agents/browsers.txt.gz')))
    .toString()
    .trim()
    .split('\n')
  const ordinary = ['Accept', 'text/html,*/*;q=0.8', 'Accept-Language', 'en', 'Accept-Encoding', 'gzip, deflate']
  const actions = texts.map(
    (text) =>
      decide(makeRequest(['Host', 'a.example', 'User-Agent', text, ...ordinary], { scheme: 'http', peer: HOME }))
        .action,
  )
  const worseThanFlag = actions.filter((action) => action === 'block').length
  const worseThanAllow = actions.filter((action) => action !== 'allow').length
  t.ok(worseThanFlag <= texts.length / 1000, `block: ${worseThanFlag} of ${texts.length}`)
  t.ok(worseThanAllow <= texts.length / 100, `flag or block: ${worseThanAllow} of ${texts.length}`)
  const accused = texts.filter(
    (text) =>
      inspect(makeRequest(['Host', 'a', 'User-Agent', text, ...ordinary], { scheme: 'http' })).agent.class !== 'human',
  )
  t.ok(accused.length <= texts.length / 1000, `not human: ${accused.length} of ${texts.length}`)
})

t.test('and of other lists of crawlers hardly more are taken for people', { skip }, async (t) => {
  const rows = (name: string): readonly { readonly instances: unknown }[] =>
    JSON.parse(gunzipSync(readFileSync(join(SHARED, 'crawlers', name))).toString())
  const lists = { 'crawlerdex.json.gz': 0.026, 'well-known-bots.json.gz': 0.005 }
  for (const [name, share] of Object.entries(lists)) {
    // One has them in a list, the other in lists of those that its patterns take and refuse.
    const texts = rows(name)
      .map(({ instances }) => (Array.isArray(instances) ? instances : Object(instances).accepted))
      .flatMap((list: readonly string[] | undefined) => list ?? [])
    const missed = texts.filter(
      (text) => inspect(makeRequest(['Host', 'a.example', 'User-Agent', text])).agent.class === 'human',
    )
    t.ok(texts.length > 1000, name)
    t.ok(missed.length <= texts.length * share, `${name}: ${missed.length} of ${texts.length}`)
  }
})

t.test('no JA4 of a browser seen in the wild is a program’s', { skip }, async (t) => {
  const users = createUserAgentReader(CATALOGUE)
  const hellos = JSON.parse(readFileSync(join(SHARED, 'ja4/client-hellos.json'), 'utf8')) as readonly { ja4: string }[]
  t.ok(hellos.filter(({ ja4 }) => parseJa4(ja4)?.family === 'chromium').length >= 5)
  for (const line of readFileSync(join(SHARED, 'ja4/ja4-user-agents.csv'), 'utf8').trim().split('\n').slice(1)) {
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
