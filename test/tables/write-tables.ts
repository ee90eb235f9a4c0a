import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withTables } from './tables/markdown.ts'
import { TABLES } from './tables/tables.ts'
import { ROOT } from './workspaces.ts'

/* After a change of a schema: writes the tables of the documents again. */
for (const file of new Set(Object.values(TABLES).map((row) => row.file))) {
  const path = join(ROOT, file)
  writeFileSync(
    path,
    withTables(readFileSync(path, 'utf8'), (name) => TABLES[name]?.text()),
  )
}
