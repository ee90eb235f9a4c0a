import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { unpack } from '../../src/datasets/feeds/unpack.ts'
import { folder } from './fixtures.ts'

/** Makes a tar archive as MaxMind packs its databases: a folder, texts, and the database. */
function makeTar(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512)
    header.write(name)
    header.write(text.length.toString(8).padStart(11, '0'), 124)
    header.write('ustar', 257)
    const body = Buffer.alloc(Math.ceil(text.length / 512) * 512)
    body.write(text)
    return [header, body]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

async function unpackFile(t: Parameters<typeof folder>[0], bytes: Buffer, maxBytes = 10_000): Promise<string> {
  const path = join(folder(t), 'file')
  writeFileSync(path, bytes)
  try {
    await unpack(path, maxBytes)
  } finally {
    t.same(readdirSync(join(path, '..')), ['file'], 'nothing else is left')
  }
  return readFileSync(path, 'utf8')
}

t.test('a file that is not packed stays as it is', async (t) => {
  for (const text of ['', 'x', '23.0.0.0/24\n', 'x'.repeat(1000)]) t.equal(await unpackFile(t, Buffer.from(text)), text)
})

t.test('gzip is unpacked, up to a bound', async (t) => {
  t.equal(await unpackFile(t, gzipSync('23.0.0.0/24\n')), '23.0.0.0/24\n')
  const bomb = gzipSync(Buffer.alloc(2 ** 20))
  await t.rejects(unpackFile(t, bomb), { code: 'corrupt_data', message: /larger than 10000 bytes/ })
  await t.rejects(unpackFile(t, gzipSync('23.0.0.0/24\n').subarray(0, 25)), {
    code: 'corrupt_data',
    message: /cannot be unpacked/,
  })
  await t.rejects(unpackFile(t, Buffer.from([0x1f, 0x8b, 9, 9])), { code: 'corrupt_data' })
})

t.test('the database of a tar archive is taken', async (t) => {
  const files = { 'City_20261120/README.txt': 'x'.repeat(700), 'City_20261120/City.mmdb': 'database'.repeat(100) }
  t.equal(await unpackFile(t, gzipSync(makeTar(files))), files['City_20261120/City.mmdb'])
  t.equal(await unpackFile(t, makeTar(files)), files['City_20261120/City.mmdb'])
  await t.rejects(unpackFile(t, makeTar({ 'README.txt': 'x' })), { code: 'corrupt_data', message: /no \.mmdb file/ })
  const cut = makeTar(files).subarray(0, 600)
  await t.rejects(unpackFile(t, cut), { code: 'corrupt_data' }, 'cut off')
})
