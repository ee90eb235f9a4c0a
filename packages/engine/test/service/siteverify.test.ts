import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { createFakeDns } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createFetch } from '#net'
import { readConfigFrom } from '../../src/open/index.ts'
import { createSiteverify, type ProviderConfig } from '../../src/service/challenge/siteverify.ts'
import { openTcpServer, openWebServer } from '../net/web-server.ts'

const SECRET = 's3cret & more'

function of(verify: string, more: Partial<ProviderConfig> = {}) {
  const faults: string[] = []
  const config: ProviderConfig = {
    name: 'Widgets',
    script: 'https://widgets.example/api.js',
    origins: ['https://*.widgets.example'],
    element: 'div',
    attributes: { class: 'widget' },
    siteKey: 'public',
    field: 'widget-response',
    verify,
    secret: SECRET,
    sendAddress: false,
    ...more,
  }
  const fetch = createFetch({ dns: createFakeDns({}), allowPrivate: ['127.0.0.0/8'] })
  return { provider: createSiteverify(config, fetch, (error) => faults.push(String(error))), faults }
}

/** A server that answers each token as its name says; returns what it was sent. */
async function siteverify(t: Test, answer: (token: string, response: ServerResponse) => void) {
  const sent: { readonly form: URLSearchParams; readonly request: IncomingMessage }[] = []
  const server = await openWebServer(t, async (request, response) => {
    const form = new URLSearchParams(await text(request))
    sent.push({ form, request })
    answer(form.get('response') ?? '', response)
  })
  return { url: `${server.origin}/siteverify`, sent, idle: server.idle }
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

t.test('the form has the secret and the token, and the address only where that is configured', async (t) => {
  const server = await siteverify(t, (_, response) => json(response, { success: true, hostname: 'shop.example' }))
  const { provider, faults } = of(server.url)
  t.match(provider.widget, {
    name: 'Widgets',
    attributes: { class: 'widget', 'data-sitekey': 'public' },
    field: 'widget-response',
  })
  t.equal(await provider.verify('a+b&c=d', '203.0.113.7'), 'right')
  t.equal(await of(server.url, { sendAddress: true }).provider.verify('x', '203.0.113.7'), 'right')
  const [without, having] = server.sent
  t.same(
    [...(without?.form ?? [])],
    [
      ['secret', SECRET],
      ['response', 'a+b&c=d'],
    ],
  )
  t.match(
    [without?.request.method, without?.request.headers['content-type']],
    ['POST', 'application/x-www-form-urlencoded'],
  )
  t.notMatch(JSON.stringify(without?.request.rawHeaders), '203.0.113.7')
  t.equal(having?.form.get('remoteip'), '203.0.113.7')
  t.same(faults, [])
  await server.idle()
})

/** Answers, and what they say of a token. */
const ANSWERS: readonly (readonly [string, (response: ServerResponse) => void, 'right' | 'wrong' | 'unanswered'])[] = [
  ['a token that is none', (to) => json(to, { success: false, 'error-codes': ['invalid-input-response'] }), 'wrong'],
  ['a token that was taken', (to) => json(to, { success: false, 'error-codes': ['timeout-or-duplicate'] }), 'wrong'],
  ['a no with a status, as Cap says it', (to) => json(to, { success: false, error: 'Token not found' }, 404), 'wrong'],
  ['a no without words', (to) => json(to, { success: false }), 'wrong'],
  ['our secret is wrong', (to) => json(to, { success: false, 'error-codes': ['invalid-input-secret'] }), 'unanswered'],
  [
    'our key is wrong, as Cap says it',
    (to) => json(to, { success: false, error: 'Invalid site key or secret' }, 403),
    'unanswered',
  ],
  ['a fault of its own', (to) => json(to, { success: false, 'error-codes': ['internal-error'] }), 'unanswered'],
  ['a yes with a status of 500', (to) => json(to, { success: true }, 500), 'unanswered'],
  ['a limit', (to) => json(to, { success: false }, 429), 'unanswered'],
  ['a yes that is a word', (to) => json(to, { success: 'true' }), 'unanswered'],
  ['a yes in a list', (to) => json(to, [{ success: true }]), 'unanswered'],
  ['null', (to) => json(to, null), 'unanswered'],
  ['a page', (to) => to.end('<html>success: true</html>'), 'unanswered'],
  ['nothing', (to) => to.end(), 'unanswered'],
  [
    'half of it',
    (to) => to.writeHead(200, { 'content-length': '90' }).write('{"success":true') && to.destroy(),
    'unanswered',
  ],
  ['a redirect', (to) => to.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'unanswered'],
  ['a huge answer', (to) => to.end(JSON.stringify({ success: true, more: 'x'.repeat(100_000) })), 'unanswered'],
  [
    'one that is huge when it is unpacked',
    (to) =>
      to
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify({ success: true, more: 'x'.repeat(1e7) }))),
    'unanswered',
  ],
]

for (const [name, answer, expected] of ANSWERS) {
  t.test(`${name}: ${expected}`, async (t) => {
    const server = await siteverify(t, (_, response) => answer(response))
    const { provider, faults } = of(server.url)
    t.equal(await provider.verify('token', '203.0.113.7'), expected)
    t.equal(faults.length, expected === 'unanswered' ? 1 : 0)
    if (faults.length > 0) t.match(faults[0], /^Error: challenge\.provider: Widgets did not answer: \S/)
    t.notMatch(faults.join(), SECRET)
    t.equal(server.sent.length, 1)
  })
}

t.test('a server that takes the question and says nothing, one that is closed, and one inside', async (t) => {
  const port = await openTcpServer(t, (socket) => socket.resume())
  const silent = of(`http://127.0.0.1:${port}/`)
  t.equal(await silent.provider.verify('token', '203.0.113.7'), 'unanswered')
  t.equal(silent.faults.length, 1)
  t.equal(await of('http://127.0.0.1:1/').provider.verify('token', '203.0.113.7'), 'unanswered')
  const inside = of('https://10.0.0.1/')
  t.equal(await inside.provider.verify('token', '203.0.113.7'), 'unanswered')
  t.match(inside.faults, [/10\.0\.0\.1 is not a public address/])
})

t.test('a configuration names all of it', (t) => {
  const provider = {
    name: 'Turnstile',
    script: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
    attributes: { class: 'cf-turnstile' },
    siteKey: '1x00000000000000000000AA',
    field: 'cf-turnstile-response',
    verify: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    secret: '1x0000000000000000000000000000000AA',
  }
  const read = (flags: object) => readConfigFrom({ flags: { challenge: { provider: { ...provider, ...flags } } } })
  t.match(read({}).config.challenge.provider, { element: 'div', origins: [], sendAddress: false })
  const bad: readonly (readonly [object, string])[] = [
    [{ script: 'javascript:alert(1)' }, 'script'],
    [{ origins: ["https://a.example; script-src 'unsafe-inline'"] }, 'origins.0'],
    [{ origins: ['*'] }, 'origins.0'],
    [{ attributes: { onclick: 'x' } }, 'attributes.onclick'],
    [{ attributes: { 'a b': 'x' } }, 'attributes.a b'],
    [{ element: 'div onclick=x' }, 'element'],
    [{ secret: '' }, 'secret'],
  ]
  for (const [flags, key] of bad) t.throws(() => read(flags), { message: new RegExp(`provider\\.${key}`) }, key)
  t.end()
})
