import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { constants, gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { followText, readFileLines, splitLines } from '../../src/cli/log/lines.ts'

t.test('letters of several bytes are whole, wherever a file that is followed is cut', async (t) => {
  const file = join(t.testdir(), 'decisions.log')
  // Each letter has three bytes: pieces of 64 KiB end within one.
  const long = '門'.repeat(20_000)
  const bytes = Buffer.from(`${long}\n${long}\n日`)
  writeFileSync(file, bytes.subarray(0, -1))
  let pauses = 0
  const text = followText(file, () => {
    pauses++
    if (pauses === 1) appendFileSync(file, Buffer.concat([bytes.subarray(-1), Buffer.from('\n')]))
  })
  const lines: (string | undefined)[] = []
  for await (const line of splitLines(text)) if (lines.push(line) === 3) break
  t.same(lines, [long, long, '日'])
})

/** The lines of a file of these bytes, and whether it is cut short. */
async function linesIn(folder: string, bytes: Buffer | string) {
  const file = join(folder, 'a.log')
  writeFileSync(file, bytes)
  const read = { lines: [] as (string | undefined)[], isCut: false }
  const onCut = () => {
    read.isCut = true
  }
  for await (const line of readFileLines(file, 'utf8', onCut)) read.lines.push(line)
  return read
}

t.test('a file is unpacked where it is gzip, whatever its name', async (t) => {
  const folder = t.testdir()
  const packed = Buffer.concat([gzipSync('one\n'), gzipSync('日')])
  t.same(await linesIn(folder, packed), { lines: ['one', '日'], isCut: false })
  for (const text of ['', '日']) t.same(await linesIn(folder, text), { lines: [text], isCut: false })
})

t.test('a packed file that is cut short gives the lines up to there', async (t) => {
  const folder = t.testdir()
  const text = Array.from({ length: 20_000 }, (_, index) => `${index} ${Math.sin(index)}`).join('\n')
  const packed = gzipSync(text)
  for (const length of [200, 20_000, packed.length - 2_000]) {
    const cut = packed.subarray(0, length)
    const known = gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }).toString()
    t.same(await linesIn(folder, cut), { lines: known.split('\n'), isCut: true }, `${length} of ${packed.length}`)
  }
  t.same(await linesIn(folder, packed.subarray(0, -4)), { lines: text.split('\n'), isCut: true })
})

t.test('a file that is packed otherwise, or damaged, is named with its cure', async (t) => {
  const folder = t.testdir()
  const damaged = gzipSync('x'.repeat(9_000))
  damaged.fill(0xff, 10)
  for (const [bytes, says] of [
    ['BZh91AY&SY', /a\.log is compressed with bzip2\. Decompress it first \(bzip2 -dc\)\.$/],
    [Buffer.from('28b52ffd00', 'hex'), / with zstd\. /],
    [Buffer.from('fd377a585a0000', 'hex'), / with xz\. /],
    [Buffer.from('\ufeffone', 'utf16le'), /a\.log is encoded in UTF-16. Save it as UTF-8\.$/],
    [Buffer.from('feff0031', 'hex'), /UTF-16/],
    [damaged, /a\.log is corrupt and cannot be decompressed\.$/],
  ] as const)
    await t.rejects(linesIn(folder, bytes), { code: 'invalid_request', message: says })
})
