import t from 'tap'
import { createPassage, createSearch, endWithNumber, NUMBER_ROOM, standsAt } from '../src/audit-bytes.ts'
import { commitment, createCommitter, createLeafMemory, leafHash } from '../src/verify/hash.ts'

function laid(text: string) {
  const leaf = createLeafMemory()
  leaf.put(Buffer.from(text, 'latin1'))
  return leaf
}

t.test('a passage stands where all its bytes stand, and nowhere else', async (t) => {
  // Of every length past a multiple of four, because four bytes are compared at once.
  for (const text of ['abcd', 'abcde', 'abcdef', 'abcdefg', 'abc', 'é"\\{abcdef']) {
    const passage = createPassage(text)
    const leaf = laid(`..${text}..`)
    t.ok(standsAt(leaf, 2, passage), text)
    t.notOk(standsAt(leaf, 1, passage))
    t.notOk(standsAt(leaf, 3, passage))
    for (let at = 0; at < text.length; at++) {
      const other = `${text.slice(0, at)}\u0000${text.slice(at + 1)}`
      t.notOk(standsAt(laid(`..${other}..`), 2, passage), `${text}, byte ${at}`)
    }
  }
})

t.test('a passage does not stand beyond the ends of a record, whatever an earlier one left there', async (t) => {
  const leaf = laid('..abcdef')
  const passage = createPassage('abcdef')
  t.ok(standsAt(leaf, 2, passage))
  t.notOk(standsAt(leaf, -1, passage))
  leaf.put(Buffer.from('..abcde'))
  t.notOk(standsAt(leaf, 2, passage))
  t.notOk(createSearch('abcdef')(leaf))
  t.notOk(standsAt(leaf, 5000, passage))
})

t.test('a number is written as a text has it', async (t) => {
  const passage = createPassage('"seq":', NUMBER_ROOM)
  const numbers = [0, 1, 9, 10, 11, 99, 100, 101, 4095, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, -7, 1.5, 2 ** 60]
  for (const number of numbers.flatMap((number) => [number, 10 ** 15, number])) {
    endWithNumber(passage, 6, number)
    t.equal(passage.bytes.toString('latin1', 0, passage.length), `"seq":${number},`)
  }
})

t.test('a text is found wherever it stands', async (t) => {
  const wanted = '"context_sha256":"'
  const find = createSearch(wanted)
  for (let before = 0; before < 40; before++) {
    for (const around of ['x', '"', '_', 'a256":"', '"context_sha256":']) {
      const padding = around.repeat(before)
      const texts = [wanted, wanted.slice(1), wanted.slice(0, -1), wanted.replace('_', '-')]
      for (const text of texts.flatMap((text) => [padding + text + padding, padding + text])) {
        t.equal(find(laid(text)), text.includes(wanted), text)
      }
    }
  }
})

t.test('hashes of many records are those of each', async (t) => {
  const leaf = createLeafMemory()
  for (const length of [0, 1, 700, 700, 699, 1022, 1023, 1024, 1025, 5000, 12, 700, 20_000, 20_000, 0]) {
    const record = Buffer.alloc(length, length)
    leaf.put(record)
    t.equal(leaf.hash(), leafHash(record).toString('hex'), `${length} bytes`)
    t.equal(leaf.length, length)
    if (length > 0) t.equal(leaf.view.getUint8(length - 1), length & 255)
  }
})

t.test('commitments of many texts are those of each', async (t) => {
  const commitTo = createCommitter()
  const salts = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(0), Buffer.alloc(400, 3)]
  const texts = [
    '192.0.2.1',
    '2001:db8::1',
    '192.0.2.2',
    '',
    'é',
    '€'.repeat(300),
    '\ud800',
    '😀',
    'x'.repeat(5000),
    '1',
  ]
  for (const salt of salts) {
    for (const text of texts) t.equal(commitTo(salt, text), commitment(salt, text))
  }
})
