import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIELDS, METRICS, ROUTES } from '@sallyport/engine'
import { commandTable } from 'sallyport/cli'
import t from 'tap'
import { documents } from '../documents/fences.ts'
import { ROOT } from '../workspaces.ts'
import { keyTable } from './key-table.ts'
import { tablesIn, withTables } from './markdown.ts'
import { TABLES } from './tables.ts'
import { variableTable } from './variable-table.ts'

/* The tables of the documents are what the schemas say: only `npm run tables` writes them. */
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

t.test('every table is as its schema is now', async (t) => {
  for (const [name, { file, text }] of Object.entries(TABLES)) {
    t.equal(tablesIn(read(file)).get(name), text(), `${name}: npm run tables`)
  }
})

t.test('every table of a document has a schema', async (t) => {
  const found = documents().flatMap((file) => [...tablesIn(read(file)).keys()].map((name) => `${name} in ${file}`))
  const known = Object.entries(TABLES).map(([name, { file }]) => `${name} in ${file}`)
  t.same(found.toSorted(), known.toSorted())
})

t.test('a table that is out of date is seen, and written', async (t) => {
  const before = 'a\n<!-- table: x, written by npm run tables -->\n\nold\n\n<!-- end of table -->\nb'
  t.same([...tablesIn(before)], [['x', 'old']])
  const after = withTables(before, () => 'new')
  t.equal(after, before.replace('old', 'new'))
  t.throws(() => tablesIn('<!-- table: x, written by npm run tables -->\n'), /no end/)
})

function listLacking<Row>(rows: readonly Row[], name: keyof Row, isWhole: (row: Row) => boolean) {
  return rows.filter((row) => !isWhole(row)).map((row) => row[name])
}

const isNumber = (values: string): boolean => /^(?:time|number|-?\d+(?:\.\d+)? to )/.test(values)
const flagsIn = (options: readonly { readonly flags: string }[]) => options.flatMap(({ flags }) => flags.split(/[ ,]+/))

t.test('every key has a description, an example, a default and, of a number, a unit', async (t) => {
  const rows = keyTable()
  t.ok(rows.length > 150)
  const lacking = listLacking(rows, 'key', ({ description, example, initial, values }) => {
    const hasUnit = !isNumber(values) || values.startsWith('time') || values.endsWith(')')
    return description.length > 2 && ![example, initial].includes(undefined) && hasUnit
  })
  t.same(lacking, [])
})

t.test('every variable, field, command and route has a description and an example', async (t) => {
  const [variables, commands, fields] = [variableTable(), commandTable(), Object.entries(FIELDS)]
  t.ok(variables.length > 80 && commands.length > 30)
  const hasExample = ({ description, example }: { readonly description: string; readonly example: string }) =>
    description !== '' && !/^$|undefined/.test(example)
  t.same(listLacking(variables, 'name', hasExample), [])
  t.same(listLacking(commands, 'usage', hasExample), [])
  const isField = ([, row]: (typeof fields)[number]) =>
    (typeof row.example === 'number') === 'unit' in row && row.example.toString() !== ''
  t.same(listLacking(fields, 0, isField), [], 'and a field that is a number has a unit')
  const isKnown = ({ example, options }: (typeof commands)[number]) =>
    example.split(' ').every((word) => !/^--?[a-z]/.test(word) || flagsIn(options).includes(word))
  t.same(listLacking(commands, 'usage', isKnown), [], 'and examples use the options of their command')
  t.ok(commands.every(({ options }) => options.every(({ description }) => description !== '')))
  const takers = ROUTES.filter(({ params, body }) => params !== undefined || body !== undefined)
  const untold = takers.filter(({ example }) => example === undefined)
  t.same(untold, [])
})

t.test('the example of a metric asks about that metric, with labels that it has', async (t) => {
  const rows: readonly { name: string; labels: readonly string[]; unit: string; example: string }[] =
    Object.values(METRICS)
  const lacking = listLacking(rows, 'name', ({ name, labels, unit, example }) => {
    const asked = [...example.matchAll(/(?:by \(|\{)(\w+)/g)].map(([, label = '']) => label)
    const isNamed = new RegExp(`\\b${name}(?:_bucket)?\\b`).test(example)
    return isNamed && unit !== '' && asked.every((label) => label === 'le' || labels.includes(label))
  })
  t.same(lacking, [])
})
