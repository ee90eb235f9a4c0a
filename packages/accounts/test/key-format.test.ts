import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { base62 } from '../src/base62.ts'
import { createKey, createKnownKeys, KEY_BYTES, parseKey, sameKey } from '../src/index.ts'

const random = (byte: number) => new Uint8Array(KEY_BYTES).map((_, index) => (byte * 31 + index * 7) & 0xff)

t.test('a key has a prefix, a public id, a secret and a checksum', async (t) => {
  const { text, record } = createKey(random(1))
  t.match(text, /^sp_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
  t.equal(record.id, text.slice(3, 11))
  t.equal(record.last4, text.slice(-4))
  t.equal(record.hash, createHash('sha256').update(text).digest('hex'))
  t.same(Object.keys(record).sort(), ['hash', 'id', 'last4'], 'nothing else is stored')
  t.notOk(JSON.stringify(record).includes(text.slice(12, 40)), 'no part of the secret')
})

t.test('the same bytes make the same key, other bytes another', async (t) => {
  t.equal(createKey(random(1)).text, createKey(random(1)).text)
  const texts = new Set(Array.from({ length: 50 }, (_, byte) => createKey(random(byte)).text))
  t.equal(texts.size, 50)
})

t.test('all of the 32 secret bytes are in the key', async (t) => {
  t.equal(createKey(new Uint8Array(KEY_BYTES).fill(255)).text.slice(12, 55).length, 43)
  t.equal(base62(new Uint8Array(32).fill(255), 43).charAt(0) === '0', false, '43 digits hold 256 bits')
  const last = new Uint8Array(KEY_BYTES)
  last[KEY_BYTES - 1] = 1
  t.not(createKey(last).text, createKey(new Uint8Array(KEY_BYTES)).text)
})

t.test('a key of too few or too many bytes is refused', async (t) => {
  t.throws(() => createKey(new Uint8Array(KEY_BYTES - 1)), RangeError)
  t.throws(() => createKey(new Uint8Array(KEY_BYTES + 1)), RangeError)
})

t.test('a key that was made is read and recognised', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.uint8Array({ minLength: KEY_BYTES, maxLength: KEY_BYTES }), (bytes) => {
        const { text, record } = createKey(bytes)
        const parsed = parseKey(text)
        return parsed !== undefined && parsed.id === record.id && sameKey(parsed, record)
      }),
      { numRuns: 200 },
    ),
  )
})

t.test('any one character changed is refused by the checksum', async (t) => {
  const { text } = createKey(random(3))
  for (let index = 0; index < text.length; index++) {
    const changed = text.slice(0, index) + (text.charAt(index) === 'x' ? 'y' : 'x') + text.slice(index + 1)
    t.equal(parseKey(changed), undefined, `character ${index}`)
  }
})

t.test('what is not a key is refused', async (t) => {
  const { text } = createKey(random(4))
  const wrong = ['', ' ', 'sp_', 'sp__', text.slice(0, -1), `${text}0`, ` ${text}`, `${text}\n`, text.toUpperCase()]
  for (const given of [...wrong, text.replace('sp_', 'sk_'), text.replace('_', '-'), 'x'.repeat(100_000)]) {
    t.equal(parseKey(given), undefined, JSON.stringify(given.slice(0, 70)))
  }
})

t.test('another key of the same id is not the same key', async (t) => {
  const bytes = random(5)
  const { record } = createKey(bytes)
  bytes[KEY_BYTES - 1] = (bytes[KEY_BYTES - 1] ?? 0) ^ 1
  const other = parseKey(createKey(bytes).text)
  t.equal(other?.id, record.id)
  t.equal(other && sameKey(other, record), false)
  t.equal(other && sameKey(other, { ...record, hash: '' }), false, 'a damaged record matches nothing')
})

t.test('a key that is known again is read as it was, and no other text is taken for it', async (t) => {
  const { read } = createKnownKeys()
  const bytes = random(6)
  const { text, record } = createKey(bytes)
  for (let time = 0; time < 3; time++) t.same(read(text), parseKey(text))
  for (let index = 0; index < text.length; index++) {
    const changed = text.slice(0, index) + (text.charAt(index) === 'x' ? 'y' : 'x') + text.slice(index + 1)
    t.equal(read(changed), undefined, `character ${index}`)
  }
  for (const given of ['', text.slice(0, -1), `${text}0`]) t.equal(read(given), undefined)
  // Another secret with the public id of the first, and a checksum that fits.
  bytes[KEY_BYTES - 1] = (bytes[KEY_BYTES - 1] ?? 0) ^ 1
  const other = read(createKey(bytes).text)
  t.equal(other?.id, record.id)
  t.equal(other && sameKey(other, record), false)
  t.same(read(text), parseKey(text))
})

t.test(
  'a key that is known again is the same as the records that sameKey says, however often it is asked',
  async (t) => {
    const { read, same } = createKnownKeys()
    const bytes = random(7)
    const { text, record } = createKey(bytes)
    const key = read(text)
    if (key === undefined) throw new TypeError('not read')
    bytes[KEY_BYTES - 1] = (bytes[KEY_BYTES - 1] ?? 0) ^ 1
    const other = createKey(bytes)
    for (let time = 0; time < 3; time++) {
      t.equal(same(key, other.record), false)
      t.equal(same(key, record), true)
      t.equal(same(key, { ...record }), true, 'another object')
      t.equal(same(key, { ...record, hash: other.record.hash }), false, 'the record was replaced')
    }
    // The secret of another key, read under the same id, is not taken for the one that was found to be the same.
    t.equal(same(key, record), true)
    const otherKey = read(other.text)
    t.equal(otherKey && same(otherKey, record), false)
    t.equal(same(key, record), true, 'the first, now that another is known')
    t.equal(same({ ...key, hash: '' }, record), false, 'a key that was not read here')
  },
)

t.test('what is before the key is a part of the text that is known', async (t) => {
  let parsed = 0
  const { read } = createKnownKeys((text) => {
    parsed++
    return text.startsWith('A ') ? parseKey(text.slice(2)) : undefined
  })
  const { text } = createKey(random(8))
  for (let time = 0; time < 3; time++) t.same(read(`A ${text}`), parseKey(text))
  t.equal(parsed, 1)
  for (const given of [text, `B ${text}`, `A${text}`, `AA ${text}`, ` A ${text}`])
    t.equal(read(given), undefined, given)
  t.same(read(`A ${text}`), parseKey(text))
  t.equal(parsed, 6, 'one that is not read changes nothing')
})

t.test('no more than ten thousand keys are known again', async (t) => {
  let parsed = 0
  const { read } = createKnownKeys((text) => {
    parsed++
    return { id: text.slice(3, 11), hash: '' }
  })
  const textOf = (number: number) => `sp_${String(number).padStart(8, '0')}_${'x'.repeat(49)}`
  for (let number = 0; number < 10_000; number++) read(textOf(number))
  read(textOf(0))
  t.equal(parsed, 10_000)
  read(textOf(10_000))
  read(textOf(0))
  t.equal(parsed, 10_002, 'the first is not known any more')
})

t.test('the checksum is that of the first keys ever made', async (t) => {
  t.equal(
    createKey(random(1)).text.slice(-6),
    base62(
      createHash('sha256')
        .update(createKey(random(1)).text.slice(0, -6))
        .digest()
        .subarray(0, 8),
      6,
    ),
  )
})
