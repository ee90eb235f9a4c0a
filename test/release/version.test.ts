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
  const quoted = version.replaceAll('.', '\\.')
  const found = execFileSync('git', ['grep', '-lE', `(^|[^0-9.])${quoted}([^0-9./]|$)`], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const own = new Set(listTexts(NEXT).keys())
  const left = found
    .trim()
    .split('\n')
    .filter((file) => !own.has(file))
  const history = [
    'data/package.json',
    '.github/DECISIONS.md',
    'CHANGELOG.md',
    'packages/ledger/src/testing/made.ts',
    'test/packaging/previous.check.ts',
  ]
  t.same(
    left.filter((file) => !history.includes(file)),
    [],
  )
})

t.test('the same version changes nothing', async (t) => {
  for (const [file, text] of listTexts(version)) t.equal(text, read(file), file)
})
