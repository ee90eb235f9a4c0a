import fc, { type Arbitrary } from 'fast-check'

/** One change of some bytes; places are shares of their length, so that it fits whatever came before it. */
type Edit =
  | { readonly kind: 'flip' | 'cut' | 'double'; readonly at: number; readonly length: number }
  | { readonly kind: 'put' | 'over'; readonly at: number; readonly bytes: Uint8Array }

/** Bytes on which readers stumble: limits of numbers, ends of lines, quotes, letters of several bytes, nothing at all. */
const ODD: readonly Uint8Array[] = [
  [0],
  [0xff],
  [0xff, 0xff],
  [0xff, 0xff, 0xff, 0xff],
  [0x7f, 0xff, 0xff, 0xff],
  [0x80, 0, 0, 0],
  [0, 0, 0, 0],
  ...[
    '\r\n',
    '\n',
    '\r\n\r\n',
    ' ',
    '\t',
    '"',
    '\\',
    ',',
    ';',
    ':',
    '-1',
    '1e999',
    '0x10',
    '%00',
    '../',
    '\u2028',
    '{}',
    '[]',
  ].map((text) => [...Buffer.from(text)]),
].map((bytes) => Uint8Array.from(bytes))

const share = fc.double({ min: 0, max: 1, noNaN: true })
const bytes = fc.oneof(fc.constantFrom(...ODD), fc.uint8Array({ maxLength: 24 }))

const edit: Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constantFrom('flip', 'cut', 'double'), at: share, length: fc.integer({ min: 1, max: 32 }) }),
  fc.record({ kind: fc.constantFrom('put', 'over'), at: share, bytes }),
)

/** Changes good bytes a little, and at times makes random bytes. */
export function mutated(seeds: readonly Uint8Array[]): Arbitrary<Buffer> {
  const changed = fc
    .tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 6 }))
    .map(([seed, edits]) => edits.reduce<Buffer>(applyEdit, Buffer.from(seed)))
  return fc.oneof(
    { arbitrary: changed, weight: 9 },
    { arbitrary: fc.uint8Array({ maxLength: 400 }).map(Buffer.from), weight: 1 },
  )
}

export function mutatedText(seeds: readonly string[]): Arbitrary<string> {
  return mutated(seeds.map((text) => Buffer.from(text))).map((changed) => changed.toString('utf8'))
}

function applyEdit(all: Buffer, change: Edit): Buffer {
  const at = Math.floor(change.at * all.length)
  switch (change.kind) {
    case 'flip': {
      const copy = Buffer.from(all)
      if (copy.length > 0) copy[at % copy.length] = (copy[at % copy.length] as number) ^ (1 << (change.length % 8))
      return copy
    }
    case 'cut':
      return Buffer.concat([all.subarray(0, at), all.subarray(at + change.length)])
    case 'double':
      return Buffer.concat([all.subarray(0, at + change.length), all.subarray(at)])
    case 'put':
      return Buffer.concat([all.subarray(0, at), change.bytes, all.subarray(at)])
    case 'over':
      return Buffer.concat([all.subarray(0, at), change.bytes, all.subarray(at + change.bytes.length)])
  }
}
