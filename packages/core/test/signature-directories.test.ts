import { createHash, generateKeyPairSync } from 'node:crypto'
import { CRAWLERS } from '@sallyport/data/crawlers'
import t from 'tap'
import {
  createKeyDirectories,
  HOST_INTERVAL_MS,
  type KeyDirectories,
  LONGEST_UNREACHED_MS,
  MAX_KEYS,
  readCard,
} from '../src/agent/signature/directory.ts'
import { readKey, TEST_KEY_IDS } from '../src/agent/signature/key.ts'
import { findKeySource, type KeySource } from '../src/agent/signature/key-source.ts'
import { createSigner } from '../src/agent/signature/signer.ts'
import type { FetchAnswer, FetchRequest } from '../src/ports/index.ts'
import { createFakeClock } from '../src/testing/fakes.ts'
import { AGENT, createVerifier, KEY_ID, makeRequest, NOW_S, signedFields, TEST_ED25519 } from './signed-requests.ts'

function newKey() {
  const jwk = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  return { jwk, id: readKey(jwk)?.id ?? '' }
}

function makeSource(uri: string, type = 'directory'): KeySource {
  const source = findKeySource({ uri, type }, new Set())
  if (source === undefined) throw new TypeError(uri)
  return source
}

const SOURCE = makeSource('https://agent.example')

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text)
}

const answerWith = (text: string, headers: Readonly<Record<string, string>> = {}, status = 200): FetchAnswer => {
  return { state: 'answered', status, headers, body: bytes(text) }
}

type Answers = Readonly<Record<string, readonly (object | string | number)[]>>

/** Answers by URL, in turn; what was asked is kept. */
function directoriesWith(answers: Answers = {}) {
  const clock = createFakeClock('2026-11-21T12:00:00Z')
  const asked: FetchRequest[] = []
  async function fetch(request: FetchRequest): Promise<FetchAnswer> {
    const turn = asked.filter(({ url }) => url === request.url).length
    asked.push(request)
    const answer = answers[request.url]?.[turn]
    if (answer === undefined) return { state: 'failed', reason: 'ECONNREFUSED' }
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    return answerWith(text, { 'cache-control': 'max-age=600' }, typeof answer === 'number' ? answer : 200)
  }
  return { clock, asked, directories: createKeyDirectories({ clock, outbound: { fetch } }) }
}

async function stateOnce(directories: KeyDirectories, source: KeySource, id: string) {
  directories.find(source, id, true)
  await directories.settled()
  return directories.find(source, id, false).state
}

/** Returns the state of a key of a directory that answers with a text and headers. */
function signedState(source: KeySource, id: string, text: string, headers: Readonly<Record<string, string>>) {
  const outbound = { fetch: async () => answerWith(text, headers) }
  const clock = createFakeClock('2026-11-21T12:00:00Z')
  return stateOnce(createKeyDirectories({ clock, outbound, testKeys: true }), source, id)
}

t.test('a directory is fetched behind the caller’s back, within bounds', async (t) => {
  const { jwk, id } = newKey()
  const { asked, directories } = directoriesWith({ [SOURCE.url]: [{ keys: [jwk] }] })
  t.equal(directories.find(SOURCE, id, false).state, 'unknown')
  t.same(asked, [], 'nothing is asked for a tale')
  t.equal(directories.find(SOURCE, id, true).state, 'unknown')
  directories.find(SOURCE, id, true)
  directories.find(SOURCE, 'another', true)
  await directories.settled()
  t.match(directories.find(SOURCE, id, true), { state: 'found', key: { id, algorithm: 'ed25519' } })
  t.equal(directories.find(SOURCE, 'another', true).state, 'absent')
  t.match(asked, [{ url: SOURCE.url, maxBytes: 65_536, timeoutMs: 2000, redirects: 0 }])
  t.notOk(asked[0]?.allowHttp)
  t.equal(asked.length, 1, 'once for all who ask, and not again for a key that is not there')
  t.equal(SOURCE.url, 'https://agent.example/.well-known/http-message-signatures-directory')
})

