import { execFileSync } from 'node:child_process'
import t from 'tap'

const PROGRAM = `
import { open } from '@sallyport/engine'
const sallyport = await open({ dataDir: process.argv[1], data: { refresh: false, city: false } })
console.log((await sallyport.provenance.keys()).keys.length)
await sallyport.close()
`

t.test('the threads of the ledger start in a process whose program came by --eval', (t) => {
  const args = ['--input-type=module', '--eval', PROGRAM, t.testdir()]
  const said = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: 'pipe' })
  t.equal(said, '1\n')
  t.end()
})
