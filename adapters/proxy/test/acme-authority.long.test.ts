import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ServiceEvent } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { BOUNDS, describeFault } from '../src/acme/authority.ts'
import { createRenewals, keepCertificate } from '../src/acme/renewal.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { until } from './wire.ts'

/* Authorities that lie, wait, and never come to an end: each is one sentence, and a second look later. */

/** An authority sends this answer at a path: JSON with a status and fields, or any bytes. */
type Answer =
  | {
      readonly status?: number | undefined
      readonly fields?: Readonly<Record<string, string>> | undefined
      readonly json?: unknown
    }
  | ((response: ServerResponse, request: IncomingMessage) => void)

type Answers = Readonly<Record<string, (base: string) => Answer>>

/** The answers of a good one, until the certificate is downloaded. */
const GOOD: Answers = {
  '/dir': (base) => ({
    json: { newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` },
  }),
  '/nonce': () => ({}),
  '/account': (base) => ({ status: 201, fields: { location: `${base}/account/1` }, json: { status: 'valid' } }),
  '/account/1': () => ({ json: { status: 'valid' } }),
  '/order': (base) => ({
    status: 201,
    fields: { location: `${base}/order/1` },
    json: { status: 'pending', authorizations: [`${base}/authz`], finalize: `${base}/finalize` },
  }),
  '/order/1': (base) => ({
    json: {
      status: 'valid',
      authorizations: [`${base}/authz`],
      finalize: `${base}/finalize`,
      certificate: `${base}/certificate`,
    },
  }),
  '/authz': () => ({ json: { status: 'valid', identifier: { type: 'dns', value: 'site.example' }, challenges: [] } }),
}

async function openAuthority(t: Test, others: Answers) {
  const answers = { ...GOOD, ...others }
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    request.resume()
    const answer = answers[request.url ?? '']?.(`http://${request.headers.host}`) ?? { status: 404 }
    if (typeof answer === 'function') return answer(response, request)
    response.writeHead(answer.status ?? 200, { 'replay-nonce': `n${asked}`, ...answer.fields })
    response.end(answer.json === undefined ? undefined : JSON.stringify(answer.json))
  })
  return { directory: `http://127.0.0.1:${await listening(t, server)}/dir`, asked: () => asked }
}

/** The first sentence about a certificate that is ordered of an authority, and the folder. */
async function sentenceFrom(t: Test, others: Answers, bounds = BOUNDS) {
  const { directory, asked } = await openAuthority(t, others)
  const folder = join(certificateFolder(t), 'acme')
  const notices: string[] = []
  const options = { domains: ['site.example'], email: 'ops@site.example', directory }
  const renewal = keepCertificate(folder, options, { onNotice: (line) => void notices.push(line) }, bounds)
  t.teardown(renewal.close)
  await until(() => notices.length > 0)
  return { sentence: notices[0] ?? '', folder, asked, renewal }
}

const text =
  (body: string): Answer =>
  (response) =>
    void response.setHeader('replay-nonce', 'n').end(body)
const QUICK = { ...BOUNDS, answerMs: 300 }
/** Those whose answer does not come: each takes the time that an answer has. */
const LATE = ['is silent', 'stops in its answer', 'drips', 'never names the certificate']

const pending = (token: string): Answer => ({
  json: {
    status: 'pending',
    identifier: { type: 'dns', value: 'site.example' },
    challenges: [{ type: 'http-01', token, url: 'http://127.0.0.1:1/' }],
  },
})

const HOSTILE: readonly (readonly [string, Answers, RegExp])[] = [
  ['is silent', { '/dir': () => () => {} }, /did not respond within 0\.3 s/],
  [
    'stops in its answer',
    { '/dir': () => (response) => void response.write('{"newNonce":') },
    /did not respond within/,
  ],
  [
    'drips',
    {
      '/dir': () => (response) => {
        const drip = setInterval(() => response.write(' '), 50)
        response.once('close', () => clearInterval(drip))
      },
    },
    /did not respond within/,
  ],
  [
    'has no end',
    {
      '/dir': () => (response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536))) {}
        }
        response.on('drain', more)
        more()
      },
    },
    /larger than 1048576 bytes/,
  ],
  ['hangs up', { '/dir': () => (response) => void response.destroy() }, /cannot be reached/],
  ['is a page', { '/dir': () => text('<html>') }, /not one of an ACME server: "<html>"/],
  ['is nothing', { '/dir': () => ({}) }, /is not an ACME directory: it has no newNonce, newAccount, newOrder/],
  ['is null', { '/dir': () => text('null') }, /not one of an ACME server: null/],
  ['is a number', { '/dir': () => text('7') }, /not one of an ACME server: 7/],
  ['is a list', { '/dir': () => text('[]') }, /not one of an ACME server/],
  ['names no order', { '/dir': (base) => ({ json: { newNonce: base, newAccount: base } }) }, /has no newOrder/],
  [
    'names what is no URL',
    { '/dir': () => ({ json: { newNonce: {}, newAccount: 1, newOrder: '/x' } }) },
    /has no newNonce/,
  ],
  [
    'names files',
    { '/dir': () => ({ json: { newNonce: 'file:///etc', newAccount: 'file:///a', newOrder: 'file:///' } }) },
    /a URL that is not valid/,
  ],
  ['redirects', { '/dir': (base) => ({ status: 302, fields: { location: `${base}/dir` } }) }, /redirects \(302\)/],
  ['gives no nonce', { '/nonce': () => (response) => void response.end() }, /nonce/],
  ['names no account', { '/account': () => ({ json: { status: 'valid' } }) }, /sent no account URL/],
  [
    'sends an account elsewhere',
    { '/account': (base) => ({ status: 307, fields: { location: base } }) },
    /redirects \(307\)/,
  ],
  [
    'always wants another nonce',
    { '/account': () => ({ status: 400, json: { type: 'urn:ietf:params:acme:error:badNonce', detail: 'no' } }) },
    /rejected the request \(400 badNonce\): no;/,
  ],
  [
    'has an order of nothing',
    { '/order': (base) => ({ status: 201, fields: { location: `${base}/order/1` }, json: {} }) },
    /an order without authorizations/,
  ],
  [
    'has an order of text',
    { '/order': (base) => ({ status: 201, fields: { location: `${base}/order/1` }, json: 'yes' }) },
    /not one of an ACME server: "yes"/,
  ],
  [
    'offers no challenge',
    { '/authz': () => ({ json: { status: 'pending' } }) },
    /offers no http-01 challenge for a name/,
  ],
  ['has a challenge that is no name of a file', { '/authz': () => pending('../../escaped') }, /no token or no URL/],
  [
    'says why it does not believe',
    {
      '/authz': () => ({
        json: {
          status: 'invalid',
          identifier: { value: 'site.example' },
          challenges: [
            { type: 'http-01', token: 'a', url: 'http://127.0.0.1:1/', error: { detail: 'no\u001b[31m\nA' } },
          ],
        },
      }),
    },
    /site\.example is not authorized: no \[31m A/,
  ],
  ['issues a page', { '/certificate': () => text('<html>') }, /not one of an ACME server/],
  [
    'issues what is no certificate',
    { '/certificate': () => text('-----BEGIN CERTIFICATE-----\nx') },
    /from the CA cannot be read/,
  ],
  [
    'never names the certificate',
    { '/order/1': (base) => ({ json: { status: 'valid', authorizations: [base], finalize: base } }) },
    /./,
  ],
  [
    'fails the order',
    {
      '/order/1': (base) => ({
        json: { status: 'invalid', authorizations: [base], finalize: base, error: { detail: 'CAA' } },
      }),
    },
    /the order failed: CAA/,
  ],
  ['is busy', { '/order': () => ({ status: 503 }) }, /the CA rejected the request \(503\)/],
]

