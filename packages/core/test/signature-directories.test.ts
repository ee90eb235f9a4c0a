import { createHash, generateKeyPairSync } from 'node:crypto'
import { CRAWLERS } from '@sallyport/data/crawlers'
import t from 'tap'
import {
  createKeyDirectories,
  HOST_INTERVAL_MS,
  type KeyDirectoriesOptions,
  LONGEST_UNREACHED_MS,
  MAX_KEYS,
  readCard,
} from '../src/agent/signature/directory.ts'
import { readKey, TEST_KEY_IDS } from '../src/agent/signature/key.ts'
import { findKeySource, type KeySource } from '../src/agent/signature/key-source.ts'
import { createSigner } from '../src/agent/signature/signer.ts'
import type { FetchAnswer, FetchRequest } from '../src/ports/index.ts'
import { createFakeClock } from '../src/testing/fakes.ts'
import {
  AGENT,
  createVerifier,
  makeRequest,
  NOW_S,
  signedFields,
  TEST_ED25519,
  TEST_KEY_ID,
} from './signed-requests.ts'

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

/** Answers by URL, in turn; what was asked is kept. */
function directoriesWith(
  answers: Readonly<Record<string, readonly (object | string | number)[]>>,
  options: Partial<KeyDirectoriesOptions> = {},
) {
  const clock = createFakeClock('2026-11-21T12:00:00Z')
  const asked: FetchRequest[] = []
  const turns = new Map<string, number>()
  const outbound = {
    async fetch(request: FetchRequest): Promise<FetchAnswer> {
      asked.push(request)
      const turn = turns.get(request.url) ?? 0
      turns.set(request.url, turn + 1)
      const answer = answers[request.url]?.[turn]
      if (answer === undefined) return { state: 'failed', reason: 'ECONNREFUSED' }
      const status = typeof answer === 'number' ? answer : 200
      const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
      return { state: 'answered', status, headers: { 'cache-control': 'max-age=600' }, body: bytes(text) }
    },
  }
  return { clock, asked, directories: createKeyDirectories({ clock, outbound, ...options }) }
}

async function* bytes(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text)
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

t.test('a directory of one key may be that key, as Shopify publishes it', async (t) => {
  const { jwk, id } = newKey()
  const { directories } = directoriesWith({ [SOURCE.url]: [jwk] })
  directories.find(SOURCE, id, true)
  await directories.settled()
  t.match(directories.find(SOURCE, id, true), { state: 'found', key: { id } })
})

t.test(
  'the catalogue’s directories are fetched at first use, each once in five minutes, whoever names them',
  async (t) => {
    const agents = CRAWLERS.flatMap(({ agent }) => agent ?? [])
    t.ok(agents.length >= 20)
    t.equal(new Set(agents).size, agents.length, 'one row for each')
    const { asked, clock, directories } = directoriesWith({})
    t.same(asked, [])
    for (let round = 0; round < 100; round++) {
      for (const agent of agents) directories.find(makeSource(agent), `key-${round}`, true)
      await directories.settled()
    }
    t.equal(asked.length, agents.length, 'a flood of signatures costs one request for each')
    t.ok(asked.every(({ url, redirects }) => new URL(url).protocol === 'https:' && redirects === 0))
    clock.advance(HOST_INTERVAL_MS)
    for (const agent of agents) directories.find(makeSource(agent), 'key', true)
    await directories.settled()
    t.ok(asked.length <= 2 * agents.length)
  },
)

t.test('a failed fetch keeps the keys, a good one without the key does not', async (t) => {
  const first = newKey()
  const second = newKey()
  const answers = [{ keys: [first.jwk] }, 500, 'not JSON', { no: 'keys' }, 302, { keys: [second.jwk] }]
  const { clock, directories } = directoriesWith({ [SOURCE.url]: answers })
  const stateAfter = async (id: string) => {
    directories.find(SOURCE, id, true)
    await directories.settled()
    return directories.find(SOURCE, id, false).state
  }
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
  const { clock, asked, directories } = directoriesWith({})
  for (let turn = 0; turn < 50; turn++) {
    directories.find(SOURCE, `key${turn}`, true)
    directories.find(makeSource(`https://agent.example/${turn}.json`, 'jwks_uri'), 'x', true)
    await directories.settled()
  }
  t.equal(asked.length, 1)
  clock.advance(5 * 60_000 - 1)
  directories.find(SOURCE, 'key', true)
  await directories.settled()
  t.equal(asked.length, 1)
  clock.advance(1)
  directories.find(SOURCE, 'key', true)
  await directories.settled()
  t.equal(asked.length, 2)
})

