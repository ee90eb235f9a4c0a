import { createSecretKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import {
  directoryResponseHeaders,
  signatureHeaders as signatureHeadersOfMessage,
  verify as verifyMessage,
} from 'http-message-sig'
import t from 'tap'
import { generateNonce, jwkToKeyID, signatureHeaders, verify } from 'web-bot-auth'
import { helpers, signerFromJWK, verifierFromJWK } from 'web-bot-auth/crypto'
import { readKey } from '../src/agent/signature/key.ts'
import { answerDirectory } from '../src/agent/signature/own-directory.ts'
import { createRequestSigner, type SignerOptions } from '../src/agent/signature/request-signer.ts'
import { keysShown } from '../src/agent/signature/signed-directory.ts'
import { directory, signer } from '../src/signing.ts'
import { AGENT, createVerifier, makeRequest } from './signed-requests.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const JWK = privateKey.export({ format: 'jwk' })
const PUBLIC = readKey(JWK)
const KEY_ID = String(PUBLIC?.id)
const URL_SIGNED = 'https://example.com/path?q=1'

function received(fields: Readonly<Record<string, string>>, host = 'example.com'): readonly string[] {
  return ['Host', host, ...Object.entries(fields).flat()]
}

/** Creates a verifier that knows the key of `AGENT`, and a signer with its clock. */
function both(options: Partial<SignerOptions> = {}, aheadMs = 0) {
  const { verifier, clock } = createVerifier({}, [JWK])
  const ports = { now: () => clock.now() + aheadMs, random: (count: number) => Buffer.alloc(count, 7) }
  return { verifier, clock, bot: createRequestSigner({ key: privateKey, agent: AGENT, ...options }, ports) }
}

t.test('our verifier accepts each form, for this request alone', async (t) => {
  for (const form of ['dictionary', 'string'] as const) {
    for (const key of [privateKey, JWK, { agent: AGENT, keys: [JWK] }]) {
      const { verifier, bot } = both({ key, form, agent: form === 'string' ? AGENT : `${AGENT}/` })
      const fields = bot.signFields({ url: URL_SIGNED })
      t.match(fields['Signature-Agent'], form === 'string' ? `"${AGENT}"` : `sig1="${AGENT}"`)
      t.match(fields['Signature-Input'], `keyid="${KEY_ID}"`)
      const sent = makeRequest(received(fields))
      t.match(verifier.lookAtDescribed(sent.fields), { outcome: 'unverified' }, 'nothing is known of its method')
      t.match(verifier.look({ ...sent, target: '/other?q=1' }), { outcome: 'invalid', forged: true })
      t.match(verifier.look({ ...sent, target: '/path?q=2' }), { outcome: 'invalid', forged: true })
      t.match(verifier.look({ ...sent, method: 'POST' }), { outcome: 'invalid', forged: true })
      t.match(verifier.look(makeRequest(received(fields, 'example.org'))), { outcome: 'invalid', forged: true })
      const valid = { outcome: 'verified', agent: AGENT, replay: 'checked', replayable: false }
      t.match(verifier.look(sent), valid)
      t.match(verifier.look(sent), { outcome: 'invalid', detail: /nonce was used/ })
    }
  }
})

t.test('a signature lives for 60 seconds at most, and clocks may differ a little', async (t) => {
  const detail = (aheadMs: number, options: Partial<SignerOptions> = {}, waitMs = 0) => {
    const { verifier, clock, bot } = both(options, aheadMs)
    const fields = received(bot.signFields({ url: URL_SIGNED }))
    clock.advance(waitMs)
    const { outcome, detail } = verifier.look(makeRequest(fields)) ?? {}
    return `${outcome} ${detail}`
  }
  for (const ahead of [-50_000, 0, 30_000]) t.match(detail(ahead), /^verified /, `${ahead} ms`)
  t.match(detail(120_000), /its creation time is in the future/)
  t.match(detail(-120_000), /it has expired/)
  t.match(detail(0, { seconds: 10 }, 4_000), /^verified /)
  t.match(detail(0, { seconds: 10 }, 5_000), /it has expired/)
  const { bot } = both({ nonce: false })
  const [, created, expires] =
    /created=(\d+).*expires=(\d+)/.exec(bot.signFields({ url: URL_SIGNED })['Signature-Input'] ?? '') ?? []
  t.equal(Number(expires) - Number(created), 60)
  t.notMatch(bot.signFields({ url: URL_SIGNED })['Signature-Input'], 'nonce')
})

t.test('bad input is refused with a code', async (t) => {
  const { d: _, ...open } = JWK
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys: readonly (readonly [KeyObject | object, RegExp])[] = [
    [generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, /its type is ec/],
    [rsa.privateKey.export({ format: 'jwk' }), /its type is RSA/],
    [generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' }), /its type is X25519/],
    [createSecretKey(Buffer.alloc(32)), /its type is secret/],
    [generateKeyPairSync('ed25519').publicKey, /it has no private part/],
    [open, /it has no private part/],
    [{ ...JWK, d: 'AAAA' }, /its members are malformed/],
    [{ ...JWK, x: generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }).x }, /its members are malformed/],
    [{ keys: [] }, /the set has no key/],
    [{ keys: [JWK, open] }, /it has no private part/],
    [null as never, /it is neither a KeyObject nor a JWK/],
  ]
  for (const [key, message] of keys) t.throws(() => signer({ key, agent: AGENT }), { code: 'invalid_config', message })
  for (const agent of ['http://bot.example', 'bot.example', 'https://bot.example/a', 'https://a:b@bot.example', ''])
    t.throws(() => signer({ key: JWK, agent }), { code: 'invalid_config', message: /is not an https origin/ })
  for (const seconds of [0, 61, 1.5, Number.NaN])
    t.throws(() => signer({ key: JWK, agent: AGENT, seconds }), { code: 'invalid_config', message: /1 to 60/ })
  const bot = signer({ key: JWK, agent: AGENT })
  for (const url of ['ftp://a.example/', '/path', ''])
    t.throws(() => bot.signFields({ url }), { code: 'cannot_sign', message: /not an http URL/ })
  const signed = { url: URL_SIGNED, headers: { 'Signature-Input': 'a=()' } }
  t.throws(() => bot.signFields(signed), { code: 'cannot_sign', message: /signed already/ })
  bot.asks(URL_SIGNED, 'sig1=("@authority" "x-name" "content-digest");tag="web-bot-auth"')
  const ask = (headers: Readonly<Record<string, string>>) => () => bot.signFields({ url: URL_SIGNED, headers })
  t.throws(ask({ 'x-name': 'Zoë', 'content-digest': 'a' }), { code: 'cannot_sign', message: /not ASCII/ })
  t.throws(ask({ 'x-name': 'Zoe' }), { code: 'cannot_sign', message: /lacks a component/ })
  t.match(ask({ 'X-Name': 'Zoe', 'content-digest': 'a', other: 'Zoë' })(), { Signature: /^sig1=:/ })
  const later = Math.floor(Date.now() / 1000) + 3600
  const early = signer({ key: { keys: [{ ...JWK, nbf: later }] }, agent: AGENT })
  t.throws(() => early.signFields({ url: URL_SIGNED }), { code: 'invalid_config', message: /check the clock/ })
})

