import t from 'tap'
import { buildJwks, draftFirstKey, draftSuccession, readKeys, signCheckpoint } from '../src/signing.ts'
import { append, createMemoryLedger, madeSigner } from '../src/testing/index.ts'
import { followSuccession, parseJwks, thumbprint } from '../src/verify/keys.ts'
import { dssePreimage, isSignedBy, noteKeyHash, noteVerifierKey, parseCheckpoint } from '../src/verify/note.ts'

const ORIGIN = 'sallyport/0123456789abcdef'

t.test('the example of the signed-note specification verifies', async (t) => {
  const vkey = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
  const publicKey = Buffer.from('AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k', 'base64').subarray(1)
  t.equal(noteKeyHash('example.com/foo', publicKey), '530d903a')
  t.equal(noteVerifierKey('example.com/foo', publicKey), vkey)
  const line = 'Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM='
  const bytes = Buffer.from(line, 'base64')
  const note = {
    origin: '',
    size: 0,
    root: Buffer.alloc(32),
    body: 'This is an example message.\n',
    signatures: [{ name: 'example.com/foo', keyHash: bytes.toString('hex', 0, 4), signature: bytes.subarray(4) }],
  }
  t.equal(isSignedBy(note, 'example.com/foo', publicKey), true)
  t.equal(isSignedBy({ ...note, body: 'This is another message.\n' }, 'example.com/foo', publicKey), false)
  t.equal(isSignedBy(note, 'example.com/bar', publicKey), false)
})

t.test('a signed checkpoint is read as it was written, and one byte off is not', async (t) => {
  const signer = madeSigner(1)
  const { note } = await signCheckpoint(ORIGIN, 't/a', 7, Buffer.alloc(32, 7), signer)
  const read = parseCheckpoint(note)
  t.match(read, { origin: `${ORIGIN}/t/a`, size: 7 })
  t.equal(read && isSignedBy(read, ORIGIN, signer.publicKey), true)
  t.equal(read && isSignedBy(read, ORIGIN, madeSigner(2).publicKey), false)
  for (const text of [
    ...['8', '07', '-7', '9007199254740993'].map((size) => note.replace('\n7\n', `\n${size}\n`)),
    note.replace('\n\n', '\nextension\n\n'),
    note.replace('\u2014', '-'),
    note.slice(0, -1),
    note.split('\n\n')[0] ?? '',
    '',
  ]) {
    const parsed = parseCheckpoint(text)
    t.equal(parsed !== undefined && isSignedBy(parsed, ORIGIN, signer.publicKey), false, JSON.stringify(text))
  }
  const cosigned = parseCheckpoint(`${note}\u2014 witness.example ${Buffer.alloc(80).toString('base64')}\n`)
  t.equal(cosigned && isSignedBy(cosigned, ORIGIN, signer.publicKey), true, 'unknown signatures are passed over')
})

t.test('a DSSE preimage is that of its specification', async (t) => {
  const preimage = dssePreimage('http://example.com/HelloWorld', Buffer.from('hello world'))
  t.equal(preimage.toString(), 'DSSEv1 29 http://example.com/HelloWorld 11 hello world')
})

t.test('a thumbprint is that of RFC 8037, appendix A.3', async (t) => {
  const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'
  t.equal(thumbprint(Buffer.from(x, 'base64url')), 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k')
})

t.test('keys have their intervals, and each is signed over to by the one before', async (t) => {
  const store = createMemoryLedger(ORIGIN)
  const [first, second, third] = [madeSigner(1), madeSigner(2), madeSigner(3)]
  await append(store, [draftFirstKey(first.publicKey, 1000)])
  await append(store, [await draftSuccession(ORIGIN, first, second.publicKey, 5500, false)])
  await append(store, [await draftSuccession(ORIGIN, second, third.publicKey, 9000, true)])
  const keys = readKeys(await store.records('keys', 0, 10))
  const published = buildJwks(ORIGIN, keys)
  t.match(published.keys, [
    { kid: thumbprint(first.publicKey), nbf: 1, exp: 6, alg: 'EdDSA', vkey: noteVerifierKey(ORIGIN, first.publicKey) },
    { kid: thumbprint(second.publicKey), nbf: 6, exp: 9, revoked_at: 9, replaces: thumbprint(first.publicKey) },
    { kid: thumbprint(third.publicKey), nbf: 9, replaces: thumbprint(second.publicKey) },
  ])
  t.notOk('exp' in (published.keys[2] ?? {}))
  const read = parseJwks(JSON.parse(JSON.stringify(published)))
  t.same(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(keys)), 'read as they were written')

  const only = { kid: thumbprint(first.publicKey), publicKey: first.publicKey, notBefore: 1 }
  const kept = parseJwks(buildJwks(ORIGIN, [only]))
  const kids = (believed: typeof read) => believed.map(({ kid }) => kid)
  t.same(kids(followSuccession(kept, read, `${ORIGIN}/keys`)), kids(read).slice(0, 2), 'not through a key given up')
  t.same(kids(followSuccession(kept, read, 'another/keys')), kids(kept), 'a takeover of another ledger is none')
  const stranger = read.map((key) => (key.succession ? { ...key, publicKey: madeSigner(9).publicKey } : key))
  t.same(kids(followSuccession(kept, stranger, `${ORIGIN}/keys`)), kids(kept), 'nor one of another key')
})
