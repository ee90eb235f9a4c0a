import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')

t.test('the command runs where it is, and where the last release had it', async (t) => {
  const { bin, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  for (const file of [bin.sallyport, '../cli/bin/sallyport.mjs'])
    t.equal((await promisify(execFile)(join(ROOT, file), ['--version'])).stdout, `${version}\n`)
})
