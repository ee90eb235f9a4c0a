import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { typeOfSystem } from '../src/asn/types.ts'
import type { AsType } from '../src/vocabulary.ts'

const REPOSITORY = join(import.meta.dirname, '../../../..')
const LABELS = join(process.env['SALLYPORT_SHARED_DATA'] ?? join(REPOSITORY, '../shared/data'), 'asn-types')
const skip = existsSync(LABELS) ? false : 'the labelled systems are not here'

/** Fields of a CSV without line breaks inside quotes, header left out. */
function readRows(file: string): readonly (readonly string[])[] {
  return readFileSync(join(LABELS, file), 'utf8')
    .split('\n')
    .slice(1)
    .filter((line) => line !== '')
    .map((line) => [...line.matchAll(/(?:^|,)(?:"([^"]*)"|([^,]*))/g)].map((field) => field[1] ?? field[2] ?? ''))
}

interface Pair {
  readonly label: string
  readonly found: AsType
}

function measure(pairs: readonly Pair[], type: string) {
  const both = pairs.filter(({ label, found }) => label === type && found === type).length
  const found = pairs.filter((pair) => pair.found === type).length
  const labelled = pairs.filter(({ label }) => label === type).length
  return { precision: both / found, recall: both / labelled, f1: (2 * both) / (found + labelled) }
}

t.test('systems labelled by hand: all types found, education and government rarely wrong', { skip }, async (t) => {
  const pairs = readRows('curated.csv').map(([asn = '', label = '', name = '']) => ({
    label,
    found: typeOfSystem(Number(asn), name).type,
  }))
  const labels = [...new Set(pairs.map(({ label }) => label))]
  const macro = labels.reduce((sum, label) => sum + measure(pairs, label).f1, 0) / labels.length
  t.ok(pairs.length > 100)
  t.ok(macro >= 0.85, `macro-F1 ${macro.toFixed(3)}`)
  for (const label of ['education', 'government']) {
    const { precision } = measure(pairs, label)
    t.ok(precision >= 0.9, `${label}: precision ${precision.toFixed(3)}`)
  }
})

t.test('systems as networks describe themselves: names alone find most, with few errors', { skip }, async (t) => {
  const pairs = readRows('oxl-asn-kinds.csv')
    .map(([asn = '', name = '', label = '']) => ({ label, found: typeOfSystem(Number(asn), name).type }))
    .filter(({ label }) => ['isp', 'hosting', 'education'].includes(label))
  const floors = { isp: [0.9, 0.8], hosting: [0.9, 0.55], education: [0.95, 0.9] } as const
  t.ok(pairs.length > 1000)
  for (const [label, [precision, recall]] of Object.entries(floors)) {
    const measured = measure(pairs, label)
    t.ok(measured.precision >= precision, `${label}: precision ${measured.precision.toFixed(3)}`)
    t.ok(measured.recall >= recall, `${label}: recall ${measured.recall.toFixed(3)}`)
  }
})
