import { existsSync, readFileSync, rmSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t from 'tap'
import { writeThrough } from '#files'

t.test('a file is whole and closed once it is written', async (t) => {
  const path = join(t.testdir(), 'file')
  await writeThrough(path, (to) => pipeline(Readable.from(['a', 'b']), to))
  t.equal(readFileSync(path, 'utf8'), 'ab')
})

t.test('one that fails is closed too, so that what is removed stays away', async (t) => {
  const path = join(t.testdir(), 'file')
  const streams: WriteStream[] = []
  const fails = writeThrough(path, async (to) => {
    streams.push(to)
    throw new Error('at once')
  })
  await t.rejects(fails, { message: 'at once' })
  t.ok(
    streams.every(({ closed }) => closed),
    'while it was opening its file',
  )
  rmSync(path, { force: true })
  t.notOk(existsSync(path))
  const missing = writeThrough(join(path, 'none'), (to) => pipeline(Readable.from(['a']), to))
  await t.rejects(missing, { code: 'ENOENT' })
})