t.test('the keys of a signed directory count that signed it', async (t) => {
  const other = newKey()
  const text =
    '{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U","x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}'
  const headers = {
    'content-digest': 'sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:',
    'signature-input': `binding=("@authority";req "content-digest");created=1735689600;expires=4889289600;keyid="${TEST_KEY_ID}";tag="http-message-signatures-directory"`,
    signature: 'binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:',
  }
  const fetchState = async (
    agent: string,
    sent: Readonly<Record<string, string>>,
    keyId = TEST_KEY_ID,
    body = text,
  ) => {
    const clock = createFakeClock('2026-11-21T12:00:00Z')
    const outbound = {
      fetch: async (): Promise<FetchAnswer> => ({ state: 'answered', status: 200, headers: sent, body: bytes(body) }),
    }
    const directories = createKeyDirectories({ clock, outbound, testKeys: true })
    const source = makeSource(agent)
    directories.find(source, keyId, true)
    await directories.settled()
    return directories.find(source, keyId, false).state
  }
  const own = 'https://signature-agent.test'
  t.equal(await fetchState(own, headers), 'found', 'the vector of the draft')
  t.equal(await fetchState(own, {}), 'found', 'an answer that is not signed')
  t.equal(await fetchState('https://copy.example', headers), 'unknown', 'another host’s directory')
  t.equal(
    await fetchState(own, { ...headers, 'signature-input': headers['signature-input'].replace('488', '188') }),
    'unknown',
  )
  const two = JSON.stringify({ keys: [...JSON.parse(text).keys, other.jwk] })
  t.equal(await fetchState(own, headers, TEST_KEY_ID, two), 'unknown', 'the digest is of another body')
  const bound = { ...headers, 'content-encoding': 'gzip' }
  t.equal(await fetchState(own, bound, TEST_KEY_ID, two), 'found')
  t.equal(await fetchState(own, bound, other.id, two), 'absent', 'a key that did not sign')
})

t.test('a signed directory may have a digest of either active algorithm, and of both each must fit', async (t) => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const signer = createSigner(jwk)
  const text = JSON.stringify(signer.directory)
  const computeDigest = (algorithm: string, of = text) => createHash(algorithm).update(of).digest('base64')
  const fetchState = async (digest: string) => {
    const url = new URL(SOURCE.url)
    const request = { fields: ['content-digest', digest], answeredTo: url }
    const components = '"@authority";req "content-digest"'
    const times = { created: NOW_S - 10, expires: NOW_S + 300 }
    const [, input = '', , signature = ''] = signer.sign({
      request,
      label: 'd',
      components,
      nonce: 'x',
      tag: 'http-message-signatures-directory',
      ...times,
    })
    const headers = { 'content-digest': digest, 'signature-input': input, signature }
    const outbound = {
      fetch: async (): Promise<FetchAnswer> => ({ state: 'answered', status: 200, headers, body: bytes(text) }),
    }
    const directories = createKeyDirectories({ clock: createFakeClock('2026-11-21T12:00:00Z'), outbound })
    directories.find(SOURCE, '', true)
    await directories.settled()
    return directories.find(SOURCE, readKey(jwk)?.id ?? '', false).state
  }
  const [short, long] = [`sha-256=:${computeDigest('sha256')}:`, `sha-512=:${computeDigest('sha512')}:`]
  t.same(await Promise.all([short, long, `${short}, ${long}`].map(fetchState)), ['found', 'found', 'found'])
  const wrong = [`${short}, sha-512=:${computeDigest('sha512', 'x')}:`, 'sha-512=1', 'md5=:AA==:', '(']
  t.same(await Promise.all(wrong.map(fetchState)), ['unknown', 'unknown', 'unknown', 'unknown'])
})

t.test('documents that are no directory of keys are none', async (t) => {
  const { jwk } = newKey()
  const many = Array.from({ length: MAX_KEYS + 1 }, () => jwk)
  for (const document of [
    { keys: many },
    { keys: 'x' },
    [],
    null as unknown as object,
    '['.repeat(60_000),
    `${'['.repeat(30_000)}${']'.repeat(30_000)}`,
    '{"__proto__":{"keys":[]}}',
  ]) {
    const { directories } = directoriesWith({ [SOURCE.url]: [document] })
    directories.find(SOURCE, 'x', true)
    await directories.settled()
    t.equal(directories.find(SOURCE, 'x', false).state, 'unknown', JSON.stringify(document)?.slice(0, 40))
  }
  for (const key of [
    null,
    1,
    'x',
    {},
    { kty: 'oct', k: 'x' },
    { kty: 'OKP', crv: 'X25519', x: 'x' },
    { kty: 'EC', crv: 'P-256' },
  ]) {
    t.equal(readKey(key), undefined, JSON.stringify(key))
  }
  t.equal(readKey({ ...jwk, x: 'A'.repeat(5000) }), undefined)
  t.equal(readKey(JSON.parse(`{"__proto__":${JSON.stringify(jwk)}}`)), undefined)
})

