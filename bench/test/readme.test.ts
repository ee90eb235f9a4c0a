import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BENCHES } from '../benches.ts'
import { BENCH, chooseFolder, RESULTS, readResults } from '../report/files.ts'
import { isBusy } from '../report/machine.ts'
import { filled, readDocument } from '../report/readme.ts'

const MAX_LINES = 300

t.test('the page of figures is what the results make of it: npm run bench -- readme', async (t) => {
  const { kept, made } = readDocument()
  t.equal(kept, made)
  const lines = kept.trimEnd().split('\n').length
  t.ok(lines <= MAX_LINES, `${lines} lines`)
  for (const [, path = ''] of kept.matchAll(/\]\((results[^)#]*)\)/g)) t.ok(existsSync(join(BENCH, path)), path)
})

t.test('every bench has a place on the page, and results are of full runs of a bench on a free machine', async (t) => {
  const { kept } = readDocument()
  for (const name of Object.keys(BENCHES)) t.ok(kept.includes(`<!-- results of ${name} -->`), name)
  for (const [name, { machine }] of readResults(RESULTS)) {
    t.ok(name in BENCHES, name)
    t.equal(machine.size, 'full', name)
    t.equal(machine.busy, undefined, name)
  }
})

t.test('figures of a busy machine, and of a quick run, do not replace the kept ones', async (t) => {
  t.same([isBusy(2, 2), isBusy(2.1, 2)], [false, true])
  t.equal(chooseFolder({ size: 'full' }), RESULTS)
  t.not(chooseFolder({ size: 'full', busy: true }), RESULTS)
  t.not(chooseFolder({ size: 'quick' }), RESULTS)
})

t.test('results without a place are a fault, and a place without results says so', async (t) => {
  const all = new Map([...readResults(RESULTS)].slice(0, 1))
  t.throws(() => filled('no place', all), { message: /no place/ })
  const missing = filled('<!-- results of none -->\n\n## next', new Map())
  t.match(missing, /Not measured yet: `npm run bench -- none`\.\n\n## next$/)
})