t.test('each of many authorities that lie or wait is one sentence', async (t) => {
  for (const [what, others, expected] of HOSTILE) {
    const { sentence, folder, asked, renewal } = await sentenceFrom(t, others, LATE.includes(what) ? QUICK : BOUNDS)
    t.match(sentence, /^tls\.acme: no certificate for site\.example: .+; next attempt in 10 min$/, what)
    t.match(sentence, expected, what)
    t.notMatch(sentence, /undefined|Cannot read|\p{Cc}/u, what)
    t.ok(asked() < 40, `${what}: ${asked()} requests`)
    t.notOk(existsSync(join(folder, 'certificate.pem')), what)
    await renewal.close()
  }
})

t.test('a certificate for another key, or for other names, is not taken', { skip: NO_OPENSSL }, async (t) => {
  const other = readFileSync(makeCertificate(certificateFolder(t), ['site.example']).cert, 'utf8')
  const { sentence, folder } = await sentenceFrom(t, { '/certificate': () => text(other) })
  t.match(sentence, /the certificate from the CA does not match its key/)
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('certificate')),
    [],
  )
})

t.test('an authority that says when to come again is not asked before', async (t) => {
  const type = 'urn:ietf:params:acme:error:rateLimited'
  const { sentence } = await sentenceFrom(t, {
    '/order': () => ({
      status: 429,
      fields: { 'retry-after': '7200' },
      json: { type, detail: 'too many\u0007 orders' },
    }),
  })
  t.equal(
    sentence,
    'tls.acme: no certificate for site.example: the CA rejected the request (429 rateLimited): too many  orders; next attempt in 120 min',
  )
})

