import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as open from '@sallyport/engine'
import t from 'tap'
import * as sallyport from '../src/index.ts'

const ROOT = join(import.meta.dirname, '../..')
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

t.test('the import of sallyport is open with its errors', async (t) => {
  t.same(Object.keys(sallyport).sort(), ['ConfigError', 'SallyportError', 'open'])
  t.equal(sallyport.open, open.open)
})

t.test('the command runs where it is, and where the last release had it', async (t) => {
  for (const bin of [MANIFEST.bin.sallyport, '../cli/bin/sallyport.mjs']) {
    const { stdout } = await promisify(execFile)(join(ROOT, bin), ['--version'])
    t.equal(stdout, `${MANIFEST.version}\n`)
  }
})
