import type { Draft } from '@sallyport/ledger'
import t from 'tap'
import { memoryOf, NO_RECORDS, packDrafts, unpackDrafts } from '../src/ledger/transit.ts'

const DRAFT: Draft = { log: 't/a', at: 1, front: ',"x":"ä \\n"', middle: ',"y":1', back: ',"z":2' }
const salt = (byte: number) => new Uint8Array(32).fill(byte)

t.test('drafts arrive as they were sent, with and without a subject or a context', async (t) => {
  const drafts: readonly Draft[] = [
    { ...DRAFT, subject: { address: '203.0.113.7', salt: salt(1) } },
    DRAFT,
    { ...DRAFT, at: 2, subject: { address: '2001:db8::1', salt: salt(10), context: '{"a":"\\n"}' } },
    { ...DRAFT, front: '', middle: '', back: '' },
  ]
  t.same(unpackDrafts(packDrafts(drafts)), drafts)
  t.same(unpackDrafts(packDrafts([])), [])
  const wide = drafts.map((draft) => ({ ...draft, front: ',"x":"€ 😀"' }))
  t.same(unpackDrafts(packDrafts(wide)), wide)
})

t.test('a text that would shift those behind it is refused', async (t) => {
  for (const log of ['t/a\nb', `t/a${'\n'.repeat(8)}`])
    t.throws(() => unpackDrafts(packDrafts([{ ...DRAFT, log }, DRAFT])), /line break/)
})

t.test('memory is handed over where nothing else lies in it', async (t) => {
  const own = new Uint8Array(100)
  t.same(memoryOf({ ...NO_RECORDS, bytes: own }), [own.buffer])
  t.same(memoryOf({ ...NO_RECORDS, bytes: own.subarray(1) }), [])
  t.same(memoryOf({ ...NO_RECORDS, bytes: Buffer.from('in a pool') }), [])
  for (const answer of [NO_RECORDS, undefined, null, 3, 'text', own, { bytes: 'text' }]) t.same(memoryOf(answer), [])
})
