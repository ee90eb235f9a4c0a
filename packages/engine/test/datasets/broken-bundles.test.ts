import { gzipSync } from 'node:zlib'
import t from 'tap'
import { BUNDLE_FORMAT } from '../../src/datasets/bundle/bundle-form.ts'
import { readBundle } from '../../src/datasets/bundle/read-bundle.ts'

/** Makes a bundle of this head and so many bytes of columns. */
function makeBundle(head: unknown, bytes = 0): Uint8Array {
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return gzipSync(Buffer.concat([length, text, Buffer.alloc(bytes)]))
}

t.test('a bundle that is none, or not whole, is corrupt data', async (t) => {
  const head = { bundle: BUNDLE_FORMAT, description: {}, status: {} }
  const broken: Readonly<Record<string, Uint8Array>> = {
    'no archive': Buffer.from('bundle'),
    nothing: gzipSync(''),
    'a head of another version': makeBundle({ ...head, bundle: 0, counts: {} }),
    'no counts': makeBundle(head),
    'fewer bytes than counts': makeBundle({ ...head, counts: { 'records.flags': 9 } }, 8),
    'more bytes than counts': makeBundle({ ...head, counts: {} }, 8),
    'a count below 0': makeBundle({ ...head, counts: { 'records.flags': 8, 'addresses.lists': -4 } }, 4),
    'a count that is a text': makeBundle({ ...head, counts: { 'records.flags': '4' } }, 4),
  }
  for (const [name, bundle] of Object.entries(broken))
    await t.rejects(readBundle(bundle), { code: 'corrupt_data' }, name)
})