t.test('the catalogue’s directories are fetched at first use, each once in five minutes', async (t) => {
  const agents = CRAWLERS.flatMap(({ agent }) => agent ?? [])
  t.ok(agents.length >= 20)
  t.equal(new Set(agents).size, agents.length, 'one row for each')
  const { asked, directories } = directoriesWith()
  for (let round = 0; round < 100; round++) {
    for (const agent of agents) directories.find(makeSource(agent), `key-${round}`, true)
    await directories.settled()
  }
  t.equal(asked.length, agents.length, 'a flood of signatures costs one request for each')
  t.ok(asked.every(({ url, redirects }) => new URL(url).protocol === 'https:' && redirects === 0))
})

t.test('a failed fetch keeps the keys, a good one without the key does not', async (t) => {
  const [first, second] = [newKey(), newKey()]
  const answers = [{ keys: [first.jwk] }, 500, 'not JSON', { no: 'keys' }, 302, { keys: [second.jwk] }]
  const { clock, directories } = directoriesWith({ [SOURCE.url]: answers })
  const stateAfter = (id: string) => stateOnce(directories, SOURCE, id)
  t.equal(await stateAfter(first.id), 'found')
  for (let turn = 1; turn <= 4; turn++) {
    clock.advance(HOST_INTERVAL_MS * 3)
    t.equal(await stateAfter(first.id), 'found', `turn ${turn}`)
  }
  clock.advance(HOST_INTERVAL_MS)
  t.equal(await stateAfter(first.id), 'absent')
  t.equal(directories.find(SOURCE, second.id, false).state, 'found')
  clock.advance(LONGEST_UNREACHED_MS)
  t.equal(await stateAfter(second.id), 'unknown', 'nobody could have withdrawn a key for a week')
})

t.test('a host is asked once in its interval, whatever is asked for', async (t) => {
  const { clock, asked, directories } = directoriesWith()
  for (let turn = 0; turn < 50; turn++) {
    directories.find(SOURCE, `key${turn}`, true)
    await stateOnce(directories, makeSource(`https://agent.example/${turn}.json`, 'jwks_uri'), 'x')
  }
  t.equal(asked.length, 1)
  for (const [later, times] of [HOST_INTERVAL_MS - 1, 1].entries()) {
    clock.advance(times)
    await stateOnce(directories, SOURCE, 'key')
    t.equal(asked.length, 1 + later)
  }
})

t.test('the keys of a signed directory count that signed it', async (t) => {
  const other = newKey()
  const text =
    '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}'
  const headers = {
    'content-digest': 'sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:',
    'signature-input': `binding=("@authority";req "content-digest");created=1735689600;expires=4889289600;keyid="${KEY_ID}";tag="http-message-signatures-directory"`,
    signature: 'binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:',
  }
  const own = makeSource('https://signature-agent.test')
  t.equal(await signedState(own, KEY_ID, text, headers), 'found', 'the vector of the draft')
  t.equal(await signedState(own, KEY_ID, text, {}), 'found', 'an answer that is not signed')
  t.equal(await signedState(makeSource('https://copy.example'), KEY_ID, text, headers), 'unknown', 'another host’s')
  const expired = { ...headers, 'signature-input': headers['signature-input'].replace('488', '188') }
  t.equal(await signedState(own, KEY_ID, text, expired), 'unknown')
  const two = JSON.stringify({ keys: [...JSON.parse(text).keys, other.jwk] })
  t.equal(await signedState(own, KEY_ID, two, headers), 'unknown', 'the digest is of another body')
  const bound = { ...headers, 'content-encoding': 'gzip' }
  t.equal(await signedState(own, KEY_ID, two, bound), 'found')
  t.equal(await signedState(own, other.id, two, bound), 'absent', 'a key that did not sign')
})

t.test('a signed directory may have a digest of either active algorithm, and of both each must fit', async (t) => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const signer = createSigner(jwk)
  const text = JSON.stringify(signer.directory)
  const computeDigest = (algorithm: string, of = text) => createHash(algorithm).update(of).digest('base64')
  const fetchState = async (digest: string) => {
    const request = { fields: ['content-digest', digest], answeredTo: new URL(SOURCE.url) }
    const times = { created: NOW_S - 10, expires: NOW_S + 300, nonce: 'x', tag: 'http-message-signatures-directory' }
    const covered = { request, label: 'd', components: '"@authority";req "content-digest"' }
    const [, input = '', , signature = ''] = signer.sign({ ...covered, ...times })
    const headers = { 'content-digest': digest, 'signature-input': input, signature }
    return signedState(SOURCE, readKey(jwk)?.id ?? '', text, headers)
  }
  const [short, long] = [`sha-256=:${computeDigest('sha256')}:`, `sha-512=:${computeDigest('sha512')}:`]
  t.same(await Promise.all([short, long, `${short}, ${long}`].map(fetchState)), ['found', 'found', 'found'])
  const wrong = [`${short}, sha-512=:${computeDigest('sha512', 'x')}:`, 'sha-512=1', 'md5=:AA==:', '(']
  t.same(await Promise.all(wrong.map(fetchState)), ['unknown', 'unknown', 'unknown', 'unknown'])
})