t.test('a key is what its thumbprint is, not what its directory calls it', async (t) => {
  const { jwk, id } = newKey()
  const { directories } = directoriesWith({ [SOURCE.url]: [{ keys: [{ ...jwk, kid: 'liar' }] }] })
  directories.find(SOURCE, 'liar', true)
  await directories.settled()
  t.equal(directories.find(SOURCE, 'liar', false).state, 'absent')
  t.equal(directories.find(SOURCE, id, false).state, 'found')
  // RFC 7638 section 3.1 and RFC 8037 appendix A.3 contain this example.
  t.equal(
    readKey({ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })?.id,
    'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  )
})

t.test('the keys that RFC 9421 prints are refused unless they are asked for', async (t) => {
  t.ok(TEST_KEY_IDS.includes(TEST_KEY_ID))
  t.match(createVerifier().verifier.look(makeRequest(signedFields())), { outcome: 'verified' })
  const production = createVerifier({}, [TEST_ED25519], { testKeys: false })
  t.match(production.verifier.look(makeRequest(signedFields())), { outcome: 'unverified', forged: false })
})

t.test('a key out of its time verifies nothing, in seconds or milliseconds', async (t) => {
  const now = Date.parse('2026-11-21T12:00:00Z') / 1000
  const outcome = (bounds: object) =>
    createVerifier({}, [{ ...TEST_ED25519, ...bounds }]).verifier.look(makeRequest(signedFields()))?.outcome
  t.equal(outcome({ nbf: now - 1, exp: now + 1 }), 'verified')
  t.equal(outcome({ nbf: (now - 1) * 1000, exp: (now + 1) * 1000 }), 'verified')
  t.equal(outcome({ nbf: now + 1 }), 'invalid')
  t.equal(outcome({ exp: now }), 'invalid')
  t.equal(outcome({ exp: (now - 1) * 1000 }), 'invalid')
})

t.test('cards hold keys or name their place, of their own site', async (t) => {
  const url = 'https://agent.example/card'
  const card = makeSource(url, 'cimd')
  const { jwk, id } = newKey()
  const place = 'https://agent.example/jwks.json'
  const stateFor = async (answers: Parameters<typeof directoriesWith>[0]) => {
    const { directories } = directoriesWith(answers)
    directories.find(card, id, true)
    await directories.settled()
    return directories.find(card, id, false).state
  }
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
  const { asked, directories } = directoriesWith({})
  directories.find(source, 'x', true)
  await directories.settled()
  t.match(asked, [{ url: /^http:/ }])
  t.notOk(asked[0]?.allowHttp)
})

t.test("nothing but a named agent's own place is fetched, though strangers name others", async (t) => {
  const asked: string[] = []
  const outbound = {
    fetch: async ({ url }: FetchRequest): Promise<FetchAnswer> => {
      asked.push(url)
      return { state: 'failed', reason: 'off' }
    },
  }
  const elsewhere = signedFields({ agent: `"${AGENT}/upload.json";type=jwks_uri` })
  const look = (agents: readonly string[], discover: boolean, fields = elsewhere) =>
    createVerifier({ agents, discover }, [], { outbound }).verifier.look(makeRequest(fields))
  for (const discover of [false, true])
    t.match(look([], discover), { outcome: 'unverified', detail: /not a trusted agent/ })
  t.same(asked, [])
  look([`${AGENT}/upload.json`], false)
  look([], false, signedFields())
  t.same(asked, [`${AGENT}/upload.json`, `${AGENT}/.well-known/http-message-signatures-directory`])
})

t.test('only agents that are named are asked, unless discovery is on', async (t) => {
  const fields = signedFields({ agent: '"https://stranger.example"' })
  const asked: string[] = []
  const outbound = {
    fetch: async ({ url }: FetchRequest): Promise<FetchAnswer> => {
      asked.push(url)
      return { state: 'failed', reason: 'off' }
    },
  }
  createVerifier({}, [], { outbound }).verifier.look(makeRequest(fields))
  t.same(asked, [])
  createVerifier({}, [], { outbound }).verifier.lookAtDescribed(signedFields())
  t.same(asked, [], 'nor for a tale of one that is')
  createVerifier({ discover: true }, [], { outbound }).verifier.look(makeRequest(fields))
  createVerifier({ agents: ['https://stranger.example'] }, [], { outbound }).verifier.look(makeRequest(fields))
  createVerifier({}, [], { outbound }).verifier.look(makeRequest(signedFields()))
  t.match(asked, [/stranger/, /stranger/, /chatgpt/])
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
      const text = url.startsWith(AGENT) ? own : '{"keys":[]}'
      return { state: 'answered', status: 200, headers: {}, body: bytes(text) }
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
  directories.find(SOURCE, real.id, true)
  await directories.settled()
  t.equal(directories.find(SOURCE, real.id, false).state, 'found')
  t.equal(directories.find(SOURCE, own.id, false).state, 'found')
})
