import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { loadTables } from '../src/index.ts'
import { COLUMN_NAMES, DESCRIPTION_AT, DIGEST_AT, digestOf } from '../src/tables/format.ts'
import { readTables } from '../src/tables/read.ts'
import { folder, tablesOf } from './fixtures.ts'
import { writeMmdb } from './mmdb-writer.ts'

/** Every column has something in it. */
const FILES = {
  'asn-csv-v4': '23.0.0.0,23.0.0.255,64500,Access',
  'asn-csv-v6': '2a00:1::5,2a00:1::ffff,64501,Six',
  'asn-country-v4': '23.0.0.0,23.0.0.255,DE',
  'dbip-city-v4': writeMmdb({ '23.0.0.0/24': { country_code: 'DE' } }, { ipVersion: 4 }),
  'dbip-city-v6': writeMmdb({ '2a00:1::/72': { country_code: 'DE' } }, { ipVersion: 6 }),
  'x4bnet-vpn-ipv4': '23.0.0.0/25',
}

/** A refusal that names the file; anything else that is thrown is a crash. */
function refusal(path: string, contents: Uint8Array): string {
  writeFileSync(path, contents)
  try {
    loadTables(path)
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'corrupt_data' && error.message.startsWith(path))
      return 'refused'
    return String(error)
  }
  return 'loaded'
}

t.test('one changed byte anywhere refuses the file by name', async (t) => {
  const { path } = await tablesOf(t, FILES)
  const good = readFileSync(path)
  const target = join(folder(t), 'tables.bin')
  t.equal(refusal(target, good), 'loaded')
  const changed = (at: number, bit = 1) => {
    const bytes = Buffer.from(good)
    bytes[at] = (bytes[at] as number) ^ bit
    return refusal(target, bytes)
  }
  for (let at = 0; at < DESCRIPTION_AT; at++) t.equal(changed(at), 'refused', `byte ${at} of the head`)
  t.equal(changed(DESCRIPTION_AT + 20), 'refused', 'the description')
  const { columns } = readTables(path)
  for (const name of COLUMN_NAMES) {
    const { byteOffset, byteLength } = columns[name]
    t.ok(byteLength > 0, `${name} is not empty`)
    for (const at of [byteOffset, byteOffset + byteLength - 1]) t.equal(changed(at, 0x80), 'refused', name)
  }
})

t.test('a file cut short anywhere, or with more behind it, is refused by name', async (t) => {
  const { path } = await tablesOf(t, FILES)
  const good = readFileSync(path)
  const target = join(folder(t), 'tables.bin')
  const lengths = [
    0,
    1,
    8,
    20,
    24,
    55,
    56,
    57,
    ...Array.from({ length: 50 }, (_, step) => Math.floor((good.length * step) / 50)),
  ]
  for (const length of [...lengths, good.length - 1]) {
    t.equal(refusal(target, good.subarray(0, length)), 'refused', `${length} bytes`)
  }
  t.equal(refusal(target, Buffer.concat([good, Buffer.from([0])])), 'refused', 'one byte more')
  t.equal(refusal(target, Buffer.alloc(good.length)), 'refused', 'only zeros')
  t.equal(refusal(target, Buffer.from('<html>404</html>'.repeat(20))), 'refused', 'a web page')
})

t.test('a file of another format is refused although its checksum fits', async (t) => {
  const { path } = await tablesOf(t, FILES)
  const bytes = readFileSync(path)
  bytes.writeUInt32LE(bytes.readUInt32LE(8) + 1, 8)
  bytes.set(digestOf(bytes), DIGEST_AT)
  const target = join(folder(t), 'tables.bin')
  t.equal(refusal(target, bytes), 'refused')
  t.throws(() => loadTables(target), { message: /format 2, where this version reads 1/ })
})

t.test('a file that is not there is missing, and a folder is no file', async (t) => {
  const dir = folder(t)
  t.throws(() => loadTables(join(dir, 'no.bin')), { code: 'missing_data', message: /no\.bin/ })
  t.throws(() => loadTables(dir), { code: 'corrupt_data', message: new RegExp(dir) })
})

t.test('tables are in shared memory, so that workers can have them without a copy', async (t) => {
  const { path } = await tablesOf(t, FILES)
  const { columns } = readTables(path)
  t.ok(COLUMN_NAMES.every((name) => columns[name].buffer === columns['networks4.starts'].buffer))
  t.ok(columns['networks4.starts'].buffer instanceof SharedArrayBuffer)
})
