import fc from 'fast-check'
import t from 'tap'
import { placeBatch } from '../src/batch.ts'
import { canonicalText, type Statement } from '../src/index.ts'
import { type Draft, draftAttestation } from '../src/record.ts'
import { MADE_ATTESTATION } from '../src/testing/index.ts'
import { parseAttestation, parseRecord } from '../src/verify/record.ts'
import { canonicalRecord } from '../src/verify/shape.ts'

// Texts are words, and any characters at all: quotes, controls, line separators.
const ascii = fc.array(fc.nat(0x7f)).map((codes) => String.fromCharCode(...codes))
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), ascii)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const { policy, basis } = MADE_ATTESTATION
const attestations: fc.Arbitrary<Statement> = fc.record({
  claim: text,
  finding: fc.record({
    networkOrigin: text,
    anonymized: fc.boolean(),
    method: text,
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    country: optional(text),
    asn: optional(fc.nat(2 ** 32 - 1)),
  }),
  policy: fc.record({ id: text, sha256: fc.constant(policy.sha256), action: text, reason: text }),
  basis: fc
    .record({ addressFrom: text, engine: text, degraded: optional(text) })
    .map((others) => ({ ...basis, ...others })),
})

const SUBJECT = { address: '192.0.2.1', salt: Buffer.alloc(32) }
const makeDraft = (claim = MADE_ATTESTATION.claim) =>
  draftAttestation('t/a', 0, { ...MADE_ATTESTATION, claim }, SUBJECT)

/** The texts of records that begin a ledger whose next id is 7. */
const listTexts = (...drafts: readonly Draft[]) =>
  placeBatch('sallyport/00', drafts, { nextId: 7, logs: new Map() }).records.map(({ text }) => text)

t.test('a record is the canonical JSON of itself, whatever it says (RFC 8785)', async (t) => {
  fc.assert(
    fc.property(attestations, optional(text), fc.nat(), (attestation, context, at) => {
      const [written = ''] = listTexts(draftAttestation('t/a', at, attestation, { ...SUBJECT, context }))
      const value = JSON.parse(written)
      return (
        canonicalText(value) === written &&
        canonicalRecord(value) === written &&
        parseAttestation(Buffer.from(written)).claim === attestation.claim
      )
    }),
  )
  t.pass()
})

t.test('records of any length keep their places', async (t) => {
  const claims = Array.from({ length: 200 }, (_, index) => '€'.repeat(index % 50 === 49 ? 20_000 : index))
  const records = listTexts(...claims.map(makeDraft)).map((text) => Buffer.from(text))
  t.same(records.map((bytes) => parseAttestation(bytes).claim).join(), claims.join())
  t.ok(records.every((bytes, index) => parseRecord(bytes).place.seq === index))
})

t.test('a record holds texts and integers, and no address and no context', async (t) => {
  const subject = { address: '192.0.2.77', salt: Buffer.alloc(32, 1), context: '{"secret":"value"}' }
  const [written = ''] = listTexts(draftAttestation('t/a', 0, MADE_ATTESTATION, subject))
  t.notMatch(written, /192\.0\.2\.77|secret/)
  t.match(JSON.parse(written), {
    v: 1,
    type: 'provenance',
    attestation_id: 7,
    seq: 0,
    log: 'sallyport/00/t/a',
    issued_at: '1970-01-01T00:00:00.000Z',
    finding: { confidence_bp: 9000, anonymized: 'yes' },
    context_sha256: /^[0-9a-f]{64}$/,
    subject: { commit: /^[0-9a-f]{64}$/ },
  })
  t.notMatch(written, /true|false|null|\d\.\d+[,}]/)
})

t.test('a text that is not canonical, or not of this version, is no record', async (t) => {
  const [good = ''] = listTexts(makeDraft())
  t.equal(parseRecord(Buffer.from(good)).place.attestationId, 7)
  const bad: readonly (readonly [string, string])[] = [
    ['a space', good.replace(':', ': ')],
    ['another order', good.replace('{"attestation_id":7,', '{').replace(/}$/, ',"attestation_id":7}')],
    ['a member twice', good.replace('{', '{"attestation_id":7,')],
    ...['7.0', '7e0', '9007199254740993', '-7'].map(
      (id) => [`the id ${id}`, good.replace('_id":7', `_id":${id}`)] as const,
    ),
    ['an escape that is not needed', good.replace('"DE"', '"\\u0044E"')],
    ...['true', 'null', '[]'].map((value) => [value, good.replace('"yes"', value)] as const),
    ['objects without an end', good.replace('{', `{"a":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)},`)],
    ['another version', good.replace('"v":1', '"v":2')],
    ['no JSON', good.slice(1)],
  ]
  for (const [name, text] of bad) {
    t.not(text, good, name)
    t.throws(() => parseRecord(Buffer.from(text)), { name: 'Error' }, name)
  }
  t.throws(() => parseRecord(Buffer.from(good.replace('DE', 'D\u00c9'), 'latin1')), /canonical/, 'not UTF-8')
})
