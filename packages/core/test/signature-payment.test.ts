import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { paymentSourceOf } from '../src/agent/signature/payment-profile.ts'
import { NOW_S, requestOf, type Signing, signedFields, TEST_ED25519, verifierOf } from './signed-requests.ts'

const NETWORK = 'https://keys.cards.example/agents.json'
const PAYER: Signing = {
  components: '"@authority" "@path"',
  agent: '',
  tag: 'agent-payer-auth',
  nonce: 'n1',
  label: 'sig2',
  alg: 'ed25519',
}

/** A verifier that trusts one payment network, whose keys are these. */
function shop(keys: readonly object[] = [TEST_ED25519]) {
  const bench = verifierOf({ payment: [NETWORK] })
  bench.directories.put(paymentSourceOf(NETWORK), { keys })
  return (signing: Signing) => bench.verifier.look(requestOf(signedFields(signing)))
}

t.test('an agent of a payment network is known by the network’s key, for what its tag says', async (t) => {
  const look = shop()
  t.match(look(PAYER), {
    outcome: 'verified',
    agent: NETWORK,
    replay: 'checked',
    replayable: true,
    detail: /Signed to pay, by an agent of https:\/\/keys\.cards\.example/,
  })
  t.match(look({ ...PAYER, tag: 'agent-browser-auth', nonce: 'n2' }), { outcome: 'verified', detail: /to browse/ })
  t.match(look(PAYER), { outcome: 'invalid', detail: /nonce was used before/ }, 'a copy')
  t.match(
    look({ ...PAYER, nonce: 'n3', pathWithQuery: true }),
    { outcome: 'verified' },
    'as the networks’ examples sign',
  )
})

t.test('the profile asks more than other signatures of agents', async (t) => {
  const look = shop()
  const { nonce: _, ...unnumbered } = PAYER
  const rows: readonly (readonly [Signing, RegExp])[] = [
    [{ ...PAYER, created: NOW_S - 10, expires: NOW_S + 471 }, /more than eight minutes/],
    [unnumbered, /nonce is missing/],
    [{ ...PAYER, components: '"@authority"' }, /does not cover the path/],
    [{ ...PAYER, components: '"@path"' }, /neither @authority/],
    [{ ...PAYER, expires: NOW_S - 1 }, /expired/],
    [{ ...PAYER, alg: 'hmac-sha256' }, /algorithm is not accepted/],
  ]
  for (const [signing, why] of rows) t.match(look(signing), { outcome: 'invalid', forged: false, detail: why })
  t.match(
    look({ ...PAYER, expires: NOW_S + 470, created: NOW_S - 10 }),
    { outcome: 'verified' },
    'eight minutes are not',
  )
})

t.test('a signature that is not by the network’s key proves nothing and accuses nobody', async (t) => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const look = shop()
  t.match(look({ ...PAYER, key }), { outcome: 'unverified', forged: false, detail: /no payment network/ })
  const asIf = shop([{ ...TEST_ED25519, kid: 'agent-7' }])
  t.match(asIf({ ...PAYER, key, keyId: 'agent-7' }), {
    outcome: 'invalid',
    forged: false,
    detail: /not made by the key/,
  })
  t.match(asIf({ ...PAYER, keyId: 'agent-7', nonce: 'n9' }), { outcome: 'verified' }, 'a network names its keys')
  const { verifier } = verifierOf({ payment: [NETWORK] })
  t.match(verifier.look(requestOf(signedFields(PAYER))), { outcome: 'unverified', detail: /not known yet/ })
  t.equal(
    verifierOf().verifier.look(requestOf(signedFields(PAYER))),
    undefined,
    'without a network it is between others',
  )
})

t.test('two networks may call keys of their own the same', async (t) => {
  const other = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const places = ['https://one.example', 'https://two.example']
  const { verifier, directories } = verifierOf({ payment: places })
  for (const [at, key] of [other, TEST_ED25519].entries()) {
    directories.put(paymentSourceOf(places[at] as string), { keys: [{ ...key, kid: 'primary' }] })
  }
  const look = (signing: Signing) => verifier.look(requestOf(signedFields({ ...PAYER, keyId: 'primary', ...signing })))
  t.match(look({}), { outcome: 'verified', agent: 'https://two.example' })
  t.match(look({ key: other, nonce: 'n2' }), { outcome: 'verified', agent: 'https://one.example' })
  const third = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  t.match(look({ key: third, nonce: 'n3' }), { outcome: 'invalid', forged: false, agent: 'https://one.example' })
})

t.test('RSA with SHA-256 is the networks’ alone', async (t) => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  t.match(shop([rsa])({ ...PAYER, key: rsa, alg: 'rsa-pss-sha256' }), { outcome: 'verified' })
  t.match(shop([rsa])({ ...PAYER, key: rsa, alg: 'rsa-pss-sha512' }), { outcome: 'verified' })
  const { verifier } = verifierOf({}, [rsa])
  t.match(verifier.look(requestOf(signedFields({ key: rsa, alg: 'rsa-pss-sha256' }))), { outcome: 'invalid' })
})

t.test('a network is named by an origin or by the URL of its keys', async (t) => {
  t.match(paymentSourceOf('https://cards.example'), {
    url: 'https://cards.example/.well-known/http-message-signatures-directory',
    identifier: 'https://cards.example',
  })
  t.match(paymentSourceOf(`${NETWORK}?v=1`), { url: `${NETWORK}?v=1`, identifier: NETWORK })
})
