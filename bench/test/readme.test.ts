import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { BENCHES } from '../benches.ts'
import { BENCH, folderOf, RESULTS, readResults } from '../report/files.ts'
import { isBusy } from '../report/machine.ts'
import { filled, readDocument } from '../report/readme.ts'
import { resultsText } from '../report/text.ts'

const MAX_LINES = 438

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
  t.equal(isBusy(2, 2), false)
  t.equal(isBusy(2.1, 2), true)
  t.equal(folderOf({ size: 'full' }), RESULTS)
  t.not(folderOf({ size: 'full', busy: true }), RESULTS)
  t.not(folderOf({ size: 'quick' }), RESULTS)
})

t.test('results without a place are a fault, and a place without results says so', async (t) => {
  const all = new Map([...readResults(RESULTS)].slice(0, 1))
  t.throws(() => filled('no place', all), { message: /no place/ })
  t.match(
    filled('<!-- results of none -->\n\n## next', new Map()),
    /Not measured yet: `npm run bench -- none`\.\n\n## next$/,
  )
})

t.test('a long table of the page shows what misses its goal, and the rest as one row', async (t) => {
  const figures = Array.from({ length: 20 }, (_, at) => ({
    case: `case ${at}`,
    what: 'growth',
    unit: 'times',
    value: { median: at },
    goal: { atMost: 17 },
  }))
  const [machine] = [...readResults(RESULTS).values()].map((results) => results.machine)
  const text = resultsText({ machine, tables: [{ title: 'Words', figures }], skipped: [] } as never)
  t.match(text, /\| case 18 \| 18 \(≤17 missed\) \|\n\| case 19 .*\n\| 18 others \| 9 \(≤17\) \|\n\n/)
  t.notMatch(text, /case 17/)
})
