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

t.test('the command of the package is the one of packages/cli, and no other package has it', async (t) => {
  const bin = join(ROOT, MANIFEST.bin.sallyport)
  const { stdout } = await promisify(execFile)(bin, ['--version'])
  t.equal(stdout, `${MANIFEST.version}\n`)
  t.notOk('bin' in JSON.parse(readFileSync(join(ROOT, '../cli/package.json'), 'utf8')))
})
