import t from 'tap'
import { MAX_COMPONENTS } from '../src/agent/signature/judged.ts'
import { findKeySource, type KeySource } from '../src/agent/signature/key-source.ts'
import type { SignedRequest } from '../src/agent/signature/message.ts'
import { createReplayMemory } from '../src/agent/signature/replay.ts'
import { buildBase, createVerifier, makeRequest, signedFields, TEST_ED25519 } from './signed-requests.ts'

t.test('nobody is accused by the query of a described request, which is not known', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@query" "signature-agent"' })
  t.match(verifier.look(makeRequest(fields)), { outcome: 'verified' })
  t.match(verifier.lookAtDescribed(fields), { outcome: 'unverified', forged: false })
})

t.test('nobody is accused by a scheme that no trusted proxy names, or where any proxy shows itself', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@scheme" "signature-agent"' })
  const look = (trusted: boolean, ...more: readonly string[]) =>
    verifier.look({ ...makeRequest([...fields, ...more]), scheme: 'http', trusted })
  const behind = (scheme: string) => look(true, 'X-Forwarded-Proto', scheme)
  for (const scheme of ['HTTPS', 'https, http', 'wss']) t.match(behind(scheme), { outcome: 'verified' }, scheme)
  for (const scheme of ['gopher', 'constructor', ''])
    t.match(behind(scheme), { outcome: 'unverified', forged: false }, scheme)
  t.match(behind('http'), { outcome: 'invalid', forged: true }, 'a scheme that is known')
  t.match(look(false), { outcome: 'invalid', forged: true })
  for (const name of ['Via', 'X-Real-IP', 'X-Forwarded-Proto', 'CF-Connecting-IP', 'Forwarded', 'X-Forwarded-For'])
    t.match(look(false, name, 'x'), { outcome: 'invalid', forged: false }, name)
})

t.test('a target in absolute form is the path that it names', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields({ components: '"@authority" "@path" "@query" "@target-uri" "signature-agent"' })
  for (const site of ['https://example.com', 'HTTPS://EXAMPLE.COM:443'])
    t.match(verifier.look({ ...makeRequest(fields), target: `${site}/path?q=1` }), { outcome: 'verified' }, site)
  const elsewhere = { ...makeRequest(fields), target: 'https://example.com/other?q=1' }
  t.match(verifier.look(elsewhere), { outcome: 'invalid', forged: true })
  const bare = ['Signature-Input', 's=("@path" "@query" "@request-target")', 'Signature', 's=:AA==:']
  const found = buildBase(bare, { ...makeRequest(bare), target: 'http://example.com?a' })
  t.match(found, '"@path": /\n"@query": ?a\n"@request-target": http://example.com?a\n')
})

/** A request that counts how often its members are read. */
function countingRequest(request: SignedRequest) {
  const reads: PropertyKey[] = []
  const get = (of: SignedRequest, name: PropertyKey): unknown => {
    if (name === 'fields' || name === 'target') reads.push(name)
    return Reflect.get(of, name)
  }
  return { counting: new Proxy(request, { get }), reads }
}

t.test('a request is read once, however many parts of it a signature covers', async (t) => {
  const names = Array.from({ length: 250 }, (_, at) => `n${at}`)
  const parameters = names.map((name) => `"@query-param";name="${name}"`)
  const members = names.map((name) => `"x";key="${name}"`)
  for (const [what, components] of Object.entries({ parameters, members })) {
    const fields = ['Signature-Input', `s=(${components.join(' ')})`, 'Signature', 's=:AA==:', 'X', names.join(', ')]
    const { counting, reads } = countingRequest({ ...makeRequest(fields), target: `/?${names.join('&')}` })
    t.equal(buildBase(fields, counting)?.split('\n').length, names.length + 1, what)
    t.ok(reads.length <= 4, `${what}: ${reads.join()}`)
  }
})

t.test('a signature of more components than any agent covers is not looked at', async (t) => {
  const { verifier } = createVerifier()
  const outcome = (count: number) => {
    const names = Array.from({ length: count }, (_, at) => `"@query-param";name="n${at}"`)
    const target = `/?${names.map((_, at) => `n${at}`).join('&')}`
    const fields = signedFields({ components: ['"@authority"', '"signature-agent"', ...names].join(' '), target })
    return verifier.look({ ...makeRequest(fields), target })
  }
  t.match(outcome(MAX_COMPONENTS - 2), { outcome: 'verified' })
  t.match(outcome(MAX_COMPONENTS - 1), { outcome: 'invalid', forged: false, detail: /more than 64 components/ })
})

