import { execFileSync } from 'node:child_process'
import t from 'tap'

const PROGRAM = `import('@sallyport/engine').then(async ({ open }) => {
  const sallyport = await open({ dataDir: process.argv.at(-1), data: { refresh: false, city: false } })
  console.log((await sallyport.provenance.keys()).keys.length)
  await sallyport.close()
})`

t.test('the thread of the ledger starts whatever flags the process has', async (t) => {
  for (const flags of [
    ['--input-type=module'],
    ['--max-old-space-size=640'],
    ['--input-type=module', '--title=shop'],
  ]) {
    const args = [...flags, '--eval', PROGRAM, t.testdir()]
    const said = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' })
    t.equal(said, '1\n', flags.join(' '))
  }
})
