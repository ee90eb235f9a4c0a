import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import t from 'tap'
import { compileNameRules } from '../src/asn/name-rules.ts'
import { typeOfSystem } from '../src/asn/types.ts'
import { AS_TYPES } from '../src/vocabulary.ts'

/** A number that no operator row can have: of the private use range. */
const NOBODY = 4_200_000_000

const typed = (name: string) => typeOfSystem(NOBODY, name).type

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
  t.same(typeOfSystem(NOBODY, 'Kent Cable Telecom'), {
    type: 'isp',
    networkClass: 'residential_clean',
    brand: '',
    basis: 'name',
  })
  t.same(typeOfSystem(NOBODY, 'Foo Bar Baz'), { type: 'unknown', networkClass: 'unknown', brand: '', basis: 'none' })
  t.match(typeOfSystem(NOBODY, 'First Republic Bank'), { type: 'unknown', basis: 'name' })
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
})

t.test('the first rule with a fitting phrase and no veto speaks', async (t) => {
  const rule = (type: 'isp' | 'hosting', words: readonly string[], unless: readonly string[] = []) =>
    ({ type, note: '', weak: false, words, unless }) as const
  const find = compileNameRules([rule('hosting', ['data center', '*host'], ['ghost']), rule('isp', ['net*', 'data'])])
  t.equal(find('ACME Data Center')?.type, 'hosting')
  t.equal(find('ACME Center Data')?.type, 'isp', 'tokens in another order are not the phrase')
  t.equal(find('ACME Data')?.type, 'isp', 'a phrase that the name is too short for')
  t.equal(find('Wishhost Networks')?.type, 'hosting')
  t.equal(find('Ghost Netz')?.type, 'isp', 'a veto leaves the name to the next rule')
  t.equal(find('Planet'), undefined, 'a start is not an end')
  t.throws(() => compileNameRules([rule('isp', ['ab*'])]), RangeError, 'a stem that short would fit everything')
  t.throws(() => compileNameRules([rule('isp', ['*'])]), RangeError)
})

t.test('every phrase in the file can be met by a folded name, once in its rule', async (t) => {
  for (const { type, words, unless, note } of ORGANISATION_RULES) {
    t.ok(AS_TYPES.includes(type) && note !== '' && words.length > 0)
    for (const list of [words, unless]) {
      t.equal(new Set(list).size, list.length, 'no phrase twice')
      const odd = list.filter((phrase) => !phrase.split(' ').every((word) => /^(\*?[a-z0-9]+|[a-z0-9]+\*)$/.test(word)))
      t.same(odd, [])
    }
  }
})

t.test('a hostile name costs no more than its length', async (t) => {
  t.equal(typed('telecom '.repeat(20_000)), 'isp')
  t.equal(typed('a'.repeat(200_000)), 'unknown')
})
