import fc, { type Arbitrary } from 'fast-check'

/** One change of some bytes; places are shares of their length, so that it fits whatever came before it. */
interface Edit {
  readonly kind: 'flip' | 'cut' | 'double' | 'put' | 'over'
  readonly at: number
  readonly length: number
  readonly bytes: Uint8Array
}

const TEXTS = '\r\n|\n|\r\n\r\n| |\t|"|\\|,|;|:|-1|1e999|0x10|%00|../|\u2028|{}|[]'

/** Bytes on which readers stumble: limits of numbers, ends of lines, quotes, letters of several bytes, nothing at all. */
const ODD: readonly Uint8Array[] = [
  [0],
  [0xff],
  [0xff, 0xff],
  [0xff, 0xff, 0xff, 0xff],
  [0x7f, 0xff, 0xff, 0xff],
  [0x80, 0, 0, 0],
  [0, 0, 0, 0],
  ...TEXTS.split('|').map((text) => [...Buffer.from(text)]),
].map((bytes) => Uint8Array.from(bytes))

const share = fc.double({ min: 0, max: 1, noNaN: true })
const bytes = fc.oneof(fc.constantFrom(...ODD), fc.uint8Array({ maxLength: 24 }))

const edit: Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'double', 'put', 'over'),
  at: share,
  length: fc.integer({ min: 1, max: 32 }),
  bytes,
})

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

function applyEdit(all: Buffer, { kind, at: place, length, bytes }: Edit): Buffer {
  const at = Math.floor(place * all.length)
  const before = all.subarray(0, at)
  if (kind === 'cut') return Buffer.concat([before, all.subarray(at + length)])
  if (kind === 'double') return Buffer.concat([all.subarray(0, at + length), all.subarray(at)])
  if (kind === 'put') return Buffer.concat([before, bytes, all.subarray(at)])
  if (kind === 'over') return Buffer.concat([before, bytes, all.subarray(at + bytes.length)])
  const copy = Buffer.from(all)
  if (copy.length > 0) copy[at % copy.length] = (copy[at % copy.length] as number) ^ (1 << (length % 8))
  return copy
}
