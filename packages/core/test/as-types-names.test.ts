import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compileNameRules } from '../src/asn/name-rules.ts'
import { AS_TYPES, type AsType, findSystemType } from '../src/index.ts'
import { readShared, skipWithout } from './support.ts'

/** A number that no operator row can have: of the private use range. */
const NOBODY = 4_200_000_000

const typed = (name: string) => findSystemType(NOBODY, name).type

/** Rows of organisation-names.tsv: the type, and a name that says it or only seems to say another one. */
const ROWS = readFileSync(join(import.meta.dirname, '../../test/organisation-names.tsv'), 'utf8')
  .split('\n')
  .map((line) => line.split('\t'))

for (const type of AS_TYPES) {
  t.test(`names that say ${type}, and names that only seem to say something else`, async (t) => {
    for (const [expected, name = ''] of ROWS) if (expected === type) t.equal(typed(name), type, name)
  })
}

t.test('a name says what it rests on, and a type by name has its default class and no brand', async (t) => {
  const cable = { type: 'isp', networkClass: 'residential_clean', brand: '', basis: 'name' } as const
  t.same(findSystemType(NOBODY, 'Kent Cable Telecom'), cable)
  t.same(findSystemType(NOBODY, 'Foo Bar Baz'), { type: 'unknown', networkClass: 'unknown', brand: '', basis: 'none' })
  t.match(findSystemType(NOBODY, 'First Republic Bank'), { type: 'unknown', basis: 'name' })
})

t.test('names are folded to tokens: case, accents and letters that have no accent to lose', async (t) => {
  const saysIt = (name: string, phrase: string) =>
    compileNameRules([{ type: 'isp', note: '', weak: false, words: [phrase], unless: [] }])(name) !== undefined
  t.ok(saysIt('Système d’Information "ÉCOLE" Łódź/Straße S.A.', 'systeme d information ecole lodz strasse s a'))
  t.ok(saysIt('İstanbul Işık', 'istanbul isik'))
  t.ok(saysIt('İSTANBUL', 'istan*'))
  t.ok(saysIt('-Ростелеком-', '*телеком'), 'letters of any script are letters')
  t.notOk(saysIt('Ростелеком', 'телеком'))
  t.notOk(saysIt('Mobile', 'mobil'), 'a token is not the start of another')
  t.ok(saysIt('IT', 'it'), 'short ones are found')
  t.notOk(saysIt('ITA', 'it'))
  t.notOk(saysIt(' -- ', 's'))
  t.equal(typed('telecom '.repeat(20_000)), 'isp', 'a hostile one costs no more than its length')
})

const skip = skipWithout('asn-types')

/** Fields of a CSV without line breaks inside quotes, header left out. */
function readRows(file: string): readonly (readonly string[])[] {
  return readShared(`asn-types/${file}`)
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
    found: findSystemType(Number(asn), name).type,
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
    .map(([asn = '', name = '', label = '']) => ({ label, found: findSystemType(Number(asn), name).type }))
    .filter(({ label }) => ['isp', 'hosting', 'education'].includes(label))
  const floors = { isp: [0.9, 0.8], hosting: [0.9, 0.55], education: [0.95, 0.9] } as const
  t.ok(pairs.length > 1000)
  for (const [label, [precision, recall]] of Object.entries(floors)) {
    const measured = measure(pairs, label)
    t.ok(measured.precision >= precision, `${label}: precision ${measured.precision.toFixed(3)}`)
    t.ok(measured.recall >= recall, `${label}: recall ${measured.recall.toFixed(3)}`)
  }
})
