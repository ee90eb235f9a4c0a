import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { withTables } from './markdown.ts'
import { TABLES } from './tables.ts'

/* After a change of a schema: writes the tables of the documents again. */
for (const file of new Set(Object.values(TABLES).map((row) => row.file))) {
  const path = join(ROOT, file)
  const text = withTables(readFileSync(path, 'utf8'), (name) => TABLES[name]?.text())
  writeFileSync(path, text)
}
