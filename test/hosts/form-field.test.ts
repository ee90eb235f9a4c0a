import type { ConfigInput } from '@sallyport/engine'
import { challenge } from '@sallyport/node'
import t, { type Test } from 'tap'
import { APPLICATIONS, DONE } from './applications.ts'
import { BROWSER, readCookie, readSolution, redeem, SECRET, type Visit, visit } from './challenge-client.ts'
import type { RunningHost } from './hosts.ts'
import { startProxyBefore } from './proxy.ts'
import { solutionTo } from './solution.ts'
import { openWithoutData } from './without-data.ts'

/* Each host serves a form with Sallyport's field at /contact: its token, and the way of a visitor without script. */
const FORM = { form: 'contact' }

const POLICY = { preset: 'observe', rules: [] } satisfies ConfigInput['policy']
const READ = { fields: [...BROWSER.slice(0, 2), 'Accept', '*/*', 'Sec-Fetch-Site', 'same-origin'] }

type Sender = Pick<RunningHost, 'port'>

async function earn(at: Sender, action = 'contact', visited: Visit = READ): Promise<string> {
  const answer = await visit(at, { ...visited, target: `/.sallyport/field?action=${action}` })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
  return solutionTo(JSON.parse(answer.body))
}

function post(at: Sender, token?: string, { more = [], ...visited }: Visit = {}) {
  const body = new URLSearchParams({ word: 'hello', ...(token !== undefined && { 'sallyport-token': token }) })
  const fields = ['Content-Type', 'application/x-www-form-urlencoded', ...more]
  return visit(at, { method: 'POST', target: '/contact', body: body.toString(), more: fields, ...visited })
}

for (const [name, start] of Object.entries(APPLICATIONS)) {
  t.test(`${name}: a form goes on with a token, once`, async (t) => {
    const at = await open(t, start)
    const token = await earn(at)
    t.match(await post(at, token), { status: 200, body: DONE })
    const again = await post(at, token)
    t.equal(again.status, 403)
    t.match(again.body, 'Your form was not sent.')
    t.match(await post(at, await earn(at, 'other')), { status: 403 }, 'the token of another form')
    const body = JSON.stringify({ word: 'hello', 'sallyport-token': await earn(at) })
    const fields = [...READ.fields, 'Content-Type', 'application/json']
    const sent = await visit(at, { method: 'POST', target: '/contact', fields, body })
    t.match(sent, { status: 200, body: DONE }, 'from a script')
  })

  t.test(`${name}: a form without a token gets a page that earns a pass, for three forms`, async (t) => {
    const at = await open(t, start)
    const page = await post(at)
    t.match(page.body, 'Your form was not sent.')
    t.match(page.body, 'data-puzzles="32"')
    const cookie = readCookie(await redeem(at, readSolution(page)))
    for (const count of [1, 2, 3])
      t.match(await post(at, undefined, { cookie }), { status: 200, body: DONE }, `${count}`)
    t.match(await post(at, undefined, { cookie }), { status: 403 }, 'the pass is used up')
    t.match(await post(at, await earn(at), { cookie }), { status: 200 }, 'and a token goes on beside it')
  })
}

type Start = (typeof APPLICATIONS)[string]

async function open(t: Test, start: Start, config: Partial<ConfigInput> = {}): Promise<RunningHost> {
  const at = await start(await openWithoutData(t, { policy: POLICY, ...config }), '/contact', FORM)
  t.teardown(() => at.close())
  return at
}

const EXPRESS = APPLICATIONS['Express'] as Start

t.test('programs learn how to earn a pass', async (t) => {
  const at = await open(t, EXPRESS)
  const answer = await post(at, 'x', { fields: ['User-Agent', 'curl/8.9', 'Accept', '*/*'] })
  t.match(JSON.parse(answer.body), { error: 'challenge_required', details: { puzzles: 32, pass: '/.sallyport/pass' } })
})

t.test('monitor mode serves the field, and refuses nothing', async (t) => {
  const at = await open(t, EXPRESS, { mode: 'monitor' })
  t.match(await post(at), { status: 200, body: DONE })
  t.match(await post(at, await earn(at)), { status: 200, body: DONE })
  t.match(await visit(at, { ...READ, target: '/.sallyport/field.js' }), { status: 200 })
})

t.test('the script is small, kept for an hour, and works at the path of the configuration', async (t) => {
  const at = await open(t, EXPRESS, { challenge: { path: '/gate' } })
  const script = await visit(at, { ...READ, target: '/gate/field.js' })
  t.match(script, { status: 200, headers: { 'content-type': /javascript/, 'cache-control': /max-age=3600/ } })
  t.ok(Buffer.byteLength(script.body) < 5_000, `${Buffer.byteLength(script.body)} bytes`)
  t.match(script.body, '"/gate/field"')
  const etag = script.headers['etag'] as string
  t.match(await visit(at, { ...READ, target: '/gate/field.js', more: ['If-None-Match', etag] }), { status: 304 })
})

