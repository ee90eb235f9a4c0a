import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ROOT } from '../workspaces.ts'
import { publicNames } from './surface.ts'

/* Customers' imports are a promise: a name that comes or goes is changed in test/house/surface.txt, on purpose. */
t.test('what customers import has the names of surface.txt (node test/dist/house/write-surface.js)', async (t) => {
  const names = publicNames()
  t.match(names, /^@sallyport\/ledger\/verify$/m)
  t.match(names, /^ {2}type Decision$/m)
  t.match(names, /^ {2}SallyportError$/m)
  t.equal(names, readFileSync(join(ROOT, 'test/house/surface.txt'), 'utf8'))
})