t.test('an origin that asks is answered as it asks, and no other', async (t) => {
  const { verifier, bot } = both({ when: 'asked' })
  const url = URL_SIGNED
  t.same(bot.signFields({ url }), {})
  const unsigned = new Request(url)
  t.equal(await bot.sign(unsigned), unsigned)
  const wish = 'sig2=("@authority" "signature-agent");created;expires;tag="web-bot-auth"'
  const changed = [wish.replace('web-bot-auth', 'other'), wish.replace('@authority', '@status'), `${wish};keyid="x"`]
  for (const other of [...changed, `${wish};alg="hmac-sha256"`, '', '?', 'sig1', null, undefined])
    t.equal(bot.asks(url, other), false, String(other))
  t.same(bot.signFields({ url }), {})
  t.equal(bot.asks(url, `a=("@status");tag="web-bot-auth", ${wish};nonce="a\\"b"`), true, 'the first that can be made')
  t.same(bot.signFields({ url: 'http://example.com/' }), {}, 'another origin')
  const first = bot.signFields({ url })
  t.equal(first['Signature-Agent'], `sig2="${AGENT}"`)
  t.match(first['Signature-Input'], /^sig2=\("@authority" "signature-agent" .*nonce="a\\"b"/)
  t.match(verifier.look(makeRequest(received(first))), { outcome: 'verified', replay: 'checked' })
  t.notMatch(bot.signFields({ url })['Signature-Input'], 'a\\"b', 'its nonce is used once')
  for (let at = 0; at < 1_000; at++) bot.asks(`https://o${at}.example/`, wish)
  t.same(bot.signFields({ url }), {}, 'and the last thousand are remembered')
})

t.test('a signed request keeps its fields and body, and follows no redirect', async (t) => {
  const bot = signer({ key: JWK, agent: AGENT })
  const sent = await bot.sign(new Request(URL_SIGNED, { method: 'POST', body: 'text', headers: { 'x-a': 'b' } }))
  t.same([sent.headers.get('x-a'), sent.headers.get('signature-agent')], ['b', `sig1="${AGENT}"`])
  // The signature does not hold for another address.
  t.same([await sent.text(), sent.redirect], ['text', 'manual'])
})

t.test('web-bot-auth and http-message-sig verify ours', async (t) => {
  const verifier = await verifierFromJWK(JWK)
  t.equal(await jwkToKeyID(JWK, helpers.WEBCRYPTO_SHA256, helpers.BASE64URL_DECODE), KEY_ID, 'the thumbprint')
  const old = signer({ key: privateKey, agent: AGENT, form: 'string' })
  const asked = signer({ key: privateKey, agent: AGENT, when: 'asked' })
  for (const bot of [old, asked]) {
    for (const [method, url] of Object.entries({ GET: URL_SIGNED, POST: 'https://example.com:8443/a%2fb' })) {
      if (bot === asked) bot.asks(url, 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"')
      const headers = bot.signFields({ method, url })
      await t.resolves(verify({ method, url, headers }, verifier))
      const verifyOne = (data: string, signature: Uint8Array) => verifier(data, signature, {} as never)
      await t.resolves(verifyMessage({ method, url, headers }, verifyOne))
      await t.rejects(verify({ method, url: `${url}x`, headers }, verifier), /invalid signature/)
    }
  }
})

t.test('ours verifies what they sign', async (t) => {
  const theirs = await signerFromJWK(JWK)
  const { verifier, clock } = createVerifier({}, [JWK])
  const [created, expires] = [new Date(clock.now() - 1000), new Date(clock.now() + 60_000)]
  const message = { method: 'GET', url: URL_SIGNED, headers: { 'signature-agent': `"${AGENT}"` } }
  const first = await signatureHeaders(message, theirs, { created, expires, nonce: generateNonce() })
  const components = ['@method', '@authority', '@path', '@query', 'signature-agent']
  const options = { signer: theirs, created, expires, tag: 'web-bot-auth', components }
  const second = await signatureHeadersOfMessage(message, options)
  for (const made of [first, second]) {
    const fields = received({ ...message.headers, ...made })
    t.match(verifier.look(makeRequest(fields)), { outcome: 'verified', agent: AGENT })
    t.match(verifier.look(makeRequest(fields.with(1, 'example.org'))), { outcome: 'invalid', forged: true })
  }
})

t.test('a directory is signed by each of its keys, for its host', async (t) => {
  const now = Date.now()
  const next = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const gone = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const seconds = Math.floor(now / 1000)
  const set = { keys: [JWK, { ...next, nbf: seconds + 60 }, { ...gone, exp: seconds - 1 }] }
  const { headers, body } = answerDirectory(set, AGENT, now)
  t.equal(headers['content-type'], 'application/http-message-signatures-directory+json')
  t.notMatch(body, `"d"`, 'no private part is published')
  const { keys } = JSON.parse(body) as { readonly keys: readonly { readonly kid: string }[] }
  const read = keys.flatMap((jwk) => readKey(jwk) ?? [])
  for (const [at, { kid }] of keys.entries()) t.equal(kid, read[at]?.id)
  t.equal(keys.length, 2, 'a key whose use has ended is not published')
  const url = `${AGENT}/.well-known/http-message-signatures-directory`
  const shown = (at: number, where = url) =>
    keysShown(read, { url: where, headers, body: Buffer.from(body) }, at).length
  t.equal(shown(now + 3_500_000), 2)
  t.equal(shown(now + 3_600_000), 0, 'it ends')
  t.equal(shown(now, 'https://evil.example/'), 0, "a copy at another's host")

  const one = directory({ key: privateKey, agent: AGENT })
  const request = { method: 'GET', url, headers: {} }
  const message = { request, response: { status: 200, headers: one.headers } }
  const theirs = await verifierFromJWK(JWK)
  await t.resolves(verifyMessage(message, (data, signature) => theirs(data, signature, {} as never)))

  const response = { status: 200, headers: {} }
  const dates = { created: new Date(now), expires: new Date(now + 60_000) }
  const made = await directoryResponseHeaders({ request, response }, [await signerFromJWK(JWK)], dates)
  const answered = Object.fromEntries(Object.entries(made).map(([name, value]) => [name.toLowerCase(), value]))
  t.match(keysShown(read, { url, headers: answered, body: Buffer.from(body) }, now), [{ id: KEY_ID }])
})

t.test('of a set the newest key in use signs', async (t) => {
  const next = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const at = (seconds: number) => Date.parse('2026-11-21T12:00:00Z') / 1000 + seconds
  const old = { ...JWK, exp: at(180) }
  const keys = [old, { ...next, nbf: at(60) }]
  const { bot, clock } = both({ key: { agent: AGENT, keys }, agent: undefined })
  const usesKey = (id?: string) => t.match(bot.signFields({ url: URL_SIGNED })['Signature-Input'], `keyid="${id}"`)
  usesKey(KEY_ID)
  clock.advance(94_000)
  // A verifier does not take the new key before that.
  usesKey(KEY_ID)
  clock.advance(1_000)
  usesKey(readKey(next)?.id)
})
