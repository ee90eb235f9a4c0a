import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { BUNDLE_FORMAT } from '../../src/datasets/bundle/bundle-form.ts'
import { readBundle } from '../../src/datasets/bundle/read-bundle.ts'
import { compileCity } from '../../src/datasets/compile/city.ts'
import { parseMmdb } from '../../src/datasets/mmdb/file.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { citySource, FLAT, NESTED } from './city-fixtures.ts'
import { folder, SHARED_DATA } from './fixtures.ts'

/** Returns 'refused' where compiling ends in our error that names the file, or what happened else. */
async function outcome(path: string): Promise<string> {
  try {
    await compileCity({ dataDir: `${path}.compiled`, source: citySource(path) })
    return 'compiled'
  } catch (error) {
    return error instanceof SallyportError && error.message.startsWith(path) ? 'refused' : String(error)
  }
}

t.test('a truncated database is refused by name, wherever it ends', async (t) => {
  const path = join(folder(t), 'city.mmdb')
  const whole = writeMmdb({ '23.0.0.0/24': FLAT, '24.0.0.0/8': NESTED }, { ipVersion: 4 })
  for (let percent = 0; percent < 100; percent++) {
    writeFileSync(path, whole.subarray(0, Math.floor((whole.length * percent) / 100)))
    t.equal(await outcome(path), 'refused', `${percent} %`)
  }
})

t.test('a corrupt database is refused by name', async (t) => {
  const path = join(folder(t), 'city.mmdb')
  const good = writeMmdb({ '23.0.0.0/24': FLAT, '24.0.0.0/8': NESTED }, { ipVersion: 4 })
  const nodes = parseMmdb(good, path).nodeCount
  const cases: Readonly<Record<string, (bytes: Buffer) => void>> = {
    'a tree that runs in a circle': (bytes) => bytes.fill(0, 0, nodes * 6),
    'a record far outside': (bytes) => bytes.fill(0xff, 0, nodes * 6),
    'a separator that is not there': (bytes) => bytes.fill(1, nodes * 6, nodes * 6 + 16),
    'data of nonsense': (bytes) => bytes.fill(0xff, nodes * 6 + 16, nodes * 6 + 60),
    'an empty tree': (bytes) => {
      for (let record = 0; record < nodes * 2; record++) bytes.writeUIntBE(nodes, record * 3, 3)
    },
  }
  for (const [what, harm] of Object.entries(cases)) {
    const bytes = Buffer.from(good)
    harm(bytes)
    writeFileSync(path, bytes)
    t.equal(await outcome(path), 'refused', what)
  }
  for (const [what, text] of Object.entries({ nothing: '', 'a web page': '<html>', gzip: '\x1f\x8b\x08' })) {
    writeFileSync(path, text)
    t.equal(await outcome(path), 'refused', what)
  }
  writeFileSync(path, writeMmdb({ '23.0.0.0/24': { isp: 'Access' } }, { ipVersion: 4 }))
  t.equal(await outcome(path), 'refused', 'a database of something else')
})

const TEST_DATA = join(SHARED_DATA, 'mmdb/test-data')
const BAD_DATA = join(SHARED_DATA, 'mmdb/bad-data')
const skip = existsSync(BAD_DATA) ? false : 'the shared test databases are not there'

t.test("MaxMind's bad databases are refused by name", { skip }, async (t) => {
  const list = (folder: string) => readdirSync(folder).map((name) => join(folder, name))
  const bad = [...list(BAD_DATA), ...list(TEST_DATA).filter((path) => /[Bb]roken|Invalid/.test(path))]
  t.ok(bad.length > 10)
  for (const path of bad) t.equal(await outcome(path), 'refused', path)
})

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