t.test('documents that are no directory of keys are none', async (t) => {
  const { jwk } = newKey()
  const many = Array.from({ length: MAX_KEYS + 1 }, () => jwk)
  const deep = ['['.repeat(60_000), `${'['.repeat(30_000)}${']'.repeat(30_000)}`]
  for (const document of [{ keys: many }, { keys: 'x' }, [], 'null', ...deep, '{"__proto__":{"keys":[]}}']) {
    const { directories } = directoriesWith({ [SOURCE.url]: [document] })
    t.equal(await stateOnce(directories, SOURCE, 'x'), 'unknown', JSON.stringify(document).slice(0, 40))
  }
  for (const key of [null, 1, {}, { kty: 'oct', k: 'x' }, { kty: 'OKP', crv: 'X25519', x: 'x' }, { kty: 'EC' }])
    t.equal(readKey(key), undefined, JSON.stringify(key))
  t.equal(readKey({ ...jwk, x: 'A'.repeat(5000) }), undefined)
  t.equal(readKey(JSON.parse(`{"__proto__":${JSON.stringify(jwk)}}`)), undefined)
})

t.test('a key is what its thumbprint is, not what its directory calls it', async (t) => {
  const { jwk, id } = newKey()
  const { directories } = directoriesWith({ [SOURCE.url]: [{ keys: [{ ...jwk, kid: 'liar' }] }] })
  t.equal(await stateOnce(directories, SOURCE, 'liar'), 'absent')
  t.equal(directories.find(SOURCE, id, false).state, 'found')
  // RFC 7638 section 3.1 and RFC 8037 appendix A.3 contain this example.
  const printed = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
  t.equal(readKey(printed)?.id, 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
})

t.test('a key out of its time verifies nothing, and the keys that RFC 9421 prints only if asked for', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00Z') / 1000
  const outcome = (bounds: object) =>
    createVerifier({}, [{ ...TEST_ED25519, ...bounds }]).verifier.look(makeRequest(signedFields()))?.outcome
  t.equal(outcome({ nbf: now - 1, exp: now + 1 }), 'verified')
  t.equal(outcome({ nbf: (now - 1) * 1000, exp: (now + 1) * 1000 }), 'verified')
  t.equal(outcome({ nbf: now + 1 }), 'invalid')
  t.equal(outcome({ exp: now }), 'invalid')
  t.equal(outcome({ exp: (now - 1) * 1000 }), 'invalid')
  t.ok(TEST_KEY_IDS.includes(KEY_ID))
  t.match(createVerifier().verifier.look(makeRequest(signedFields())), { outcome: 'verified' })
  const production = createVerifier({}, [TEST_ED25519], { testKeys: false })
  t.match(production.verifier.look(makeRequest(signedFields())), { outcome: 'unverified', forged: false })
})

t.test('cards hold keys or name their place, of their own site', async (t) => {
  const url = 'https://agent.example/card'
  const card = makeSource(url, 'cimd')
  const { jwk, id } = newKey()
  const place = 'https://agent.example/jwks.json'
  const stateFor = (answers: Answers) => stateOnce(directoriesWith(answers).directories, card, id)
  const alone = directoriesWith({ [SOURCE.url]: [jwk] }).directories
  t.equal(await stateOnce(alone, SOURCE, id), 'found', 'a directory may be its one key, as Shopify publishes it')
  t.equal(await stateFor({ [url]: [{ client_id: url, jwks: { keys: [jwk] } }] }), 'found')
  t.equal(await stateFor({ [url]: [{ client_id: url, jwks_uri: place }], [place]: [{ keys: [jwk] }] }), 'found')
  t.equal(await stateFor({ [url]: [{ client_id: 'https://other.example', jwks: { keys: [jwk] } }] }), 'unknown')
  t.equal(await stateFor({ [url]: [{ client_id: url, jwks: { keys: [jwk] }, jwks_uri: place }] }), 'unknown')
  t.equal(readCard({ client_id: url }, card), undefined)
  t.equal(readCard({ client_id: url, jwks_uri: 'https://elsewhere.example/jwks' }, card), undefined)
  t.equal(readCard(null, card), undefined)
})

