import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ServiceEvent } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { BOUNDS } from '../src/acme/authority.ts'
import { createRenewals, keepCertificate } from '../src/acme/renewal.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { until } from './wire.ts'

/* Authorities that lie, wait, and never come to an end: each is one sentence, and a second look later. */

/** An authority sends this answer at a path: JSON with a status and fields, or any bytes. */
type Answer =
  | { readonly status?: number; readonly fields?: Readonly<Record<string, string>>; readonly json?: unknown }
  | ((response: ServerResponse, request: IncomingMessage) => void)

type Answers = Readonly<Record<string, (base: string) => Answer>>

/** The answers of a good one, until the certificate is downloaded. */
const GOOD: Answers = {
  '/dir': (base) => ({ json: { newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` } }),
  '/nonce': () => ({}),
  '/account': (base) => ({ status: 201, fields: { location: `${base}/account/1` }, json: { status: 'valid' } }),
  '/account/1': () => ({ json: { status: 'valid' } }),
  '/order': (base) =>
    newOrder(base, { status: 'pending', authorizations: [`${base}/authz`], finalize: `${base}/finalize` }),
  '/order/1': (base) =>
    ordered(base, { status: 'valid', authorizations: [`${base}/authz`], certificate: `${base}/certificate` }),
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

async function sentenceFrom(t: Test, others: Answers, bounds = BOUNDS) {
  const folder = join(certificateFolder(t), 'acme')
  const { close, notices, asked } = await keepOne(t, folder, others, bounds)
  await until(() => notices.length > 0)
  return { sentence: notices[0] ?? '', folder, asked, close }
}

async function keepOne(t: Test, folder: string, others: Answers, bounds = BOUNDS) {
  const { directory, asked } = await openAuthority(t, others)
  const notices: string[] = []
  const acme = { domains: ['site.example'], email: 'ops@site.example', directory, folder, orders: true }
  const close = keepCertificate(acme, { onNotice: (line) => void notices.push(line) }, bounds)
  t.teardown(close)
  return { close, notices, asked }
}

const text =
  (body: string): Answer =>
  (response) =>
    void response.setHeader('replay-nonce', 'n').end(body)
const QUICK = { ...BOUNDS, answerMs: 300 }
/** Names authorities whose answer does not come: each takes the time that an answer has. */
const LATE = ['is silent', 'drips', 'never names the certificate']

const challenge = { type: 'http-01', token: 'a', url: 'http://127.0.0.1:1/' }
const withChallenge = (status: string, more: object): Answer => ({
  json: { status, identifier: { type: 'dns', value: 'site.example' }, challenges: [{ ...challenge, ...more }] },
})
const DISBELIEF = { error: { detail: 'no\u001b[31m\nA' } }
const ordered = (base: string, more: object): Answer => ({ json: { authorizations: [base], finalize: base, ...more } })
const newOrder = (base: string, json: object) => ({ status: 201, fields: { location: `${base}/order/1` }, json })
const refused = (status: number, kind: string, detail = 'no', fields = {}): Answer => ({
  status,
  fields,
  json: { type: `urn:ietf:params:acme:error:${kind}`, detail },
})

function drips(response: ServerResponse): void {
  const drip = setInterval(() => response.write(' '), 50)
  response.once('close', () => clearInterval(drip))
}

function hasNoEnd(response: ServerResponse): void {
  while (!response.destroyed && response.write('x'.repeat(65_536))) {}
  response.once('drain', () => hasNoEnd(response))
}

const HOSTILE: readonly (readonly [what: string, path: string, answer: (base: string) => Answer, said: RegExp])[] = [
  ['is silent', '/dir', () => () => {}, /did not respond within 0\.3 s/],
  ['drips', '/dir', () => drips, /did not respond within/],
  ['has no end', '/dir', () => hasNoEnd, /larger than 1048576 bytes/],
  ['hangs up', '/dir', () => (response) => void response.destroy(), /cannot be reached/],
  ['is a page', '/dir', () => text('<html>'), /not one of an ACME server: "<html>"/],
  ['is nothing', '/dir', () => ({}), /is not an ACME directory: it has no newNonce, newAccount, newOrder/],
  ['redirects', '/dir', (base) => ({ status: 302, fields: { location: `${base}/dir` } }), /redirects \(302\)/],
  ['gives no nonce', '/nonce', () => (response) => void response.end(), /nonce/],
  ['names no account', '/account', () => ({ json: { status: 'valid' } }), /sent no account URL/],
  ['always wants another nonce', '/account', () => refused(400, 'badNonce'), /rejected .* \(400 badNonce\): no;/],
  ['has an order of nothing', '/order', (base) => newOrder(base, {}), /an order without authorizations/],
  ['offers no challenge', '/authz', () => ({ json: { status: 'pending' } }), /offers no http-01 challenge for a name/],
  ['names no file', '/authz', () => withChallenge('pending', { token: '../../escaped' }), /no token or no URL/],
  ['does not believe', '/authz', () => withChallenge('invalid', DISBELIEF), /is not authorized: no \[31m A/],
  ['issues none', '/certificate', () => text('-----BEGIN CERTIFICATE-----\nx'), /from the CA cannot be read/],
  ['never names the certificate', '/order/1', (base) => ordered(base, { status: 'valid' }), /./],
  ['is busy', '/order', () => ({ status: 503 }), /the CA rejected the request \(503\)/],
]

t.test('each of many authorities that lie or wait is one sentence', async (t) => {
  for (const [what, path, answer, expected] of HOSTILE) {
    const bounds = LATE.includes(what) ? QUICK : BOUNDS
    const { sentence, folder, asked, close } = await sentenceFrom(t, { [path]: answer }, bounds)
    t.match(sentence, /^tls\.acme: no certificate for site\.example: .+; next attempt in 10 min$/, what)
    t.match(sentence, expected, what)
    t.notMatch(sentence, /undefined|Cannot read|\p{Cc}/u, what)
    t.ok(asked() < 40, `${what}: ${asked()} requests`)
    t.notOk(existsSync(join(folder, 'certificate.pem')), what)
    await close()
  }
})

t.test('a certificate for another key, or for other names, is not taken', { skip: NO_OPENSSL }, async (t) => {
  const other = readFileSync(makeCertificate(certificateFolder(t), ['site.example']).cert, 'utf8')
  const { sentence, folder } = await sentenceFrom(t, { '/certificate': () => text(other) })
  t.match(sentence, /the certificate from the CA does not match its key/)
  t.notOk(existsSync(join(folder, 'certificate.pem')))
})

t.test('an authority that says when to come again is not asked before', async (t) => {
  const limited = refused(429, 'rateLimited', 'too many\u0007 orders', { 'retry-after': '7200' })
  const { sentence } = await sentenceFrom(t, { '/order': () => limited })
  t.match(sentence, / the CA rejected the request \(429 rateLimited\): too many {2}orders; next attempt in 120 min$/)
})

t.test('a renewal that is closed leaves nothing behind, whatever its authority does', async (t) => {
  const folder = join(certificateFolder(t), 'acme')
  const { close, notices, asked } = await keepOne(t, folder, { '/dir': () => () => {} })
  await until(() => asked() === 1)
  await close()
  t.same(notices, [])
})

t.test('a process orders where it is asked to, of whom a reload names, and not once it closes', async (t) => {
  const [one, other] = [await openAuthority(t, {}), await openAuthority(t, {})]
  const notices: string[] = []
  const folder = join(certificateFolder(t), 'acme')
  const options = { domains: ['site.example'], email: 'a@b.example', folder, orders: false }
  const acme = (directory: string) => ({ ...options, directory })
  const told: ServiceEvent[] = []
  const raise = (event: ServiceEvent): void => void told.push(event)
  const renewals = createRenewals({ onNotice: (line) => void notices.push(line), raise }, acme(one.directory))
  renewals.keep(acme(one.directory))
  t.equal(one.asked(), 0)
  renewals.order()
  await until(() => notices.length === 1)
  t.ok(one.asked() > 0)
  renewals.keep(acme(other.directory))
  await until(() => notices.length === 2)
  t.ok(other.asked() > 0)
  const text = /^No certificate for site\.example could be obtained: /
  const failed = { kind: 'certificate', about: 'tls.acme site.example', text }
  t.match(told, [failed, failed])
  await renewals.close()
  const asked = other.asked()
  renewals.order()
  renewals.keep(acme(one.directory))
  await renewals.close()
  t.equal(other.asked(), asked)
})

t.test('files that cannot be read are no reason to order', async (t) => {
  const folder = join(certificateFolder(t), 'acme')
  mkdirSync(join(folder, 'certificate.key'), { recursive: true })
  writeFileSync(join(folder, 'certificate.pem'), 'x')
  const { notices, asked } = await keepOne(t, folder, {})
  await until(() => notices.length > 0)
  t.match(notices[0], /certificate\.key cannot be read \(EISDIR\)/)
  t.equal(asked(), 0)
})
