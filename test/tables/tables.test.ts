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
const LONGEST_LINE = 300

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')

t.test('every table is as its schema is now', async (t) => {
  for (const [name, { file, text }] of Object.entries(TABLES)) {
    t.equal(tablesIn(read(file)).get(name), text(), `${name}: npm run tables`)
  }
})

t.test('every table of a document has a schema', async (t) => {
  const found = documents().flatMap((file) => [...tablesIn(read(file)).keys()].map((name) => `${name} in ${file}`))
  t.same(
    found.toSorted(),
    Object.entries(TABLES)
      .map(([name, { file }]) => `${name} in ${file}`)
      .toSorted(),
  )
})

t.test('no line of a table is too long to be read', async (t) => {
  const long = Object.entries(TABLES).flatMap(([name, { text }]) =>
    text()
      .split('\n')
      .filter((line) => line.length > LONGEST_LINE)
      .map((line) => `${name}: ${line.length}: ${line}`),
  )
  t.same(long, [])
})

t.test('a table that is out of date is seen, and written', async (t) => {
  const before = 'a\n<!-- table: x, written by npm run tables -->\n\nold\n\n<!-- end of table -->\nb'
  t.same([...tablesIn(before)], [['x', 'old']])
  t.equal(
    withTables(before, () => 'new'),
    before.replace('old', 'new'),
  )
  t.throws(() => tablesIn('<!-- table: x, written by npm run tables -->\n'), /no end/)
})

/** Names of the incomplete rows. */
function lacking<Row>(rows: readonly (readonly [name: string, row: Row])[], whole: (row: Row) => boolean) {
  return rows.filter(([, row]) => !whole(row)).map(([name]) => name)
}

const isNumber = (values: string): boolean => /^(?:time|number|-?\d+(?:\.\d+)? to )/.test(values)

t.test('every key has a description, an example, a default and, of a number, a unit', async (t) => {
  const rows = keyTable()
  t.ok(rows.length > 150)
  t.same(
    lacking(
      rows.map((row) => [row.key, row] as const),
      ({ description, example, initial, values }) =>
        description.length > 2 &&
        ![example, initial].includes(undefined) &&
        (!isNumber(values) || values.startsWith('time') || values.endsWith(')')),
    ),
    [],
  )
})

t.test('every variable has a description and an example', async (t) => {
  const rows = variableTable().map((row) => [row.name, row] as const)
  t.ok(rows.length > 80)
  t.same(
    lacking(rows, ({ description, example }) => description !== '' && !['', 'undefined'].includes(example)),
    [],
  )
})

t.test('every field of the log has an example, and of a number a unit', async (t) => {
  t.same(
    lacking(
      Object.entries(FIELDS),
      (row) => (typeof row.example === 'number') === 'unit' in row && row.example.toString() !== '',
    ),
    [],
  )
})

t.test('the example of a metric asks about that metric, with labels that it has', async (t) => {
  const rows: readonly { name: string; labels: readonly string[]; unit: string; example: string }[] =
    Object.values(METRICS)
  t.same(
    lacking(
      rows.map((row) => [row.name, row] as const),
      ({ name, labels, unit, example }) => {
        const asked = [...example.matchAll(/(?:by \(|\{)(\w+)/g)].map(([, label = '']) => label)
        const named = new RegExp(`\\b${name}(?:_bucket)?\\b`).test(example)
        return named && unit !== '' && asked.every((label) => label === 'le' || labels.includes(label))
      },
    ),
    [],
  )
})

t.test('every command has an example, and every option a description', async (t) => {
  const rows = commandTable()
  t.ok(rows.length > 30)
  t.same(
    lacking(
      rows.map((row) => [row.usage, row] as const),
      ({ description, example, options }) =>
        description !== '' && !example.includes('undefined') && options.every((option) => option.description !== ''),
    ),
    [],
  )
  const unknown = rows.flatMap(({ usage, example, options }) => {
    const flags = options.flatMap((option) => option.flags.split(/[ ,]+/).filter((word) => word.startsWith('-')))
    const given = example.split(' ').filter((word) => /^--?[a-z]/.test(word))
    return given.filter((flag) => !flags.includes(flag)).map((flag) => `${usage}: ${flag}`)
  })
  t.same(unknown, [])
})

t.test('every route that takes something has an example', async (t) => {
  t.same(
    lacking(
      ROUTES.map((row) => [row.path, row] as const),
      ({ params, body, example }) => (params === undefined && body === undefined) || example !== undefined,
    ),
    [],
  )
})