t.test('plain http is left to the fetcher, which knows net.allowPrivate', async (t) => {
  const uri = 'http://agent.example'
  const source = findKeySource({ uri, type: 'directory' }, new Set([uri]))
  if (source === undefined) throw new TypeError(uri)
  const { asked, directories } = directoriesWith()
  await stateOnce(directories, source, 'x')
  t.match(asked, [{ url: /^http:/ }])
  t.notOk(asked[0]?.allowHttp)
})

t.test('only a named agent and its own place are asked, unless discovery is on', async (t) => {
  const asked: string[] = []
  async function fetch({ url }: FetchRequest): Promise<FetchAnswer> {
    asked.push(url)
    return { state: 'failed', reason: 'off' }
  }
  const look = (agents: readonly string[], discover: boolean, fields: readonly string[]) =>
    createVerifier({ agents, discover }, [], { outbound: { fetch } }).verifier.look(makeRequest(fields))
  const elsewhere = signedFields({ agent: `"${AGENT}/upload.json";type=jwks_uri` })
  for (const discover of [false, true])
    t.match(look([], discover, elsewhere), { outcome: 'unverified', detail: /not a trusted agent/ })
  const stranger = signedFields({ agent: '"https://stranger.example"' })
  look([], false, stranger)
  createVerifier({}, [], { outbound: { fetch } }).verifier.lookAtDescribed(signedFields())
  t.same(asked, [], 'nor for a tale of an agent that is named')
  look([`${AGENT}/upload.json`], false, elsewhere)
  look([], true, stranger)
  look(['https://stranger.example'], false, stranger)
  look([], false, signedFields())
  const own = new RegExp(`^${AGENT}/.well-known/http-message-signatures-directory$`)
  t.match(asked, [/chatgpt.com\/upload.json$/, /stranger/, /stranger/, own])
})

t.test('strangers that visitors name take nothing from the agents that are known', async (t) => {
  const open: (() => void)[] = []
  let isSlow = false
  const asked: string[] = []
  const own = JSON.stringify({ keys: [TEST_ED25519] })
  const outbound = {
    async fetch({ url }: FetchRequest): Promise<FetchAnswer> {
      asked.push(url)
      if (isSlow) await new Promise<void>((resolve) => open.push(resolve))
      return answerWith(url.startsWith(AGENT) ? own : '{"keys":[]}')
    },
  }
  const { verifier, directories } = createVerifier({ discover: true }, [], { outbound, testKeys: true })
  const look = (agent: string) => verifier.look(makeRequest(signedFields({ agent: `"${agent}"` })))?.outcome
  look(AGENT)
  await directories.settled()
  for (let at = 0; at < 1_100; at++) {
    look(`https://a${at}.stranger.example`)
    await directories.settled()
  }
  t.equal(look(AGENT), 'verified', 'its keys are still there')
  isSlow = true
  for (let at = 0; at < 50; at++) look(`https://slow${at}.stranger.example`)
  look('https://agent.bot.goog')
  t.match(asked.at(-1), /^https:\/\/agent\.bot\.goog/, 'an agent of the catalogue is asked while strangers are slow')
  isSlow = false
  for (const answer of open) answer()
  await directories.settled()
})

t.test('the key of a simulated agent stays beside the keys that its directory has', async (t) => {
  const [own, real] = [newKey(), newKey()]
  const { clock, asked, directories } = directoriesWith({ [SOURCE.url]: [{ keys: [real.jwk] }] })
  directories.put(SOURCE, { keys: [own.jwk] })
  clock.advance(LONGEST_UNREACHED_MS + 1)
  t.equal(directories.find(SOURCE, own.id, true).state, 'found')
  t.equal(asked.length, 0, 'nothing is fetched for a key that is there')
  t.equal(await stateOnce(directories, SOURCE, real.id), 'found')
  t.equal(directories.find(SOURCE, own.id, false).state, 'found')
})