t.test('the work follows the verdict, and the answer is for nobody else', async (t) => {
  const at = await open(t, EXPRESS)
  const browser = await visit(at, { fields: FIREFOX, target: '/.sallyport/field?action=contact' })
  t.match(JSON.parse(browser.body), { level: 1, bits: 8, seconds: 300, text: String })
  t.match(browser.headers, { 'cache-control': 'no-store', 'x-robots-tag': 'noindex' })
  const program = await visit(at, { fields: ['User-Agent', 'curl/8.9'], target: '/.sallyport/field?action=contact' })
  t.match(JSON.parse(program.body), { level: 3, bits: 12 })
  for (const action of ['', 'a b', 'x'.repeat(65), '%00', 'é']) {
    const answer = await visit(at, { ...READ, target: `/.sallyport/field?action=${encodeURIComponent(action)}` })
    t.match([answer.status, JSON.parse(answer.body).error], [400, 'invalid_request'], JSON.stringify(action))
  }
})

t.test('a client has a share of puzzles', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const { challenges } = sallyport
  let left = 2
  const bounded = {
    ...challenges,
    admits: (client: Parameters<typeof challenges.admits>[0]) => left-- > 0 && challenges.admits(client),
  }
  const at = await EXPRESS(Object.create(sallyport, { challenges: { value: bounded } }), '/contact', FORM)
  t.teardown(() => at.close())
  const statuses: number[] = []
  for (let count = 0; count < 3; count++) {
    statuses.push((await visit(at, { ...READ, target: '/.sallyport/field?action=contact' })).status)
  }
  t.same(statuses, [200, 200, 429])
})

t.test('verifyField takes the requests of all hosts', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const at = await EXPRESS(sallyport, '/contact', FORM)
  t.teardown(() => at.close())
  const sender = { 'user-agent': BROWSER[1] as string, host: 'site.example' }
  const requests = [
    { headers: sender },
    { headers: { ...sender, host: undefined, ':authority': 'site.example' } },
    new Request('http://site.example/', { headers: sender }),
  ]
  for (const request of requests) {
    const token = await earn(at)
    t.match(await sallyport.verifyField(request, token, { action: 'contact' }), { ok: true, level: 2 })
    t.match(await sallyport.verifyField(request, token, { action: 'contact' }), { ok: false, reason: 'spent' })
  }
  t.match(await sallyport.verifyField({ headers: sender }, undefined), { ok: false, reason: 'missing' })
  const counted = await sallyport.metrics().metrics()
  t.match(counted, 'sallyport_form_tokens_total{form="contact",outcome="ok"} 3')
  t.match(counted, 'sallyport_form_tokens_total{form="form",outcome="missing"} 1')
  t.rejects(sallyport.verifyField({ headers: sender }, 'x', { action: 'a b' }), { code: 'invalid_config' })
  t.throws(() => challenge(sallyport, { form: 'a b' }), { code: 'invalid_config' })
})

t.test('an application verifies what the proxy in front of it issued, with its secret', async (t) => {
  const config = { policy: POLICY, challenge: { secret: SECRET } }
  const at = await startProxyBefore(t, await openWithoutData(t, config), (_, res) => res.end('origin'))
  const own = await openWithoutData(t, config)
  const headers = { 'user-agent': BROWSER[1] as string, host: 'site.example' }
  t.match(await own.verifyField({ headers }, await earn(at), { action: 'contact' }), { ok: true })
})

t.test('the test token is for tests', async (t) => {
  t.match(await post(await open(t, EXPRESS), 'sallyport-test'), { status: 403 })
  t.match(await post(await open(t, EXPRESS, { testing: true }), 'sallyport-test'), { status: 200 })
  const before = process.env['NODE_ENV']
  process.env['NODE_ENV'] = 'production'
  t.teardown(() => Object.assign(process.env, { NODE_ENV: before }))
  await t.rejects(openWithoutData(t, { testing: true }), { code: 'invalid_config', message: /NODE_ENV is production/ })
})

const FIREFOX = [
  ...['User-Agent', BROWSER[1] as string, 'Accept', '*/*', 'Accept-Language', 'en-GB,en;q=0.5'],
  ...['Accept-Encoding', 'gzip, deflate, br, zstd', 'Referer', 'http://site.example/', 'Connection', 'keep-alive'],
  ...['Sec-Fetch-Dest', 'empty', 'Sec-Fetch-Mode', 'cors', 'Sec-Fetch-Site', 'same-origin'],
]
