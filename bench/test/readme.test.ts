import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BENCHES } from '../benches.ts'
import { BENCH, RESULTS, readResults } from '../report/files.ts'
import { filled, readDocuments } from '../report/readme.ts'

t.test('the page of figures and its charts are what the results make of them: npm run bench -- readme', async (t) => {
  const { kept, made } = readDocuments()
  t.equal(kept.text, made.text)
  t.strictSame(kept.charts, made.charts)
  for (const [, path = ''] of kept.text.matchAll(/\]\(((?:charts|results)[^)#]*)\)/g))
    t.ok(existsSync(join(BENCH, path)), path)
})

t.test('every bench has a place on the page, and results are of full runs of a bench', async (t) => {
  const { kept } = readDocuments()
  for (const name of Object.keys(BENCHES)) t.ok(kept.text.includes(`<!-- results of ${name} -->`), name)
  for (const [name, { machine }] of readResults(RESULTS)) {
    t.ok(name in BENCHES, name)
    t.equal(machine.size, 'full', name)
  }
})

t.test('results without a place are a fault, and a place without results says so', async (t) => {
  const all = new Map([...readResults(RESULTS)].slice(0, 1))
  t.throws(() => filled('no place', all), { message: /no place/ })
  t.match(
    filled('<!-- results of none -->\n<!-- end of none -->', new Map()),
    /Not measured yet: `npm run bench -- none`/,
  )
})