t.test('a renewal that is closed leaves nothing behind, whatever its authority does', async (t) => {
  const { directory, asked } = await openAuthority(t, { '/dir': () => () => {} })
  const folder = join(certificateFolder(t), 'acme')
  const notices: string[] = []
  const options = { domains: ['site.example'], email: 'ops@site.example', directory }
  const renewal = keepCertificate(folder, options, { onNotice: (line) => void notices.push(line) })
  await until(() => asked() === 1)
  await renewal.close()
  t.same(notices, [])
})

t.test('a process orders where it is asked to, of whom a reload names, and not once it closes', async (t) => {
  const [one, other] = [await openAuthority(t, {}), await openAuthority(t, {})]
  const notices: string[] = []
  const acme = (directory: string) => ({
    domains: ['site.example'],
    email: 'ops@site.example',
    directory,
    folder: join(certificateFolder(t), 'acme'),
    orders: false,
  })
  const told: ServiceEvent[] = []
  const hooks = {
    onNotice: (line: string) => void notices.push(line),
    raise: (event: ServiceEvent) => void told.push(event),
  }
  const renewals = createRenewals(hooks, acme(one.directory))
  renewals.keep(acme(one.directory))
  t.equal(one.asked(), 0)
  renewals.order()
  await until(() => notices.length === 1)
  t.ok(one.asked() > 0)
  renewals.keep(acme(other.directory))
  await until(() => notices.length === 2)
  t.ok(other.asked() > 0)
  const failed = {
    kind: 'certificate',
    about: 'tls.acme site.example',
    text: /^No certificate for site\.example could be obtained: /,
  }
  t.match(told, [failed, failed])
  await renewals.close()
  const asked = other.asked()
  renewals.order()
  renewals.keep(acme(one.directory))
  await renewals.close()
  t.equal(other.asked(), asked)
})

t.test('files that cannot be read are no reason to order', async (t) => {
  const { directory, asked } = await openAuthority(t, {})
  const folder = join(certificateFolder(t), 'acme')
  mkdirSync(join(folder, 'certificate.key'), { recursive: true })
  writeFileSync(join(folder, 'certificate.pem'), 'x')
  const notices: string[] = []
  const options = { domains: ['site.example'], email: 'ops@site.example', directory }
  const renewal = keepCertificate(folder, options, { onNotice: (line) => void notices.push(line) })
  t.teardown(renewal.close)
  await until(() => notices.length > 0)
  t.match(notices[0], /certificate\.key cannot be read \(EISDIR\)/)
  t.equal(asked(), 0)
})

t.test('a sentence is one line, of some length', async (t) => {
  t.equal(describeFault(new Error('a\nb\u001b[2J\u202ec')), 'a b [2J c')
  t.equal(describeFault(new Error('x'.repeat(9_999))).length, 300)
})
