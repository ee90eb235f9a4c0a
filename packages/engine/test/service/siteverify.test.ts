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
const PACKED = { 'content-encoding': 'gzip' }

function of(url: string | undefined, kind: ProviderConfig['kind'] = 'turnstile') {
  const faults: string[] = []
  const config: ProviderConfig = { kind, url, siteKey: 'public', secret: SECRET }
  const fetch = createFetch({ dns: createFakeDns({}), allowPrivate: ['127.0.0.0/8'] })
  return { provider: createSiteverify(config, fetch, (error) => faults.push(String(error))), faults }
}

/** A server that answers so; returns what it was sent. */
async function siteverify(t: Test, answer: (response: ServerResponse) => unknown) {
  const sent: { readonly form: URLSearchParams; readonly request: IncomingMessage }[] = []
  const server = await openWebServer(t, async (request, response) => {
    const form = new URLSearchParams(await text(request))
    sent.push({ form, request })
    answer(response)
  })
  return { url: server.origin, sent, idle: server.idle }
}

const json = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

t.test('the form has the secret and the token, and never the address', async (t) => {
  const server = await siteverify(t, (response) => json(response, { success: true, hostname: 'shop.example' }))
  const { provider, faults } = of(server.url)
  t.equal(await provider.verify('a+b&c=d', '203.0.113.7'), 'right')
  const [sent] = server.sent
  t.equal(sent?.request.url, '/turnstile/v0/siteverify')
  t.equal(String(sent?.form), String(new URLSearchParams({ secret: SECRET, response: 'a+b&c=d' })))
  t.match([sent?.request.method, sent?.request.headers['content-type']], ['POST', 'application/x-www-form-urlencoded'])
  t.notMatch(JSON.stringify(sent?.request.rawHeaders), '203.0.113.7')
  t.same(faults, [])
  await server.idle()
})

const no = (...codes: readonly string[]) => ({ success: false, 'error-codes': codes })
const huge = (size: number) => JSON.stringify({ success: true, more: 'x'.repeat(size) })

/** Answers, and what they say of a token. */
const ANSWERS: readonly (readonly [string, (to: ServerResponse) => unknown, 'wrong' | 'unanswered'])[] = [
  ['a token that is none', (to) => json(to, no('invalid-input-response')), 'wrong'],
  ['a token that was taken', (to) => json(to, no('timeout-or-duplicate')), 'wrong'],
  ['a no with a status, as Cap says it', (to) => json(to, { success: false, error: 'Token not found' }, 404), 'wrong'],
  ['a no without words', (to) => json(to, { success: false }), 'wrong'],
  ['our secret is wrong', (to) => json(to, no('invalid-input-secret')), 'unanswered'],
  ['our key is wrong', (to) => json(to, { success: false, error: 'Invalid site key or secret' }, 403), 'unanswered'],
  ['a fault of its own', (to) => json(to, no('internal-error')), 'unanswered'],
  ['a yes with a status of 500', (to) => json(to, { success: true }, 500), 'unanswered'],
  ['a limit', (to) => json(to, { success: false }, 429), 'unanswered'],
  ['a yes that is a word', (to) => json(to, { success: 'true' }), 'unanswered'],
  ['a yes in a list', (to) => json(to, [{ success: true }]), 'unanswered'],
  ['null', (to) => json(to, null), 'unanswered'],
  ['a page', (to) => to.end('<html>success: true</html>'), 'unanswered'],
  ['half of it', (to) => to.writeHead(200, { 'content-length': '90' }).write('{', () => to.destroy()), 'unanswered'],
  ['a redirect', (to) => to.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'unanswered'],
  ['a huge answer', (to) => to.end(huge(100_000)), 'unanswered'],
  ['one that is huge when it is unpacked', (to) => to.writeHead(200, PACKED).end(gzipSync(huge(1e7))), 'unanswered'],
]

t.test('a token is right, wrong, or not answered, which is a fault without the secret', async (t) => {
  for (const [name, answer, expected] of ANSWERS) {
    const server = await siteverify(t, answer)
    const { provider, faults } = of(server.url)
    t.equal(await provider.verify('token', '203.0.113.7'), expected, name)
    t.equal(faults.length, expected === 'wrong' ? 0 : 1)
    for (const fault of faults) t.match(fault, /^Error: challenge\.provider: Turnstile did not answer: \S/, name)
    t.notMatch(faults.join(), SECRET)
    t.equal(server.sent.length, 1)
  }
})

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

t.test('each kind has its widget and its server, or a server of yours', async (t) => {
  for (const [kind, script, field] of [
    ['turnstile', 'https://challenges.cloudflare.com/turnstile/v0/api.js', 'cf-turnstile-response'],
    ['hcaptcha', 'https://js.hcaptcha.com/1/api.js', 'h-captcha-response'],
    ['recaptcha', 'https://www.google.com/recaptcha/api.js', 'g-recaptcha-response'],
  ] as const) {
    const attributes = { class: field.replace('-response', ''), 'data-sitekey': 'public' }
    t.match(of(undefined, kind).provider.widget, { script, field, element: 'div', attributes }, kind)
  }
  t.match(of('https://www.recaptcha.net/', 'recaptcha').provider.widget, {
    script: 'https://www.recaptcha.net/recaptcha/api.js',
  })
  const server = await siteverify(t, (response) => json(response, { success: true }))
  const { provider } = of(server.url, 'cap')
  t.strictSame(provider.widget, {
    name: 'Cap',
    script: `${server.url}/assets/widget.js`,
    origins: [],
    element: 'cap-widget',
    attributes: { 'data-cap-api-endpoint': `${server.url}/public/` },
    field: 'cap-token',
  })
  t.equal(await provider.verify('token', '203.0.113.7'), 'right')
  t.equal(server.sent[0]?.request.url, '/public/siteverify')
})

t.test('a configuration names the kind and the keys', async (t) => {
  const provider = { kind: 'turnstile', siteKey: '1x00000000000000000000AA', secret: 'secret' } as const
  const read = (flags: object) => readConfigFrom({ flags: { challenge: { provider: { ...provider, ...flags } } } })
  t.match(read({}).config.challenge.provider, provider)
  const bad: readonly (readonly [object, string])[] = [
    [{ kind: 'altcha' }, 'kind'],
    [{ kind: 'cap' }, 'url: is missing'],
    [{ url: 'javascript:alert(1)' }, 'url'],
    [{ siteKey: '"><script>' }, 'siteKey'],
    [{ secret: '' }, 'secret'],
    [{ verify: 'https://a.example/siteverify' }, 'verify" was removed'],
  ]
  for (const [flags, key] of bad) t.throws(() => read(flags), { message: new RegExp(`provider\\.${key}`) }, key)
})
