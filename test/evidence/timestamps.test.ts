import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { openTimestamps } from '@sallyport/ledger/timestamp'
import t from 'tap'
import { type Authority, makeAuthority, NO_OPENSSL } from './time-authority.ts'

const DATA = Buffer.from('sallyport/0123456789abcdef/t/site\n3\nAAAA\n\n\u2014 a note\n')

/** Has OpenSSL verify a response about DATA, or about a request. */
function verify({ openssl, file }: Authority, response: Uint8Array, ...about: readonly string[]): Promise<string> {
  writeFileSync(file('data'), DATA)
  writeFileSync(file('a.tsr'), response)
  const asked = about.length === 0 ? ['-data', 'data'] : about
  return openssl('ts', '-verify', ...asked, '-in', 'a.tsr', '-CAfile', 'root.pem')
}

/** What is found of a response about DATA, with the root of an authority as the one that is trusted. */
async function read(authority: Authority, response: Uint8Array, nonce?: Uint8Array) {
  return (await openTimestamps(authority.root)).read(response, DATA, nonce)
}

const bad = (reason: RegExp) => ({ state: 'bad', reason })

t.test('OpenSSL answers our request, and both say that the answer is good', { skip: NO_OPENSSL }, async (t) => {
  const authority = await makeAuthority(t)
  const timestamps = await openTimestamps(authority.root)
  const { bytes, nonce } = timestamps.query(DATA, randomBytes(8))
  writeFileSync(authority.file('ours.tsq'), bytes)
  const asked = await authority.openssl('ts', '-query', '-in', 'ours.tsq', '-text')
  t.match(asked, /Hash Algorithm: sha256[\s\S]*Nonce: 0x[\s\S]*Certificate required: yes/)
  const response = await authority.reply(bytes)
  t.match(await verify(authority, response), /OK/)
  t.match(await verify(authority, response, '-queryfile', 'ours.tsq'), /OK/)
  const found = await timestamps.read(response, DATA, nonce)
  t.match(found, { state: 'good', signer: 'tsa' })
  const said = await authority.openssl('ts', '-reply', '-in', 'a.tsr', '-text')
  const [, stamped = ''] = /Time stamp: (.+)/.exec(said) ?? []
  // The authority claims to be exact to 2.25 s.
  t.equal('time' in found && Date.parse(found.time), Date.parse(stamped) + 2_250)
  const withoutRoots = await (await openTimestamps()).read(response, DATA, nonce)
  t.match(withoutRoots, { state: 'unknown', signer: 'tsa' })
})

t.test('a response that is not good is said to be so, and OpenSSL refuses it too', { skip: NO_OPENSSL }, async (t) => {
  const authority = await makeAuthority(t)
  const other = await makeAuthority(t, 'Other Root')
  await authority.issue('early', 'time', '400101000000Z', '410101000000Z')
  await authority.issue('late', 'time', '200101000000Z', '210101000000Z')
  const query = await authority.query(DATA)
  const good = await authority.reply(query)
  t.match(await read(authority, good), { state: 'good' })
  const flipped = Buffer.from(good)
  flipped[flipped.length - 3] = (flipped[flipped.length - 3] ?? 0) ^ 1
  const cases: readonly (readonly [string, Uint8Array, object])[] = [
    ['other bytes', await authority.reply(await authority.query(Buffer.from('other'))), bad(/other bytes than this/)],
    ['a changed signature', flipped, bad(/signature is not valid/)],
    ['a refusal', await authority.reply(query, { digests: 'other' }), bad(/refused with status 2/)],
    ['a certificate of later', await authority.reply(query, { signer: 'early' }), bad(/not valid before 2040/)],
    ['a certificate of before', await authority.reply(query, { signer: 'late' }), bad(/had expired on 2021/)],
    ['an authority that nobody trusts', await other.reply(query), { state: 'untrusted', signer: 'tsa' }],
    ['garbage', Buffer.from('<html>no</html>'), bad(/cannot be read/)],
    ['nothing', Buffer.alloc(0), bad(/cannot be read/)],
    ['half of it', good.subarray(0, good.length / 2), bad(/cannot be read/)],
    ['too much', Buffer.alloc(70_000), bad(/longer than 65536 bytes/)],
  ]
  const sha512 = await authority.reply(await authority.query(DATA, '-sha512'), { digests: 'other' })
  t.match(await read(authority, sha512), bad(/other bytes/), 'another digest than we ask for')
  for (const [name, response, wanted] of cases) {
    t.match(await read(authority, response), wanted, name)
    await t.rejects(verify(authority, response), name)
  }
})

t.test('an answer repeats the nonce of its request', { skip: NO_OPENSSL }, async (t) => {
  const authority = await makeAuthority(t)
  const timestamps = await openTimestamps(authority.root)
  const { nonce } = timestamps.query(DATA, randomBytes(8))
  const [replayed, without] = [await authority.query(DATA), await authority.query(DATA, '-no_nonce')]
  for (const query of [replayed, without]) {
    t.match(await read(authority, await authority.reply(query), nonce), bad(/does not repeat the nonce/))
  }
})

/** Signs the content of a good response with another certificate, as one who has such a key could. */
async function resign({ openssl, file }: Authority, good: Uint8Array, signer: string, ...options: readonly string[]) {
  writeFileSync(file('good.tsr'), good)
  await openssl('ts', '-reply', '-in', 'good.tsr', '-token_out', '-out', 'token')
  await openssl('cms', '-verify', '-in', 'token', '-inform', 'DER', '-noverify', '-out', 'content', '-binary')
  const kind = ['-econtent_type', '1.2.840.113549.1.9.16.1.4', '-nodetach', '-binary', '-outform', 'DER']
  const key = ['-signer', `${signer}.pem`, '-inkey', `${signer}.key`, '-md', 'sha256']
  await openssl('cms', '-sign', '-in', 'content', ...kind, ...key, ...options, '-out', 'resigned')
  const token = readFileSync(file('resigned'))
  // A TimeStampResp has a status of 0, and the token.
  const parts = Buffer.concat([Buffer.from([0x30, 0x03, 0x02, 0x01, 0x00]), token])
  return Buffer.concat([Buffer.from([0x30, 0x82, parts.length >> 8, parts.length & 0xff]), parts])
}

t.test(
  'a certificate for the web is none for timestamps, and the token names its own',
  { skip: NO_OPENSSL },
  async (t) => {
    const authority = await makeAuthority(t)
    await authority.issue('web', 'web')
    const good = await authority.reply(await authority.query(DATA))
    const again = await resign(authority, good, 'tsa', '-cades')
    t.match(await read(authority, again), { state: 'good', signer: 'tsa' }, 'signed again by the right one')
    t.match(await verify(authority, again), /OK/)
    const ofWeb = await read(authority, await resign(authority, good, 'web', '-cades'))
    t.match(ofWeb, bad(/not one for timestamps \(critical EKU timeStamping\)/))
    t.match(await read(authority, await resign(authority, good, 'tsa')), bad(/does not name its certificate/))
  },
)

t.test('a file of roots that holds none is refused', async (t) => {
  await t.rejects(openTimestamps('no certificate'), { message: 'contains no certificate in PEM' })
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  await t.rejects(openTimestamps(broken), { message: 'holds a certificate that cannot be read' })
})
