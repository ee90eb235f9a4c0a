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

t.test('results are of benches that exist, and of full runs', async (t) => {
  for (const [name, { machine }] of readResults(RESULTS)) {
    t.ok(name in BENCHES, name)
    t.equal(machine.size, 'full', name)
  }
})

t.test('a place without results and results without a place are faults', async (t) => {
  const all = new Map([...readResults(RESULTS)].slice(0, 1))
  t.throws(() => filled('<!-- results of none -->\n<!-- end of none -->', all), { message: /"none"/ })
  t.throws(() => filled('no place', all), { message: /no place/ })
})
