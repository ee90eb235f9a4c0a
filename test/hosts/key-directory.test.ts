import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createAgentKeys, doctor, listAgentKeys, open, rotateAgentKeys } from '@sallyport/engine'
import { verify } from 'http-message-sig'
import t, { type Test } from 'tap'
import { verifierFromJWK } from 'web-bot-auth/crypto'
import { NO_DATA } from '../no-data.ts'
import { HOSTS } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { madeScene } from './scene.ts'
import { exchange, parseResponse, requestBytes } from './wire.ts'

/* Every host publishes the keys by which our bot signs, at the bot's origin and nowhere else. */
const ORIGIN = 'https://bot.example'
const PATH = '/.well-known/http-message-signatures-directory'
const NOW = Date.parse('2026-11-29T12:00:00Z')

async function openSite(t: Test, more: object = {}) {
  const config = { dataDir: t.testdir(), data: { refresh: false, sources: NO_DATA }, ...more }
  const sallyport = await open(config, { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  return { config, sallyport }
}

t.test('every host answers for the keys', async (t) => {
  const { config, sallyport } = await openSite(t)
  for (const host of [...HOSTS, ...MORE_HOSTS]) {
    const { enforcing, blocked } = madeScene()
    const site = await host.start({ ...enforcing, keyDirectory: sallyport.keyDirectory }, '')
    const ask = async (method: string, target = PATH, name = 'bot.example') => {
      const fields = ['X-Forwarded-For', blocked.address, 'Connection', 'close']
      const bytes = requestBytes(method, target, fields).replace(/Host: [^\r]*/, `Host: ${name}`)
      return parseResponse(await exchange(site.port, bytes))
    }
    if (host === HOSTS[0]) {
      t.equal((await ask('GET')).status, 403, 'there is no key yet')
      createAgentKeys(config, ORIGIN, Date.now())
    }
    const got = await ask('GET')
    t.equal(got.status, 200, `${host.name}: a client that is refused elsewhere reads it`)
    const type = 'application/http-message-signatures-directory+json'
    t.match(got.headers, { 'content-type': type, 'cache-control': 'max-age=300' })
    t.notMatch(got.body, '"d"', 'no private part')
    const [key] = JSON.parse(got.body).keys
    t.equal(key.kid, listAgentKeys(config, Date.now()).keys[0]?.id)
    const theirs = await verifierFromJWK(key)
    const request = { method: 'GET', url: `${ORIGIN}${PATH}`, headers: {} }
    const message = { request, response: { status: 200, headers: got.headers } }
    await t.resolves(verify(message, (data, signature) => theirs(data, signature, {} as never)))
    const head = await ask('HEAD')
    t.same([head.status, head.body, head.headers['content-type']], [200, '', type])
    const posted = await ask('POST')
    t.same([posted.status, posted.headers['allow']], [405, 'GET, HEAD'], host.name)
    t.equal((await ask('GET', `${PATH}?a=b`)).status, 200)
    t.equal((await ask('GET', PATH, 'other.example')).status, 403, 'another site has its own')
    t.equal((await ask('GET', `${PATH}x`)).status, 403)
    await site.close()
  }
})

t.test('a trusted proxy names the host of the keys', async (t) => {
  const { config, sallyport } = await openSite(t, {
    trustProxy: ['loopback'],
    webBotAuth: { authorityHeader: 'X-Forwarded-Host' },
  })
  createAgentKeys(config, ORIGIN, NOW)
  const fields = ['Host', '127.0.0.1:3000', 'X-Forwarded-Host', 'bot.example']
  const find = (peer: string) =>
    sallyport.keyDirectory({ peer, method: 'GET', target: PATH, scheme: 'http', httpVersion: '1.1', fields })
  t.ok(find('127.0.0.1'))
  t.equal(find('8.8.8.8'), undefined)
})

t.test('a successor is published before it signs, and the keys before it end', async (t) => {
  const place = { dataDir: t.testdir() }
  const [file, minute] = [join(place.dataDir, 'agent-keys.json'), 60_000]
  t.throws(() => listAgentKeys(place, NOW), { code: 'invalid_config', message: /keys agent create/ })
  t.throws(() => createAgentKeys(place, 'http://bot.example', NOW), { message: /not an https origin/ })
  const [first] = createAgentKeys(place, ORIGIN, NOW).keys
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.throws(() => createAgentKeys(place, ORIGIN, NOW), { message: /already has the keys of an agent/ })
  const signs = (at: number) => listAgentKeys(place, at).keys.find((key) => key.signs)?.id
  const rotated = rotateAgentKeys(place, 60 * minute, NOW)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(rotated.keys, [
    { id: first?.id, notAfter: NOW + 60 * minute, signs: true },
    { notBefore: NOW + 10 * minute, signs: false },
  ])
  t.equal(signs(NOW + 11 * minute), rotated.keys[1]?.id)
  rotateAgentKeys(place, 60 * minute, NOW + minute)
  rotateAgentKeys(place, 4 * minute, NOW + 2 * minute)
  const last = listAgentKeys(place, NOW + 3 * minute).keys.at(-1)
  t.match(last, { notBefore: NOW + 4 * minute }, 'half of a short overlap')
  t.throws(() => rotateAgentKeys(place, 60 * minute, NOW + 3 * minute), {
    code: 'invalid_config',
    message: /has 4 keys, and verifiers read no more\. Wait until 2026-11-29T12:06:00\.000Z, .*--overlap 0s/,
  })
  const alone = rotateAgentKeys(place, 0, NOW + 3 * minute).keys
  t.match(alone, [{ signs: true, notBefore: Number.NEGATIVE_INFINITY, notAfter: Number.POSITIVE_INFINITY }])
  t.equal(JSON.parse(readFileSync(file, 'utf8')).keys.length, 1)
})

t.test('doctor names the key that signs, and a file that others read or nobody can', async (t) => {
  const { config, sallyport } = await openSite(t)
  const file = join(config.dataDir, 'agent-keys.json')
  const [key] = createAgentKeys(config, ORIGIN, Date.now()).keys
  const found = async () => (await doctor(config)).filter(({ found }) => /agent-keys|are signed/.test(found))
  t.match(await found(), [{ state: 'ok', found: `Requests of ${ORIGIN} are signed by ${key?.id}.` }])
  chmodSync(file, 0o644)
  t.match(await found(), [{ state: 'fail', found: /is readable by other users/ }, {}])
  chmodSync(file, 0o600)
  for (const text of ['{', '[]', '{"agent":"https://bot.example","keys":[]}', '{"keys":[{"kty":"RSA"}]}']) {
    writeFileSync(file, text)
    t.match(await found(), [{ state: 'fail', found: /agent-keys\.json: / }], text)
    const request = { peer: '8.8.8.8', method: 'GET', target: PATH, scheme: 'https', httpVersion: '1.1' } as const
    t.throws(() => sallyport.keyDirectory({ ...request, fields: ['Host', 'bot.example'] }), { code: 'invalid_config' })
  }
})
