import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT, readManifest } from '../workspaces.ts'
import { listTexts, NAMED } from './version.ts'

const NEXT = '7.8.9'
const { version } = readManifest('.')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

t.test('every file that says the version says the next one', async (t) => {
  const texts = listTexts(NEXT)
  for (const [file, text] of texts) {
    t.not(text, read(file), `${file} says it`)
    const others = text.replaceAll(/"@sallyport\/data": "[^"]*"/g, '')
    t.not(others.includes(`"^${version}"`) && /sallyport[^"]*": "\^?0/.test(others), true, `${file} has no older range`)
  }
  for (const file of NAMED) t.notOk(texts.get(file)?.includes(version), `${file}: all of it`)
})

t.test('and no other file does, but for what was in its time', async (t) => {
  const pattern = `(^|[^0-9.])${version.replaceAll('.', '\\.')}([^0-9./]|$)`
  const found = execFileSync('git', ['grep', '-lE', pattern], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const own = listTexts(NEXT)
  const history = [
    '.github/DECISIONS.md',
    'CHANGELOG.md',
    'data/package.json',
    'packages/ledger/src/testing/made.ts',
    'test/packaging/previous.check.ts',
  ]
  const others = found.filter((file) => !own.has(file) && !history.includes(file))
  t.same(others, [])
})
