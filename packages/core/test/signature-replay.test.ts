import t from 'tap'
import { findKeySource, type KeySource } from '../src/agent/signature/key-source.ts'
import { createReplayMemory } from '../src/agent/signature/replay.ts'
import { createVerifier, makeRequest, type Signing, signedFields, TEST_ED25519 } from './signed-requests.ts'

const KNOWN: KeySource = { url: 'https://known.example/keys', identifier: 'https://known.example', form: 'keys' }
const STRANGER: KeySource = { ...KNOWN, identifier: 'https://stranger.example', stranger: true }
const OTHER_STRANGER: KeySource = { ...STRANGER, identifier: 'https://other.example' }

function look(signing: Signing = {}) {
  return createVerifier().verifier.look(makeRequest(signedFields(signing)))
}

t.test('a nonce serves once; what cannot be remembered is said', async (t) => {
  const { verifier, clock } = createVerifier()
  const fields = signedFields({ nonce: 'abc' })
  t.match(verifier.lookAtDescribed(fields), { outcome: 'verified', replay: 'unchecked' }, 'a tale uses up no nonce')
  t.match(verifier.look(makeRequest(fields)), { outcome: 'verified', replay: 'checked' })
  t.match(verifier.look(makeRequest(fields)), { outcome: 'invalid', forged: false, detail: /used before/ })
  t.match(verifier.look(makeRequest(signedFields({ nonce: 'abd' }))), { outcome: 'verified' })
  t.match(look(), { replay: 'unchecked' }, 'without a nonce a signature may be sent again')
  clock.advance(300_000)
  t.match(verifier.look(makeRequest(fields)), { outcome: 'invalid', detail: /expired/ })
  const tiny = createVerifier({ replay: createReplayMemory(1) }).verifier
  t.match(tiny.look(makeRequest(signedFields({ nonce: '1' }))), { replay: 'checked' })
  for (const nonce of ['2', '1']) {
    t.match(
      tiny.look(makeRequest(signedFields({ nonce }))),
      { outcome: 'unverified', forged: false, detail: /sent more nonces than the replay memory holds/ },
      'no copy passes a full memory',
    )
  }
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
  const outcomes = Array.from(
    { length: 5 },
    (_, at) => verifier.look(makeRequest(signedFields({ nonce: `s${at}`, agent: `"${strange}"` })))?.outcome,
  )
  t.same(outcomes, ['verified', 'verified', 'verified', 'unverified', 'unverified'])
  t.match(verifier.look(makeRequest(signedFields({ nonce: 'b' }))), { outcome: 'verified', replay: 'checked' })
  for (const fields of [first, signedFields({ nonce: 'b' })]) {
    t.match(verifier.look(makeRequest(fields)), { outcome: 'invalid', detail: /used before/ })
  }
})