t.test('a nonce is remembered in a few letters, however long it is', async (t) => {
  const ids: string[] = []
  const replay = {
    see(_agent: unknown, id: string) {
      ids.push(id)
      return ids.indexOf(id) === ids.length - 1 ? ('new' as const) : ('seen' as const)
    },
  }
  const { verifier } = createVerifier({ replay })
  const long = signedFields({ nonce: 'n'.repeat(7_000) })
  t.match(verifier.look(makeRequest(long)), { outcome: 'verified', replay: 'checked' })
  t.match(verifier.look(makeRequest(long)), { outcome: 'invalid', detail: /used before/ })
  t.match(verifier.look(makeRequest(signedFields({ nonce: `${'n'.repeat(6_999)}m` }))), { outcome: 'verified' })
  t.ok(Math.max(...ids.map(({ length }) => length)) <= 64)
})

const KNOWN: KeySource = { url: 'https://known.example/keys', identifier: 'https://known.example', form: 'keys' }
const STRANGER: KeySource = { ...KNOWN, identifier: 'https://stranger.example', stranger: true }
const OTHER_STRANGER: KeySource = { ...STRANGER, identifier: 'https://other.example' }

t.test('a nonce serves once; what cannot be remembered is said', async (t) => {
  const { verifier, clock } = createVerifier()
  const fields = signedFields({ nonce: 'abc' })
  t.match(verifier.lookAtDescribed(fields), { outcome: 'verified', replay: 'unchecked' }, 'a tale uses up no nonce')
  t.match(verifier.look(makeRequest(fields)), { outcome: 'verified', replay: 'checked' })
  t.match(verifier.look(makeRequest(fields)), { outcome: 'invalid', forged: false, detail: /used before/ })
  t.match(verifier.look(makeRequest(signedFields({ nonce: 'abd' }))), { outcome: 'verified' })
  const nameless = createVerifier().verifier.look(makeRequest(signedFields()))
  t.match(nameless, { replay: 'unchecked' }, 'without a nonce a signature may be sent again')
  clock.advance(300_000)
  t.match(verifier.look(makeRequest(fields)), { outcome: 'invalid', detail: /expired/ })
  const tiny = createVerifier({ replay: createReplayMemory(1) }).verifier
  t.match(tiny.look(makeRequest(signedFields({ nonce: '1' }))), { replay: 'checked' })
  const detail = /sent more nonces than the replay memory holds/
  for (const nonce of ['2', '1'])
    t.match(tiny.look(makeRequest(signedFields({ nonce }))), { outcome: 'unverified', forged: false, detail })
})

t.test('a replay memory makes room of what has expired', async (t) => {
  const memory = createReplayMemory(2)
  const see = (id: string, until: number, now: number) => memory.see(KNOWN, id, until, now)
  t.same([see('a', 10, 0), see('b', 20_000, 0), see('a', 10, 5)], ['new', 'new', 'seen'])
  t.equal(see('c', 99_999, 10_001), 'new', 'a has expired')
  t.same([see('d', 99_999, 10_002), see('a', 99_999, 99_998)], ['full', 'full'], 'until its copies have expired')
  t.equal(see('a', 199_999, 99_999), 'new')
})

t.test('an agent that fills the replay memory is the only one whose signatures are not remembered', async (t) => {
  const memory = createReplayMemory(4)
  const see = (agent: KeySource, id: string) => memory.see(agent, id, 1_000, 0)
  t.same([see(KNOWN, '1'), see(KNOWN, '2')], ['new', 'new'])
  const strangers = ['1', '2', '3'].map((id) => see(STRANGER, id))
  t.same([...strangers, see(OTHER_STRANGER, '1'), see(OTHER_STRANGER, '2')], ['new', 'new', 'new', 'new', 'new'])
  t.same([see(STRANGER, '1'), see(STRANGER, '4')], ['full', 'full'], 'the one with most')
  t.same([see(OTHER_STRANGER, '1'), see(OTHER_STRANGER, '2')], ['seen', 'seen'])
  t.same([see(KNOWN, '1'), see(KNOWN, '3'), see(KNOWN, '4')], ['seen', 'new', 'new'], 'known agents are apart')
})

t.test('a stranger’s signatures do not let a copy of a known agent’s pass', async (t) => {
  const strange = 'https://stranger.example'
  const { verifier, directories } = createVerifier({ discover: true, replay: createReplayMemory(3) })
  const source = findKeySource({ uri: strange, type: 'directory' }, new Set())
  if (source !== undefined) directories.put({ ...source, stranger: true }, { keys: [TEST_ED25519] })
  const first = signedFields({ nonce: 'a' })
  t.match(verifier.look(makeRequest(first)), { outcome: 'verified', replay: 'checked' })
  const lookAt = (nonce: number) =>
    verifier.look(makeRequest(signedFields({ nonce: `s${nonce}`, agent: `"${strange}"` })))
  const outcomes = [1, 2, 3, 4, 5].map((nonce) => lookAt(nonce)?.outcome)
  t.same(outcomes, ['verified', 'verified', 'verified', 'unverified', 'unverified'])
  t.match(verifier.look(makeRequest(signedFields({ nonce: 'b' }))), { outcome: 'verified', replay: 'checked' })
  for (const fields of [first, signedFields({ nonce: 'b' })])
    t.match(verifier.look(makeRequest(fields)), { outcome: 'invalid', detail: /used before/ })
})
