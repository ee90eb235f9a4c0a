import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../workspaces.ts'
import { documents } from './fences.ts'
import { countWords, isForCustomers } from './words.ts'

/* The command `npm run words` prints how many words each document has, the longest first, and the sums. */
const rows = documents().map((path) => ({ path, words: countWords(readFileSync(join(ROOT, path), 'utf8')) }))
rows.sort((one, other) => other.words - one.words)
const sum = (chosen: typeof rows) => chosen.reduce((total, { words }) => total + words, 0)
for (const { path, words } of rows) process.stdout.write(`${words} ${path}\n`)
const customers = sum(rows.filter(({ path }) => isForCustomers(path)))
process.stdout.write(`${customers} for customers\n${sum(rows)} in all\n`)
