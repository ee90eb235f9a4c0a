import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import t from 'tap'
import { compileCity } from '../../src/datasets/compile/city.ts'
import { parseMmdb } from '../../src/datasets/mmdb/file.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { citySource, FLAT, NESTED, readSegments } from './city-fixtures.ts'
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
  const others: string[] = []
  for (let percent = 0; percent < 100; percent++) {
    writeFileSync(path, whole.subarray(0, Math.floor((whole.length * percent) / 100)))
    const found = await outcome(path)
    if (found !== 'refused') others.push(`${percent} %: ${found}`)
  }
  t.same(others, [])
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

t.test('a walk through a tree that runs in a circle ends', async (t) => {
  const bytes = writeMmdb({ '23.0.0.0/16': FLAT }, { ipVersion: 4 })
  const { nodeCount } = parseMmdb(bytes, 'made.mmdb')
  bytes.fill(0, 0, nodeCount * 6)
  t.throws(() => readSegments(parseMmdb(bytes, 'made.mmdb'), 4), {
    code: 'corrupt_data',
    message: /made\.mmdb/,
  })
})

const TEST_DATA = join(SHARED_DATA, 'mmdb/test-data')
const BAD_DATA = join(SHARED_DATA, 'mmdb/bad-data')
const skip = existsSync(BAD_DATA) ? false : 'the shared test databases are not there'

t.test("MaxMind's bad databases are refused by name", { skip }, async (t) => {
  const broken = readdirSync(TEST_DATA).filter((name) => /[Bb]roken|Invalid/.test(name))
  const bad = [
    ...readdirSync(BAD_DATA).map((name) => join(BAD_DATA, name)),
    ...broken.map((name) => join(TEST_DATA, name)),
  ]
  const others: string[] = []
  for (const path of bad) {
    const found = await outcome(path)
    if (found !== 'refused') others.push(`${path}: ${found}`)
  }
  t.same(others, [])
  t.ok(bad.length > 10)
})
