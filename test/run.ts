import { readdirSync } from 'node:fs'

// One process for the whole workspace: nothing here shares state, so nothing needs a process of its own.
const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.test.js'),
)
for (const file of files.sort()) await import(`./${file}`)
