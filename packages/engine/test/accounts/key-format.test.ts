import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { base62 } from '../../src/accounts/base62.ts'
import { createKey, KEY_BYTES, parseKey, sameKey } from '../../src/accounts/index.ts'

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

t.test('the same bytes make the same key, and each of the 32 secret bytes is in it', async (t) => {
  t.equal(createKey(random(1)).text, 'sp_yXsdWdFY_KiVI8AwmpKdaz8QNtLy1SGanJfF6vCQICybbovHAnz6RoMEad', 'keys stay keys')
  t.equal(base62('ff'.repeat(32), 43).charAt(0) === '0', false, '43 digits hold 256 bits')
  const last = new Uint8Array(KEY_BYTES)
  last[KEY_BYTES - 1] = 1
  t.not(createKey(last).text, createKey(new Uint8Array(KEY_BYTES)).text)
  for (const length of [KEY_BYTES - 1, KEY_BYTES + 1]) t.throws(() => createKey(new Uint8Array(length)), RangeError)
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

t.test('any one character changed is refused by the checksum, and so is a text that is not a key', async (t) => {
  const { text } = createKey(random(3))
  for (let index = 0; index < text.length; index++) {
    const changed = text.slice(0, index) + (text.charAt(index) === 'x' ? 'y' : 'x') + text.slice(index + 1)
    t.equal(parseKey(changed), undefined, `character ${index}`)
  }
  const wrong = ['', 'sp_', 'sp__', text.slice(0, -1), `${text}0`, ` ${text}`, `${text}\n`, text.toUpperCase()]
  for (const given of [...wrong, 'x'.repeat(100_000)]) {
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
